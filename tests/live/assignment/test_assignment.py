"""Hold-out and exploration: what is decided, and the probabilities that are logged."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import AgentFactory

import almoner as al
from almoner.errors import BrokenLedger
from almoner.kernels.draws import round_key
from almoner.live.assignment.assignment import probabilities
from almoner.live.assignment.decide import decide
from almoner.live.audit import audit
from almoner.live.audit.auditor import Auditor
from almoner.live.export import decisions
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms
from almoner.live.transactions.new_events import follow_up
from almoner.live.transactions.transaction import Decide
from almoner.store.events import DECIDED, Event, EventRow

EQUAL: dict[str, Any] = {"contexts": ["new", "old"], "actions": {"a": 2, "b": 2, "c": 2}}
UNEQUAL: dict[str, Any] = {
    "contexts": ["new", "old"],
    "actions": {"a": 1, "b": al.Action(cost=2, reserve=3), "c": 2},
    "default_rewards": "learned",
}
SHARES = [0.6, 0.4]
POLICIES = {
    "thrifty": al.thrifty(),
    "wilson_eager": al.wilson_eager(),
    "thompson_rounded": al.thompson_rounded(),
    "kl_ucb_rounded": al.kl_ucb_rounded(),
    "ucb_alp": al.ucb_alp(context_probs=SHARES),
    "epsilon_first_alp": al.epsilon_first_alp(contexts=al.EmpiricalContexts()),
}


def test_probabilities_worked_by_hand() -> None:
    """h = 0.2, e = 0.3, three options: 0.8(0.7·0.5 + 0.1) = 0.36, 0.8·0.1 and 0.2 + 0.36."""
    values = probabilities([0.5, 0.0, 0.0], [True, True, False], holdout=0.2, explore=0.3)
    assert values == pytest.approx([0.56, 0.36, 0.08, 0.0])
    assert probabilities([1.0], [True], holdout=0.0, explore=0.0) == [0.0, 1.0]
    assert probabilities([0.0], [False], holdout=0.1, explore=0.5) == [1.0, 0.0]


@given(
    weights=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=5),
    skip=st.floats(0, 1),
    holdout=st.floats(0, 0.9),
    explore=st.floats(0, 1),
)
def test_probabilities_add_up_and_leave_out_no_option(
    weights: list[tuple[float, bool]], skip: float, holdout: float, explore: float
) -> None:
    total = skip + sum(weight for weight, fits in weights if fits) or 1.0
    spread = [weight / total if fits else 0.0 for weight, fits in weights]
    options = [fits for _, fits in weights]
    values = probabilities(spread, options, holdout=holdout, explore=explore)
    assert math.isclose(sum(values), 1.0, abs_tol=1e-9)
    least = (1 - holdout) * explore / (1 + sum(options))
    assert values[0] >= holdout + least - 1e-9
    for value, fits in zip(values[1:], options, strict=True):
        assert value >= least - 1e-12 if fits else value == 0


def started(policy: str, terms: dict[str, Any], **more: Any) -> Campaign:
    """A campaign with some rewards."""
    campaign = Campaign(
        make_terms(
            **terms, policy=POLICIES[policy], horizon=200, budget=150, seed=3, explore=0.1, **more
        )
    )
    rng = np.random.default_rng(2)
    for _ in range(40):
        context = ["new", "old"][int(rng.random() < 0.4)]
        (event,) = decide(campaign, [Decide(context)], now=0)
        if event.action is not None or terms is UNEQUAL:
            follow_up(campaign, "rewarded", event, now=0, reward=float(rng.random() < 0.3))
    return campaign


@pytest.mark.parametrize("terms", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_weighed_is_what_would_be_decided(policy: str, terms: dict[str, Any]) -> None:
    """The same action, reason, price and probability as without exploration, and all others."""
    campaign = started(policy, terms)
    table = campaign.to_dict()
    for context in ("new", "old"):
        for available in (None, ["a"], ["b", "c"], []):
            arrival, left = Decide(context, available), campaign.ledger.left
            choice, spread, options = campaign.policy.weigh(arrival, horizon=200, left=left)
            other = Campaign(campaign.terms)
            other.restore(table)
            (chosen,) = other.policy.choose([arrival], horizon=200, left=left)
            (action, reason), (probability, price) = choice
            assert tuple(chosen[0]) == (action, reason)
            assert chosen[1][0] == pytest.approx(probability, abs=1e-12)
            np.testing.assert_equal(chosen[1][1], price)
            assert sum(spread) <= 1 + 1e-9
            if action >= 0:
                assert spread[action] == pytest.approx(probability, abs=1e-12)
            assert all(fits or p == 0 for p, fits in zip(spread, options, strict=True))
            names = ["a", "b", "c"] if available is None else available
            assert [n for n, fits in zip("abc", options, strict=True) if fits] == names


@pytest.mark.parametrize("terms", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("policy", ["thrifty", "thompson_rounded", "ucb_alp", "epsilon_first_alp"])
@pytest.mark.slow
def test_actions_are_drawn_as_often_as_their_probabilities_say(
    policy: str, terms: dict[str, Any]
) -> None:
    """Over other streams; within 5 standard errors, for Thompson those of the redraws too."""
    campaign = started(policy, terms)
    live, draws = campaign.policy, 600
    for context in ("new", "old"):
        counts: Counter[int] = Counter()
        shares = np.zeros(3)
        stream = live._stream
        for number in range(draws):
            live._stream = np.uint64(round_key(np.uint64(99), number))
            choice, spread, _ = live.weigh(Decide(context), horizon=200, left=10**9)
            counts[choice[0][0]] += 1
            shares += np.array(spread) / draws
        live._stream = stream
        for action, share in enumerate(shares):
            error = 5 * math.sqrt(max(0.0, share * (1 - share)) / draws) + 1e-9
            assert counts[action] / draws == pytest.approx(share, abs=error)


def campaign_of(factory: AgentFactory, **more: Any) -> al.Agent:
    """A campaign of 600 arrivals with money for every action."""
    terms: dict[str, Any] = {"horizon": 700, "budget": 3_500, "holdout": 0.2, "explore": 0.3}
    agent = factory.create(**{**terms, **more})
    rng = np.random.default_rng(4)
    for _ in range(6):
        contexts = [["new", "returning"][int(rng.random() < 0.5)] for _ in range(100)]
        made = agent.decide_many(contexts)
        agent.reward_many({decision.id: float(rng.random() < 0.2) for decision in made})
    return agent


def test_arrivals_are_held_out_and_explored_in_the_shares_of_the_terms(
    factory: AgentFactory,
) -> None:
    agent = campaign_of(factory)
    report = agent.report()
    assert report.skips["holdout"] / 600 == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 600))
    # A skip is one of three options, of which 80 % · 30 % are drawn: 0.08.
    assert report.skips["explore"] / 600 == pytest.approx(0.08, abs=4 * math.sqrt(0.08 / 600))
    assert report.arrivals == 600
    assert audit(agent.store, factory.name).decisions == 600
    other = factory.open()
    assert other.look(lambda c: c.to_dict()) == agent.look(lambda c: c.to_dict())
    assert other.decide("new", key="x") == agent.decide("new", key="x")


def test_every_option_of_every_row_of_an_export_has_a_probability(factory: AgentFactory) -> None:
    agent = campaign_of(factory)
    for row in decisions(agent):
        shares = json.loads(row["probabilities"])
        assert math.isclose(sum(shares.values()), 1.0, abs_tol=1e-9)
        assert shares[row["action"]] == row["probability"]
        assert shares["skip"] >= 0.2 + 0.8 * 0.1 - 1e-9
        assert set(shares) == {"skip", "mail", "coupon"}
    plain = al.Agent.open(
        "memory:", name="plain", contexts=["new"], actions={"a": 1}, horizon=5, budget=5
    )
    plain.decide("new")
    assert [row["probabilities"] for row in decisions(plain)] == [None]


def test_the_means_of_inverse_probabilities_are_right(factory: AgentFactory) -> None:
    """Σ 1[action a]/P(a) estimates the number of arrivals that could get a, for each action."""
    agent = campaign_of(factory)
    rows = [*decisions(agent)]
    for action in ("skip", "mail", "coupon"):
        weights = [1 / row["probability"] for row in rows if row["action"] == action]
        inverse = [1 / json.loads(row["probabilities"])[action] for row in rows]
        error = 4 * math.sqrt(sum(weight - 1 for weight in inverse))
        assert sum(weights) == pytest.approx(600, abs=error)


def test_persons_who_are_held_out_stay_so(factory: AgentFactory) -> None:
    agent = factory.create(horizon=1_000, budget=1_000, holdout=0.5)
    reasons: dict[str, set[bool]] = {}
    for number in range(200):
        person = f"c-{number % 40}"
        held = agent.decide("new", person=person).reason == "holdout"
        reasons.setdefault(person, set()).add(held)
    assert {len(values) for values in reasons.values()} == {1}
    share = sum(values == {True} for values in reasons.values()) / 40
    assert share == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / 40))
    held_before = {person for person, values in reasons.items() if values == {True}}
    agent.forget(next(iter(held_before)))
    other = factory.open()
    assert {other.decide("new", person=person).reason for person in held_before} == {"holdout"}


def test_beyond_the_horizon_and_without_money_nothing_is_drawn() -> None:
    agent = al.Agent.open(
        "memory:",
        name="short",
        contexts=["new"],
        actions={"a": 1},
        horizon=30,
        budget=5,
        explore=1,
        holdout=0.3,
        seed=5,
    )
    reasons = Counter(decision.reason for decision in agent.decide_many(["new"] * 40))
    assert reasons["horizon"] == 10
    assert reasons[None] == 5
    assert reasons["budget"] > 0
    assert agent.ledger.left == 0
    last = [*agent.events()][-1]
    assert (last.reason, last.probability) == ("horizon", 1.0)
    assert agent.decide("new", available=[]).reason == "horizon"
    audit(agent.store, "short")


@given(st.data())
@pytest.mark.slow
def test_exploration_never_overspends(data: st.DataObject) -> None:
    agent = al.Agent.open(
        "memory:",
        name="a",
        contexts=["new"],
        actions={"a": al.Action(cost=1, reserve=3), "b": 2},
        horizon=60,
        budget=data.draw(st.integers(0, 12)),
        explore=data.draw(st.sampled_from([0.1, 1.0])),
        holdout=data.draw(st.sampled_from([0.0, 0.4])),
        seed=data.draw(st.integers(0, 1_000)),
    )
    for _ in range(data.draw(st.integers(1, 25))):
        decision = agent.decide("new", available=data.draw(st.sampled_from([None, ["a"], []])))
        if decision.action and data.draw(st.booleans()):
            agent.settle(decision.id, cost=data.draw(st.sampled_from([0, 1, 2, 5])))
        ledger = agent.ledger
        assert ledger.left >= 0
        assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
    audit(agent.store, "a")


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("holdout", 1),
        ("holdout", -0.1),
        ("holdout", 1e-10),
        ("explore", 5e-324),
        ("holdout", "10%"),
        ("holdout", True),
        ("holdout", math.nan),
        ("explore", 1.1),
        ("explore", -1),
        ("explore", "much"),
    ],
)
def test_a_bad_share_is_refused(term: str, value: Any) -> None:
    with pytest.raises(al.InvalidTerms, match=f"{term} must be") as raised:
        make_terms(**EQUAL, horizon=5, budget=5, **{term: value})
    assert "such as 0.1" in str(raised.value)


def test_a_campaign_is_resumed_with_its_shares(factory: AgentFactory) -> None:
    factory.create(holdout=0.1, explore=0.02)
    factory.open(holdout=0.1)
    with pytest.raises(al.DifferentTerms, match=r"explore=0.02, got explore=0.5"):
        factory.open(explore=0.5)


def tampered(**changes: Any) -> tuple[list[EventRow], Terms]:
    """A log of three decisions and a reward, one event of it changed, and the terms."""
    agent = al.Agent.open("memory:", name="a", horizon=9, budget=9, explore=0.5, seed=1, **EQUAL)
    agent.decide_many(["new"] * 3)
    agent.reward(1, 1.0)
    rows = [*agent.events()]
    number = changes.pop("number", 2)
    changed = [row._replace(**changes) if row.seq == number else row for row in rows]
    return [*map(tuple, changed)], agent.terms


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"detail": None}, "do not add up to 1|cannot be booked"),
        ({"detail": '{"probabilities":{"skip":0.5,"a":0.4}}'}, "do not add up to 1"),
        ({"detail": '{"probabilities":{"skip":0.7,"a":0.1,"b":0.1,"c":0.1}}'}, "and lists"),
        ({"number": 4, "probability": 0.9}, "has the reason .* and the probability 0.9"),
        ({"number": 4, "reason": "holdout"}, "has the reason 'holdout'"),
    ],
)
def test_an_audit_finds_probabilities_that_cannot_be(changes: dict[str, Any], what: str) -> None:
    rows, terms = tampered(**changes)
    with pytest.raises(BrokenLedger, match=what):
        Auditor("a", terms).check([(*row, None) for row in rows])


def test_an_audit_finds_an_option_left_out_and_a_reason_without_its_term() -> None:
    rows, terms = tampered()
    event = Event._make(rows[1])
    name = event.action or "skip"
    one = json.dumps({"probabilities": {name: 1.0}})
    for changed, what in [
        (event._replace(detail=one, probability=1.0), "gives no probability to|skips with"),
        (event._replace(reason="holdout"), "which the terms do not have"),
        (event._replace(reason="person"), "which the terms do not have"),
    ]:
        with pytest.raises(BrokenLedger, match=what):
            Auditor("a", terms).check([(*rows[0], None), (*changed, None)])
    assert event.kind == DECIDED
