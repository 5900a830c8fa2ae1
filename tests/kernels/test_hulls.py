"""Hulls of contexts without rewards: computed once, copied when they change, or merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.state import (
    LAST_PRICE,
    LEFT,
    MERGED,
    Hulls,
    Memo,
    State,
    new_hulls,
    new_memo,
    new_state,
    reset,
)
from almoner.kernels.steps import decide, learn, take
from almoner.policy.lowering import LoweredPolicy, lower

CONTEXTS = 7
CHEAP, DEAR = 0, 1
MARK = 123.0
"""A gain that nothing would be worth, so that a row which was written again is noticed."""

LEARNERS = [
    name
    for name, make in al.RECIPES.items()
    if not isinstance(make().rewards, (al.KnownRewards, al.Thompson, al.ExploreFirst))
    and isinstance(make().contexts, al.EmpiricalContexts)
    and name != "skip_always"
]
ALONE = [name for name in LEARNERS if not isinstance(al.recipe(name).prior, al.Pooled)]
"""Learners whose contexts without rewards all have the same indices."""

Kernels = tuple[LoweredPolicy, State, Memo, Hulls]


def campaign(
    name: str, costs: Any = ((1.0, 5.0),), *, budget: float = 60.0, **terms: Any
) -> Kernels:
    """Return the arguments of the kernels after every context has come once, without rewards."""
    rows = np.resize(np.array(costs), (CONTEXTS, np.shape(costs)[1]))
    lowered = lower(al.recipe(name), horizon=120, budget=budget, costs=rows, **terms)
    state, hulls = new_state(lowered), new_hulls(lowered)
    assert hulls is not None
    memo = new_memo(lowered, state)
    for context in range(CONTEXTS):
        take(lowered, state, memo, hulls, context, al.SKIP)
    return lowered, state, memo, hulls


def decide_for(kernels: Kernels, context: int, *, t: int = 0, allowed: Any = None) -> Any:
    return decide(*kernels, context, np.uint64(round_key(np.uint64(5), t)), allowed)


def rewritten(kernels: Kernels, *, context: int = 0) -> list[int]:
    """Return the contexts, but for the sources of copies, whose gains the next decision writes."""
    hulls = kernels[-1]
    marked = hulls.sources != np.arange(CONTEXTS)
    before = hulls.gains.copy()
    hulls.gains[marked] = MARK
    decide_for(kernels, context)
    rows = np.flatnonzero(marked & (hulls.gains != MARK).all(axis=1))
    hulls.gains[:] = np.where(hulls.gains == MARK, before, hulls.gains)
    return rows.tolist()


@pytest.mark.parametrize("defaults", [False, True])
@pytest.mark.parametrize("name", ALONE)
@pytest.mark.slow
def test_the_hull_of_contexts_never_rewarded_is_copied_once(name: str, defaults: bool) -> None:
    kernels = campaign(name, learn_defaults=defaults)
    lowered, state, memo, hulls = kernels
    assert rewritten(kernels) == [0, 1, 2, 3, 4, 5, 6]
    for context in (3, 0, 6):
        assert rewritten(kernels, context=context) == []
        take(lowered, state, memo, hulls, context, CHEAP)


def test_a_context_that_is_rewarded_has_its_own_hull() -> None:
    kernels = campaign("wilson_eager")
    lowered, state, memo, _ = kernels
    decide_for(kernels, 0)
    learn(lowered, state, memo, 4, CHEAP, 0, 1.0, np.uint64(0))
    assert rewritten(kernels) == [4]
    learn(lowered, state, memo, 0, CHEAP, 0, 1.0, np.uint64(0))  # the others were copied from it
    assert rewritten(kernels) == [1, 2, 3, 4, 5, 6]
    assert rewritten(kernels) == [0, 4]  # the others are copies of context 1 now


def test_hulls_change_with_what_is_affordable() -> None:
    kernels = campaign("wilson_eager")
    state = kernels[1]
    decide_for(kernels, 0)
    for left in (4, 9, 4):
        state.progress[LEFT] = left
        assert rewritten(kernels) == [1, 2, 3, 4, 5, 6]
        assert rewritten(kernels) == []


def test_a_hull_of_what_a_request_allows_is_replaced() -> None:
    kernels = campaign("wilson_eager")
    decide_for(kernels, 0)
    decide_for(kernels, 3, allowed=np.array([True, False]))
    assert rewritten(kernels) == [3]


def test_copies_are_renewed_when_all_requests_allow_what_only_the_last_one_did() -> None:
    """The source has the same gains as before then; its copies have not."""
    kernels = campaign("wilson_eager")
    _, state, _, hulls = kernels
    decide_for(kernels, 0)
    decide_for(kernels, 0, allowed=np.array([True, False]))
    state.progress[LEFT] = 4  # the dear action costs 5
    decide_for(kernels, 2)
    assert np.isneginf(hulls.gains[:, DEAR]).all()
    assert not np.isneginf(hulls.gains[:, CHEAP]).any()


def renewed(kernels: Kernels) -> Kernels:
    """Return the same campaign with nothing but its state, and the last price."""
    lowered, state, _, hulls = kernels
    fresh = new_hulls(lowered)
    assert fresh is not None
    fresh.price[LAST_PRICE] = hulls.price[LAST_PRICE]
    return lowered, state, new_memo(lowered, state), fresh


@given(
    name=st.sampled_from(LEARNERS),
    costs=st.sampled_from(
        [[[1.0, 5.0]], [[1.0, 5.0], [2.0, 3.0]], [[1.0, 1.0]] * 4 + [[3, 1]] * 3]
    ),
    defaults=st.booleans(),
    seed=st.integers(0, 2**32),
)
@pytest.mark.slow
def test_decisions_are_exactly_those_of_hulls_computed_anew(
    name: str, costs: Any, defaults: bool, seed: int
) -> None:
    """With rewards, bills, refunds, new runs, and requests that allow only some actions."""
    kernels = campaign(name, costs, learn_defaults=defaults)
    lowered, state, memo, hulls = kernels
    rng = np.random.default_rng(seed)
    for t in range(40):
        context = int(rng.geometric(0.3) - 1) % CONTEXTS
        allowed = rng.random(2) < 0.6 if rng.random() < 0.4 else None
        other = renewed(kernels)
        expected = decide_for(other, context, t=t, allowed=allowed)
        assert decide_for(kernels, context, t=t, allowed=allowed) == expected
        assert hulls.price.tolist() == other[-1].price.tolist()
        comes = hulls.weights > 0.0
        np.testing.assert_array_equal(hulls.gains[comes], other[-1].gains[comes])
        np.testing.assert_array_equal(hulls.sizes, other[-1].sizes)
        np.testing.assert_array_equal(hulls.weights, other[-1].weights)
        take(lowered, state, memo, hulls, context, expected[0])
        if rng.random() < 0.3:
            learn(lowered, state, memo, context, expected[0], t, float(rng.random()), np.uint64(t))
        if rng.random() < 0.2:
            state.progress[LEFT] = rng.integers(1, 12)
        if rng.random() < 0.05:
            start: Any = reset
            start.py_func(lowered, state, memo)
            state.context_counts[:] = rng.integers(2, size=CONTEXTS)


def fitted(*, budget: float = 600.0) -> Kernels:
    """Return the arguments of the kernels once a prior is fitted: two contexts have rewards.

    Contexts 4 and 6 have come twice, 2, 3 and 5 once.
    """
    kernels = campaign("thrifty", budget=budget)
    lowered, state, memo, hulls = kernels
    for t, context in enumerate((0, 1, 0, 1, 0, 1, 4, 6)):
        action = al.SKIP if context > 1 else t % 2
        take(lowered, state, memo, hulls, context, action)
        if action != al.SKIP:
            learn(lowered, state, memo, context, action, t, float(t % 3 == 0), np.uint64(t))
    assert state.prior_counts.min() > 0
    return kernels


def test_with_a_pooled_prior_hulls_of_equal_weights_are_merged() -> None:
    """The row of weight 2 in between makes the last one of weight 1 be computed: it is the same."""
    kernels = fitted()
    hulls = kernels[-1]
    decide_for(kernels, 0)
    assert hulls.sources.tolist() == [-1, -1, 2, MERGED - 2, 4, 5, 6]
    assert hulls.weights.tolist() == [5.0, 4.0, 2.0, 0.0, 2.0, 1.0, 2.0]
    assert hulls.sizes[3] == 0
    gains = hulls.gains.tolist()
    assert gains[2] == gains[5] != gains[4] == gains[6]
    decide_for(kernels, 3)
    assert hulls.sources[3] == -1, "the context that has arrived has its own index"
    assert hulls.weights[2:4].tolist() == [1.0, 2.0]
    assert hulls.gains[3].tolist() >= hulls.gains[2].tolist()


@pytest.mark.parametrize("budget", [100.0, 130.0, 200.0, 400.0])
@pytest.mark.parametrize("context", range(CONTEXTS))
def test_merged_hulls_have_the_price_of_copied_ones(context: int, budget: float) -> None:
    """Where sums of costs might be rounded, hulls are copied, and the contexts summed in order."""
    merged, copied = fitted(budget=budget), fitted(budget=budget)
    lowered, state, memo, hulls = copied
    copied = (lowered._replace(dearest=2**53), state, memo, hulls)  # which no action costs
    assert decide_for(merged, context) == decide_for(copied, context)
    assert merged[-1].price.tolist() == copied[-1].price.tolist() > [0.0, 0.0]
    assert (merged[-1].sources.min() < -1) == (context not in (2, 3))
    assert copied[-1].sources.min() == -1
    assert copied[-1].weights.sum() == merged[-1].weights.sum()
