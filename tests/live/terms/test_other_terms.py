"""Resuming a campaign on other terms is refused, and the sentence names the difference."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from support.agents import AgentFactory, assert_sentence, observable_state

import almoner as al

EVENING = al.ClosingTime(at=datetime(2040, 1, 1, tzinfo=UTC), arrivals=500)


def test_terms_may_be_written_in_other_words(factory: AgentFactory) -> None:
    factory.create(policy="ucb-rounded", actions={"mail": 1, "coupon": al.Action(cost="5.00")})
    factory.open(
        policy=al.ucb_rounded(),
        actions={"mail": al.Action(cost=1.0, reserve=1), "coupon": 5},
        budget="60",
        unit=1e-6,
        horizon=40.0,
    )
    assert factory.open(actions={"coupon": 5.0, "mail": 1}).terms.actions == ("mail", "coupon")


def test_single_amounts_by_context_are_compared(memory: AgentFactory) -> None:
    prices = {"new": 1.0, "returning": 2.0}
    memory.create(actions={"mail": prices}, default_rewards={"new": 0.1, "returning": 0.2})
    with pytest.raises(al.DifferentTerms, match=r"actions\['mail'\].cost\['returning'\]=2, got"):
        memory.open(actions={"mail": {**prices, "returning": 3.0}})
    with pytest.raises(al.DifferentTerms, match=r"default_rewards\['new'\]=0.1, got"):
        memory.open(default_rewards={"new": 0.3, "returning": 0.2})


DIFFERENCES: dict[str, tuple[Any, str, str]] = {
    "contexts": (["new"], "contexts=('new', 'returning')", "contexts=('new',)"),
    "contexts in another order": (["returning", "new"], "contexts=('new', 'r", "contexts=('re"),
    "actions": ({"mail": 1.0}, "actions=['mail', 'coupon']", "actions=['mail']"),
    "actions with another cost": (
        {"mail": 1.0, "coupon": 4.0},
        "actions['coupon'].cost=5,",
        "actions['coupon'].cost=4;",
    ),
    "actions with another reserve": (
        {"mail": 1.0, "coupon": al.Action(cost=5.0, reserve=6.0)},
        "actions['coupon'].reserve=5,",
        "actions['coupon'].reserve=6;",
    ),
    "actions with a cost by context": (
        {"mail": {"new": 1, "returning": 2}, "coupon": 5},
        "actions['mail'].cost=1,",
        "actions['mail'].cost={'new': 1, 'returning': 2};",
    ),
    "horizon": (41, "horizon=40", "horizon=41"),
    "horizon as a closing time": (EVENING, "horizon=40", "horizon=ClosingTime"),
    "budget": (60.000001, "budget=60", "budget=60.000001"),
    "policy": (
        "greedy",
        "policy=thrifty",
        "policy=greedy",
    ),
    "unit": (0.01, "unit=0.000001", "unit=0.01"),
    "unit in which nothing can be said": (7, "unit=0.000001", "unit=7"),
    "default_rewards": ("learned", "default_rewards=None", "default_rewards='learned'"),
    "default_rewards by context": (
        {"new": 0.1, "returning": 0},
        "default_rewards=None,",
        "default_rewards={'new': 0.1, 'returning': 0.0};",
    ),
    "new_contexts": (True, "new_contexts=False", "new_contexts=True"),
    "seed": (2, "seed=1", "seed=2"),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_other_terms_are_refused_by_name(case: str, factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new")
    before = observable_state(agent)
    value, was, got = DIFFERENCES[case]
    with pytest.raises(al.DifferentTerms) as raised:
        factory.open(**{case.split(maxsplit=1)[0]: value})
    assert_sentence(raised.value)
    for part in (f"campaign {factory.name!r} was opened with {was}", f"got {got}"):
        assert part in str(raised.value)
    assert observable_state(factory.open()) == before


def test_a_difference_is_named_where_the_new_term_contradicts_the_others(
    memory: AgentFactory,
) -> None:
    by_context = {"mail": {"new": 1.0, "returning": 2.0}}
    explores = al.epsilon_first_alp(test="usable", contexts=al.EmpiricalContexts())
    memory.create(actions=by_context, policy=explores)
    for term, value in (("new_contexts", True), ("horizon", EVENING), ("contexts", ["new", "x"])):
        with pytest.raises(al.DifferentTerms, match=f"was opened with {term}="):
            memory.open(**{term: value})


def test_a_closing_time_is_resumed_with_the_time_the_campaign_was_created(
    factory: AgentFactory,
) -> None:
    first = factory.create(horizon=EVENING, clock=lambda: 1.8e9)
    assert first.terms.horizon == EVENING.opened(datetime.fromtimestamp(1.8e9, UTC))
    assert factory.create(horizon=EVENING, clock=lambda: 1.9e9).terms == first.terms
    later = al.ClosingTime(at=EVENING.at, arrivals=500, opens=datetime.fromtimestamp(1.9e9, UTC))
    with pytest.raises(al.DifferentTerms, match="opened with horizon=ClosingTime"):
        factory.open(horizon=later)


@pytest.mark.parametrize("policy", ["thrifty", al.thrifty(), None], ids=["name", "policy", "none"])
def test_a_campaign_of_the_former_default_is_resumed_by_the_name_of_the_default(
    policy: Any, factory: AgentFactory
) -> None:
    """``thrifty`` was `wilson_eager` before it pooled contexts; a campaign goes on as it began."""
    first = factory.create(policy=al.wilson_eager())
    first.decide("new")
    again = factory.create(policy=policy)
    assert again.terms == first.terms
    assert again.report().policy == "wilson_eager"
    assert again.decide("new").id == 2
    assert observable_state(again) == observable_state(factory.open())


FLAT = {
    "rewards": {"kind": "InsuredWilson", "caution": 1.0},
    "contexts": {"kind": "EmpiricalContexts"},
    "allocation": {"kind": "EagerRounding"},
    "prior": {"kind": "Pooled"},
}
"""``thrifty`` as it was stored before its evidence was graded and its prior had to prove itself."""


@pytest.mark.parametrize("policy", ["thrifty", al.thrifty(), None], ids=["name", "policy", "none"])
def test_a_campaign_with_flat_evidence_goes_on_with_it(policy: Any, factory: AgentFactory) -> None:
    stored = al.Policy.from_dict(FLAT)
    first = factory.create(policy=stored)
    first.decide("new")
    again = factory.create(policy=policy)
    assert again.terms == first.terms
    assert again.terms.policy == stored
    assert again.decide("new").id == 2


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        (al.thrifty(), "wilson-eager"),
        (al.wilson_eager(), al.thrifty(caution=0.5)),
        (al.Policy.from_dict(FLAT), al.thrifty(caution=0.5)),
        (al.thrifty(), al.Policy.from_dict(FLAT)),
        (al.wilson_eager(), "greedy"),
        (al.greedy(), "thrifty"),
    ],
)
def test_no_other_policies_are_taken_for_each_other(
    stored: al.Policy, given: Any, memory: AgentFactory
) -> None:
    memory.create(policy=stored)
    with pytest.raises(al.DifferentTerms, match="was opened with policy="):
        memory.open(policy=given)
