"""Creating a campaign, resuming it, and every way in which that can be wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agents import STORES, TERMS, Place, assert_sentence, fresh_place, standing

import almoner as al
from almoner.store import open_store

EVENING = al.ClosingTime(at=datetime(2040, 1, 1, tzinfo=UTC), arrivals=500)


def test_a_campaign_is_created_and_resumed(place: Place) -> None:
    first = place.create()
    decision = first.decide("new")
    for again in (
        place.open(),
        place.create(),
        place.open(budget=60, contexts=("new", "returning")),
    ):
        assert again.terms == first.terms
        assert standing(again) == standing(first)
        assert again.ledger.reserved == round(decision.reserved * 1e6)


def test_what_is_left_out_is_thrifty_in_millionths_and_random(memory: Place) -> None:
    one = memory.create(seed=None)
    two = memory.open(name="another", **{**TERMS, "seed": None})
    assert one.terms.policy == al.thrifty()
    assert tuple(one.terms.unit) == (1, 1_000_000)
    assert one.terms.seed != two.terms.seed  # 48 bits


def test_several_campaigns_in_one_store_do_not_meet(place: Place) -> None:
    one, two = place.create(), place.create(name=place.name + "-b", budget=7, seed=2)
    one.decide("new")
    assert two.ledger == (7_000_000, 0, 0, 0)
    assert list(two.events()) == []
    assert {one.name, two.name} <= set(one.store.campaigns())
    assert two.decide("returning").id == 1


def test_terms_may_be_written_in_other_words(place: Place) -> None:
    place.create(policy="ucb-rounded", actions={"mail": 1, "coupon": al.Action(cost="5.00")})
    place.open(
        policy=al.ucb_rounded(),
        actions={"mail": al.Action(cost=1.0, reserve=1), "coupon": 5},
        budget="60",
        unit=1e-6,
        horizon=40.0,
    )
    assert place.open(actions={"coupon": 5.0, "mail": 1}).terms.actions == ("mail", "coupon")


def test_single_amounts_by_context_are_compared(memory: Place) -> None:
    prices = {"new": 1.0, "returning": 2.0}
    memory.create(actions={"mail": prices}, default_rewards={"new": 0.1, "returning": 0.2})
    with pytest.raises(al.DifferentTerms, match=r"actions\['mail'\].cost\['returning'\]=2, got"):
        memory.open(actions={"mail": {**prices, "returning": 3.0}})
    with pytest.raises(al.DifferentTerms, match=r"default_rewards\['new'\]=0.1, got"):
        memory.open(default_rewards={"new": 0.3, "returning": 0.2})


def test_names_may_come_from_an_iterator(place: Place) -> None:
    place.create(contexts=iter(["new", "returning"]))
    place.open(contexts=(name for name in ("new", "returning")))


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
    "policy": ("greedy", "policy=Policy(rewards=Wilson", "policy=Policy(rewards=EmpiricalMean"),
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
def test_other_terms_are_refused_by_name(case: str, place: Place) -> None:
    agent = place.create()
    agent.decide("new")
    before = standing(agent)
    value, was, got = DIFFERENCES[case]
    with pytest.raises(al.DifferentTerms) as raised:
        place.open(**{case.split(maxsplit=1)[0]: value})
    assert_sentence(raised.value)
    for part in (f"campaign {place.name!r} was opened with {was}", f"got {got}"):
        assert part in str(raised.value)
    assert standing(place.open()) == before


def test_a_difference_is_named_where_the_new_term_contradicts_the_others(memory: Place) -> None:
    by_context = {"mail": {"new": 1.0, "returning": 2.0}}
    explores = al.epsilon_first_alp(test="usable", contexts=al.EmpiricalContexts())
    memory.create(actions=by_context, policy=explores)
    for term, value in (("new_contexts", True), ("horizon", EVENING), ("contexts", ["new", "x"])):
        with pytest.raises(al.DifferentTerms, match=f"was opened with {term}="):
            memory.open(**{term: value})


def test_a_closing_time_is_resumed_with_the_time_the_campaign_was_created(place: Place) -> None:
    first = place.create(horizon=EVENING, clock=lambda: 1.8e9)
    assert first.terms.horizon == EVENING.opened(datetime.fromtimestamp(1.8e9, UTC))
    assert place.create(horizon=EVENING, clock=lambda: 1.9e9).terms == first.terms
    later = al.ClosingTime(at=EVENING.at, arrivals=500, opens=datetime.fromtimestamp(1.9e9, UTC))
    with pytest.raises(al.DifferentTerms, match="opened with horizon=ClosingTime"):
        place.open(horizon=later)


def test_what_is_missing_is_named(place: Place) -> None:
    with pytest.raises(al.UnknownCampaign, match="give contexts, actions, horizon, budget to cre"):
        place.open()
    for term in ("contexts", "actions", "horizon", "budget"):
        for terms in ({**TERMS, term: None}, {k: v for k, v in TERMS.items() if k != term}):
            with pytest.raises(al.InvalidTerms, match=f"needs {term}; give it"):
                place.open(**terms)
    with pytest.raises(al.InvalidTerms, match="needs horizon, budget"):
        place.open(contexts=["a"], actions={"b": 1})
    assert place.name not in place.create(name=place.name + "-other").store.campaigns()


@pytest.mark.parametrize("kind", STORES)
def test_a_misspelt_term_is_refused(kind: str) -> None:
    with fresh_place(kind) as place:
        with pytest.raises(al.InvalidTerms, match="unknown key 'polcy'; did you mean 'policy'"):
            place.create(polcy="thrifty")
        place.create()
        with pytest.raises(al.InvalidTerms, match="unknown key 'polcy'; did you mean 'policy'"):
            place.open(polcy="thrifty")


@pytest.mark.parametrize(
    "name", ["", "a/b", "a\nb", "a\0b", "x" * 201, None, 3, b"spring", "\ud800"]
)
def test_a_bad_name_is_refused(name: Any, memory: Place) -> None:
    with pytest.raises(al.InvalidTerms, match="name must be a text of 1 to 200") as raised:
        memory.create(name=name)
    assert_sentence(raised.value)


@pytest.mark.parametrize(
    "name", ["x" * 200, "Frühling 2026 🌷", "'; DROP TABLE almoner_events; --"]
)
def test_an_odd_name_is_as_good_as_any(name: str, place: Place) -> None:
    name = name[:190] + place.name[-9:]
    decision = place.create(name=name).decide("new")
    assert [event.seq for event in place.open(name=name).events()] == [decision.id]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "sqlite:campaigns.db",
        "sqlite:///",
        "mysql://host/db",
        "file.db",
        None,
        3,
        b"m",
    ],
)
def test_a_wrong_url_says_how_to_write_one(url: Any) -> None:
    for function in (open_store, lambda url: al.Agent.open(url, name="spring", **TERMS)):
        with pytest.raises(al.InvalidInput, match="write memory:, sqlite:///path") as raised:
            function(url)
        assert_sentence(raised.value)


def test_a_path_is_not_a_url_but_says_so(tmp_path: Path) -> None:
    with pytest.raises(al.InvalidInput, match="write memory:, sqlite:///path"):
        al.Agent.open(tmp_path / "campaigns.db", name="spring", **TERMS)  # type: ignore[arg-type]


def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, whatever its name says " * 50)
    for url, match in (
        (f"sqlite:///{tmp_path}/no/such/folder.db", "there is no folder .*create it first"),
        (f"sqlite:///{tmp_path}", "unable to open"),
        (f"sqlite:///{tmp_path}/text.db", "not a database"),
        (f"postgresql://nobody@/none?host={tmp_path}", "PostgreSQL store failed"),
    ):
        with pytest.raises(al.StoreError, match=match) as raised:
            al.Agent.open(url, name="spring", **TERMS)
        assert_sentence(raised.value)


def test_a_password_is_not_repeated_in_an_error() -> None:
    with pytest.raises(al.InvalidInput) as raised:
        open_store("postgressql://ann:secret@db.example/shop")
    assert "secret" not in str(raised.value)
    assert "db.example" in str(raised.value)


def test_stored_terms_that_cannot_be_read_are_a_broken_ledger(memory: Place) -> None:
    terms = memory.create().terms.to_dict()
    broken = ["", "{", "[]", "{}", json.dumps({**terms, "unit": None}), json.dumps({"x": 1})]
    for text in broken:
        store = open_store("memory:")
        store.create("spring", text)
        with pytest.raises(al.BrokenLedger, match="terms of the campaign cannot be read") as raised:
            al.Agent.open(store, name="spring")
        assert_sentence(raised.value)
