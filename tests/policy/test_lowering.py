from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almoner.errors import InvalidPolicy
from almoner.policy.base import PARTS, Policy
from almoner.policy.contexts import TruncatedContexts
from almoner.policy.lowering import (
    BY_RULE,
    KNOWN_DEFAULTS,
    LEARNED_DEFAULTS,
    NEVER,
    NO_DEFAULTS,
    applicable,
    lower,
)
from almoner.policy.recipes import (
    RECIPES,
    alp,
    ealp,
    ealp2,
    flp,
    pb,
    rounded,
    thrifty,
    ucb_alp,
    ucb_ealp2,
    ucb_pb,
)

PROBS = np.array([0.4, 0.6])
MEANS = np.array([[0.2, 0.8, 0.5], [0.1, 0.4, 0.3]])
COSTS = np.ones((2, 3))
TERMS: dict[str, Any] = {"horizon": 100, "budget": 40.0, "costs": COSTS}
TRUTH: dict[str, Any] = {"context_probs": PROBS, "reward_means": MEANS}


CODES = {"rewards": "reward", "contexts": "context", "allocation": "rule", "prior": "pooled"}
"""Field of a lowered policy that holds the code of each axis."""


def three_contexts() -> dict[str, Any]:
    return {
        **TERMS,
        "costs": np.ones((3, 2)),
        "context_probs": np.full(3, 1 / 3),
        "reward_means": np.full((3, 2), 0.5),
    }


def combinations() -> list[Policy]:
    policies = []
    for parts in product(*(parts.values() for _, parts in PARTS.values())):
        try:
            policies.append(
                Policy(**{axis: part() for axis, part in zip(PARTS, parts, strict=True)})
            )
        except InvalidPolicy:
            continue
    return policies


@pytest.mark.parametrize("policy", combinations(), ids=repr)
def test_every_policy_can_be_planned_on_two_contexts(policy: Policy) -> None:
    lowered = lower(policy, **TERMS, **TRUTH)
    for axis, code in CODES.items():
        assert getattr(lowered, code) == getattr(policy, axis).code
    assert (lowered.horizon, lowered.budget) == (100, 40)
    for array, shape in ((lowered.context_weights, (2,)), (lowered.prior, (2, 3))):
        assert array.dtype == np.float64
        assert array.shape == shape
        assert array.flags.writeable
        assert array.flags.c_contiguous


def test_the_arrays_of_a_plan_are_copies_even_of_read_only_truth() -> None:
    truth = {name: value.copy() for name, value in TRUTH.items()}
    for value in truth.values():
        value.setflags(write=False)
    lowered = lower(alp(), **TERMS, **truth)
    lowered.context_weights[:] = lowered.prior[:] = -1
    assert truth["context_probs"].tolist() == PROBS.tolist()
    assert truth["reward_means"].tolist() == MEANS.tolist()


def test_money_is_in_whole_units_of_a_fraction() -> None:
    lowered = lower(thrifty(), horizon=100, budget=1.35, costs=np.full((2, 3), 0.1))
    assert (lowered.budget, lowered.top, lowered.bottom) == (13, 1, 10)
    assert lowered.costs.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert lowered.costs.dtype == np.int64


def test_known_statistics_come_from_the_truth_unless_the_policy_has_its_own() -> None:
    supplied = lower(alp(), **TERMS, **TRUTH)
    assert supplied.context_weights.tolist() == PROBS.tolist()
    assert supplied.prior.tolist() == MEANS.tolist()

    believed = MEANS[::-1] / 2
    own = lower(alp(context_probs=[0.9, 0.1], reward_means=believed), **TERMS, **TRUTH)
    assert own.context_weights.tolist() == [0.9, 0.1]
    assert own.prior.tolist() == believed.tolist()


