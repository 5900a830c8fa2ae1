"""Terms of a campaign: input of a person, checked, in whole units, through JSON and back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from support.agents import assert_sentence

import almoner as al
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms
from almoner.live.terms.written_terms import written_terms

GIVEN: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"mail": 0.01, "coupon": al.Action(cost={"new": 5, "returning": "4.5"}, reserve=6)},
    "horizon": 1000,
    "budget": "250.000001",
}


def test_money_is_counted_in_whole_units() -> None:
    terms = make_terms(**GIVEN)
    assert terms.budget == 250_000_001
    assert terms.costs == {"mail": 10_000, "coupon": {"new": 5_000_000, "returning": 4_500_000}}
    assert terms.reserves == {"mail": 10_000, "coupon": 6_000_000}
    assert terms.costs_in("returning") == [10_000, 4_500_000]
    assert terms.reserves_in("returning") == [10_000, 6_000_000]
    assert terms.actions == ("mail", "coupon")


@pytest.mark.parametrize("unit", [1, 0.01, "0.01", Decimal("0.25"), 5])
def test_every_unit_counts_exactly(unit: Any) -> None:
    terms = make_terms(**{**GIVEN, "unit": unit, "actions": {"mail": 5}, "budget": 100})
    assert terms.budget * Decimal(str(unit)) == 100
    assert terms.costs_in("new")[0] * Decimal(str(unit)) == 5


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"default_rewards": "learned", "policy": "ucb-rounded", "seed": 7, "unit": "1e-7"},
        {
            "default_rewards": {"new": 0.1, "returning": 0},
            "policy": al.ealp(reward_means=[[1, 0]] * 2),
        },
        {"horizon": al.ClosingTime(at="2040-01-01T00:00Z", arrivals=10, trust=float("inf"))},  # type: ignore[arg-type]
        {"new_contexts": True, "actions": {"mail": 1}, "contexts": ["Frühling 🌷"]},
    ],
)
def test_json_and_back_and_as_a_person_writes_them(changes: dict[str, Any]) -> None:
    terms = make_terms(**{**GIVEN, **changes})
    assert Terms.from_json(json.dumps(terms.to_dict())) == terms
    assert make_terms(**written_terms(terms)) == terms


NAN = float("nan")
AMOUNTS: list[Any] = [NAN, float("inf"), -1, True, None, "much", [1], 10**400, 1e300, 0.00000049]

REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"budget": amount}, "budget must be") for amount in AMOUNTS if amount is not None),
    *(({"actions": {"mail": amount}}, "the cost of 'mail'") for amount in AMOUNTS),
    *(
        ({"actions": {"mail": al.Action(cost=1, reserve=amount)}}, "the reserve of 'mail' must be")
        for amount in AMOUNTS
        if amount is not None
    ),
    ({"actions": {"mail": None}}, "every action needs its cost, 0 if it is free"),
    ({"actions": {"mail": al.Action(cost=2, reserve=1)}}, "reserve of 'mail' must be no less than"),
    ({"actions": {"mail": {"new": 1}}}, "the cost of 'mail' lacks the key 'returning'"),
    ({"actions": {"mail": {"new": 1, "returning": 1, "x": 1}}}, "has the unknown key 'x'"),
    (
        {"actions": {"mail": {"new": 1, "returning": NAN}}},
        "the cost of 'mail' for 'returning' must",
    ),
    ({"actions": {}}, "actions must be a table of costs by name"),
    ({"actions": ["mail"]}, "actions must be a table of costs by name"),
    ({"actions": {"": 1}}, "actions must be names of 1 to 200 characters"),
    ({"actions": {3: 1}}, "actions must be names"),
    ({"actions": {"\ud800": 1}}, "actions must be names"),
    ({"actions": {"skip": 1}}, "an action must not be called 'skip'"),
    ({"contexts": []}, "contexts must name at least one context"),
    ({"contexts": "new"}, "contexts must be a list of names"),
    ({"contexts": 3}, "contexts must be a list of names"),
    ({"contexts": {"new", "returning"}}, "contexts must be a list of names"),
    ({"contexts": ["new", "new"]}, "contexts must be different names"),
    ({"contexts": ["new", ""]}, "contexts must be names of 1 to 200 characters"),
    ({"contexts": ["new", "a\0"]}, "contexts must be names of 1 to 200 characters"),
    ({"contexts": ["new", 3]}, "contexts must be names of 1 to 200 characters"),
    ({"contexts": ["x" * 201]}, "contexts must be names of 1 to 200 characters"),
    *(
        ({"horizon": horizon}, "horizon must be .*give a number of arrivals, or a ClosingTime")
        for horizon in (0, -5, 10.5, NAN, float("inf"), True, "100", 2**53, 10**400, [100])
    ),
    ({"policy": "thirfty"}, "did you mean 'thrifty'"),
    ({"policy": 3}, "policy must be one of"),
    ({"policy": "alp"}, "policy takes means as known, but they were not given"),
    *(({"unit": unit}, "unit must be") for unit in (0, -1, NAN, "cent", True, [1], float("inf"))),
    ({"unit": 1}, "the cost of 'mail' must be a whole number of the smallest unit 1"),
    ({"default_rewards": 0.5}, "default_rewards must be a number for each context"),
    ({"default_rewards": "known"}, "default_rewards must be a number for each context"),
    ({"default_rewards": np.array([0.1, 0.2])}, "default_rewards must be a number for each"),
    ({"default_rewards": {"new": 0.5}}, "default_rewards lacks the key 'returning'"),
    ({"default_rewards": {"new": 0.5, "returning": NAN}}, "default reward of 'returning' must be"),
    ({"default_rewards": {"new": 0.5, "returning": 1.5}}, "default reward of 'returning' must be"),
    ({"new_contexts": 1}, "new_contexts must be True or False"),
    ({"new_contexts": "yes"}, "new_contexts must be True or False"),
    *(({"seed": seed}, "seed must be") for seed in (-1, 1.5, True, "1", NAN, 2**53)),
]


@pytest.mark.parametrize(("changes", "match"), REFUSED)
def test_what_breaks_a_rule_is_refused(changes: dict[str, Any], match: str) -> None:
    for agreed in (GIVEN, {**GIVEN, "actions": {"mail": 0.01}}):
        with pytest.raises(al.InvalidInput, match=match) as raised:
            al.Agent.open("memory:", name="spring", **{**agreed, **changes})
        assert_sentence(raised.value)


def test_a_price_that_no_grid_of_floats_holds_is_exact() -> None:
    """0.1 + 0.2 is not 0.3 in floats; as decimals they are written it is."""
    terms = make_terms(**{**GIVEN, "actions": {"mail": 0.1, "call": 0.2}, "budget": 0.3})
    assert sum(terms.costs_in("new")) == terms.budget
    assert make_terms(**{**GIVEN, "budget": 0.1 + 0.2}).budget == terms.budget  # noise is no money
    with pytest.raises(al.InvalidTerms, match="round it, or give the campaign a smaller unit"):
        make_terms(**{**GIVEN, "budget": 0.3000001})