def test_a_learner_starts_from_ones_whatever_the_truth() -> None:
    lowered = lower(thrifty(), **TERMS, **TRUTH)
    assert lowered.context_weights.tolist() == [1, 1]
    assert lowered.prior.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_learner_needs_no_truth() -> None:
    lowered, with_truth = lower(thrifty(), **TERMS), lower(thrifty(), **TERMS, **TRUTH)
    for mine, theirs in zip(lowered, with_truth, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_known_rewards_are_planned_as_gains_over_skipping() -> None:
    lowered = lower(alp(), **TERMS, **TRUTH, default_rewards=np.array([0.5, 0.1]))
    assert lowered.prior == pytest.approx(np.array([[-0.3, 0.3, 0.0], [0.0, 0.3, 0.2]]), abs=1e-15)


SOME = np.array([0.5, 0.0])

DEFAULT_MODES: list[tuple[dict[str, Any], int, list[float]]] = [
    ({}, NO_DEFAULTS, [0, 0]),
    ({"default_rewards": np.zeros(2)}, NO_DEFAULTS, [0, 0]),
    ({"default_rewards": np.zeros(2), "defaults_known": True}, NO_DEFAULTS, [0, 0]),
    ({"default_rewards": SOME}, LEARNED_DEFAULTS, [0, 0]),
    ({"default_rewards": SOME, "defaults_known": True}, KNOWN_DEFAULTS, [0.5, 0]),
    ({"learn_defaults": True}, LEARNED_DEFAULTS, [0, 0]),
    ({"default_rewards": SOME, "learn_defaults": True}, LEARNED_DEFAULTS, [0, 0]),
]


@pytest.mark.parametrize(("terms", "mode", "defaults"), DEFAULT_MODES)
def test_a_learner_is_told_the_default_rewards_or_learns_them(
    terms: dict[str, Any], mode: int, defaults: list[float]
) -> None:
    lowered = lower(thrifty(), **TERMS, **terms)
    assert (lowered.default_mode, lowered.defaults.tolist()) == (mode, defaults)
    assert lowered.defaults.flags.writeable
    assert lowered.defaults.dtype == np.float64
    assert lowered.priced == (mode != NO_DEFAULTS)


@pytest.mark.parametrize("known", [True, False])
def test_known_rewards_come_with_known_defaults_whoever_is_told(known: bool) -> None:
    lowered = lower(alp(), **TERMS, **TRUTH, default_rewards=SOME, defaults_known=known)
    assert (lowered.default_mode, lowered.defaults.tolist(), lowered.priced) == (
        NO_DEFAULTS,
        [0, 0],
        0,
    )
    assert lowered.prior == pytest.approx(MEANS - SOME[:, None])


@pytest.mark.parametrize(
    ("policy", "freeze"),
    [(ealp(), NEVER), (ealp2(), BY_RULE), (ealp2(until=70), 70), (ucb_ealp2(until=1), 1)],
)
def test_the_round_of_the_freeze_is_planned(policy: Policy, freeze: int) -> None:
    assert lower(policy, **TERMS, **TRUTH).freeze == freeze


def test_never_and_by_rule_are_no_rounds() -> None:
    assert NEVER != BY_RULE
    for code in (NEVER, BY_RULE):
        with pytest.raises(InvalidPolicy, match="until must be at least 1"):
            TruncatedContexts(until=code)


@pytest.mark.parametrize(
    ("policy", "width"),
    [(ucb_alp(width=0.125), 0.125), (thrifty(), 0.0), (alp(), 0.0)],
)
def test_the_width_is_planned(policy: Policy, width: float) -> None:
    assert lower(policy, **TERMS, **TRUTH).width == width


@pytest.mark.parametrize(("policy", "override"), [(flp(), 0), (flp(override=True), 1), (alp(), 0)])
def test_the_override_is_lowered(policy: Policy, override: int) -> None:
    assert lower(policy, **TERMS, **TRUTH).override == override


UNEQUAL = np.array([[1, 2, 3], [1, 2, 4.5]])

REFUSED: list[tuple[Policy, dict[str, Any], str]] = [
    (
        pb(),
        three_contexts(),
        "Procrastinate is defined for two contexts, got 3 contexts; "
        "use rounded() or thrifty() for more",
    ),
    (
        ucb_pb(),
        {**TERMS, "costs": np.ones((1, 3))},
        "Procrastinate is defined for two contexts, got 1 contexts; "
        "use rounded() or thrifty() for more",
    ),
    (
        ucb_pb(),
        {**TERMS, "costs": UNEQUAL},
        "Procrastinate is defined where every action costs the same and skipping brings nothing; "
        "use rounded() or thrifty() instead",
    ),
    (
        ucb_pb(),
        {**TERMS, "default_rewards": np.array([0.0, 0.3])},
        "Procrastinate is defined where every action costs the same and skipping brings nothing; "
        "use rounded() or thrifty() instead",
    ),
    (
        ucb_pb(),
        {**TERMS, "default_rewards": np.array([0.0, 0.3]), "defaults_known": True},
        "Procrastinate is defined where every action costs the same and skipping brings nothing; "
        "use rounded() or thrifty() instead",
    ),
    (
        alp(context_probs=[0.4, 0.6], reward_means=MEANS),
        {**TERMS, "learn_defaults": True},
        "a policy that takes means as known must know the default rewards too, and cannot learn "
        "them; give default_rewards, or choose one that learns, such as thrifty()",
    ),
    (
        thrifty(),
        {**TERMS, "defaults_known": True, "learn_defaults": True},
        "default rewards are either known or learned, got defaults_known=True and "
        "learn_defaults=True; give one of the two",
    ),
    (
        alp(),
        {**TERMS, "reward_means": MEANS},
        "the policy takes probs as known, but they were not given; give "
        "contexts=KnownContexts(probs=…), or context_probs=… to a recipe without contexts=; "
        "or choose a policy that learns, such as thrifty()",
    ),
    (
        pb(),
        {**TERMS, "context_probs": PROBS},
        "the policy takes means as known, but they were not given; give reward_means=… to its "
        "recipe, or rewards=KnownRewards(means=…) to Policy; or choose a policy that learns, such "
        "as thrifty()",
    ),
    (
        ucb_alp(context_probs=[0.2, 0.3, 0.5]),
        {**TERMS, **TRUTH},
        "probs must have shape (2,) as the costs have, got (3,)",
    ),
    (
        rounded(reward_means=[[0.1, 0.2], [0.3, 0.4]]),
        {**TERMS, **TRUTH},
        "means must have shape (2, 3) as the costs have, got (2, 2)",
    ),
]


@pytest.mark.parametrize(("policy", "terms", "sentence"), REFUSED)
def test_a_policy_that_does_not_fit_the_terms_is_refused_in_one_sentence(
    policy: Policy, terms: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        lower(policy, **terms)
    assert str(refused.value) == sentence
    assert not applicable(policy, **terms)


def test_costs_that_differ_by_less_than_the_grid_can_hold_still_differ() -> None:
    """A budget of 1e12 would leave a grid of 1/1000; but 9 rounds can use 27e-7 at most."""
    costs = np.array([[1e-7, 3e-7], [1e-7, 1e-7]])
    lowered = lower(thrifty(), horizon=9, budget=1e12, costs=costs)
    assert lowered.priced == 1
    assert lowered.costs.tolist() == [[1, 3], [1, 1]]


def test_decisions_need_a_price_only_where_options_compete() -> None:
    assert lower(thrifty(), **TERMS).priced == 0
    assert lower(thrifty(), **{**TERMS, "costs": UNEQUAL}).priced == 1
    assert lower(thrifty(), **TERMS, default_rewards=np.array([0.0, 0.3])).priced == 1
    assert lower(alp(), **TERMS, **TRUTH, default_rewards=np.array([0.0, 0.3])).priced == 0


def test_no_default_reward_at_all_is_no_obstacle_to_learning() -> None:
    assert applicable(thrifty(), **TERMS, default_rewards=np.zeros(2))


@pytest.mark.parametrize("name", RECIPES)
def test_only_procrastination_is_not_applicable_to_three_contexts(name: str) -> None:
    assert applicable(RECIPES[name](), **three_contexts()) == (name not in {"pb", "ucb_pb"})


@given(
    horizon=st.integers(1, 10**6),
    hundredths=st.integers(1, 999),
    surplus=st.sampled_from([1.0, 1.02, 1e9]),
)
def test_a_budget_for_everybody_pays_for_every_round(
    horizon: int, hundredths: int, surplus: float
) -> None:
    """41 times .3 is 12.299999999999999 as a float, and pays for 41 actions all the same."""
    cost = hundredths / 100
    budget = max(horizon * hundredths / 100, horizon * cost) * surplus
    lowered = lower(thrifty(), horizon=horizon, budget=budget, costs=np.array([[cost]]))
    assert lowered.budget == horizon
