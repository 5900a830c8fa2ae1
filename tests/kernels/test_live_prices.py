"""The price of a decision against certificates: the budget that is used up at that price.

Contexts ranked by value, or hull steps by slope, use the budget of a round up to exactly the price:
what is worth more fits, and together with what is worth just as much it uses it up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live_kernel import decide_one

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.indices import kl_bound, wilson_bound
from almoner.kernels.state import LEFT, State, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, decide
from almoner.policy.lowering import LoweredPolicy, lower

STREAM = np.uint64(78)
SLACK = 1e-11
ANYTHING = np.ones(3, np.bool_)

EQUAL: dict[str, Any] = {
    "horizon": 50,
    "budget": 20.0,
    "costs": np.ones((4, 3)),
    "context_probs": np.array([0.1, 0.4, 0.3, 0.2]),
}
TINY = st.integers(0, 6)


def ucb(mean: float, count: float, t: int, share: float, left: float) -> float:
    return mean + math.sqrt(0.5 * math.log(t) / count)


def kl_ucb(mean: float, count: float, t: int, share: float, left: float) -> float:
    return float(kl_bound(mean, math.log(t) / count))


def wilson(mean: float, count: float, t: int, share: float, left: float) -> float:
    return float(wilson_bound(mean, count, max(1.0, min(share * (50 - t + 1), left))))


@st.composite
def states(draw: st.DrawFn, lowered: LoweredPolicy) -> State:
    """Draw a state with statistics, between the first round and the last."""
    state, shape = new_state(lowered), lowered.costs.shape
    state.counts[:] = [[draw(TINY) for _ in range(shape[1])] for _ in range(shape[0])]
    state.sums[:] = [[draw(st.integers(0, 4 * int(n))) / 4 for n in row] for row in state.counts]
    state.context_counts[:] = [draw(TINY) for _ in range(shape[0])]
    state.progress[0] = int(state.context_counts.sum())
    state.progress[LEFT] = draw(st.integers(lowered.cheapest, lowered.budget))
    return state


def assert_uses_up(
    price: float, room: float, worths: list[tuple[float, float]], slack: float
) -> None:
    """Hold a price to its certificate, given what things are worth and what they use."""
    used = math.fsum(use for worth, use in worths if worth > price + SLACK)
    tied = math.fsum(use for worth, use in worths if abs(worth - price) <= SLACK)
    below = [worth for worth, use in worths if worth < price - SLACK and use > 0]
    assert price >= 0
    assert used <= room + SLACK
    assert used + tied >= room - slack - SLACK or not below  # or there is nothing else to buy


@pytest.mark.parametrize(
    ("rewards", "index"), [(al.UCB(), ucb), (al.KLUCB(), kl_ucb), (al.Wilson(), wilson)]
)
@given(data=st.data(), start=st.sampled_from([0.0, 0.3, 0.7, 1.0, 2.0, math.nan]))
def test_where_costs_are_equal_contexts_use_up_the_budget_at_the_price(
    rewards: Any, index: Any, start: float, data: st.DataObject
) -> None:
    policy = al.Policy(rewards=rewards, contexts=al.KnownContexts(), allocation=al.AdaptiveLP())
    lowered = lower(policy, **EQUAL)
    state = data.draw(states(lowered))
    t, left = int(state.progress[0]) + 1, float(state.progress[LEFT])
    worths = []
    for context, share in enumerate(EQUAL["context_probs"]):
        row = zip(state.counts[context], state.sums[context], strict=True)
        values = [index(total / n, n, t, share, left) if n else 1.0 for n, total in row]
        worths.append((max(values), share))
    price = np.array([start])
    memo = new_memo(lowered, state)
    context = data.draw(st.integers(0, 3))
    decide_one(lowered, (state, memo, None), STREAM, context, ANYTHING, price)
    assert_uses_up(price[0], left / (50 - t + 1), worths, 0.0)
    if sum(share for _, share in worths) < left / (50 - t + 1) - SLACK:
        assert price[0] == 0.0


@given(data=st.data())
def test_shares_that_were_seen_use_it_up_to_within_one_arrival(data: st.DataObject) -> None:
    lowered = lower(al.ucb_ealp(), **EQUAL)
    state = data.draw(states(lowered))
    t, left = int(state.progress[0]) + 1, float(state.progress[LEFT])
    worths = []
    for context, seen in enumerate(state.context_counts.tolist()):
        row = zip(state.counts[context], state.sums[context], strict=True)
        values = [ucb(total / n, n, t, 0.0, left) if n else 1.0 for n, total in row]
        worths.append((max(values), seen))
    price = np.zeros(1)
    memo = new_memo(lowered, state)
    context = data.draw(st.integers(0, 3))
    decide_one(lowered, (state, memo, None), STREAM, context, ANYTHING, price)
    assert_uses_up(price[0], left / (50 - t + 1) * t, worths, 1.0)


def hull(points: list[tuple[int, float]]) -> list[tuple[float, int, int]]:
    """Return the steps (slope, cost, index) of the upper hull over skipping, by brute force."""
    steps: list[tuple[float, int, int]] = []
    cost, gain = 0, 0.0
    while True:
        rest = [
            ((worth - gain) / (price - cost), -price, index)
            for index, (price, worth) in enumerate(points)
            if price > cost and worth > gain + 1e-12
        ]
        if not rest:
            return steps
        slope, price, index = max(rest)
        steps.append((slope, -price - cost, index))
        cost, gain = -price, points[index][1]


GAINS = st.lists(st.integers(1, 97), min_size=12, max_size=12, unique=True)
PRICES = st.lists(st.integers(1, 7), min_size=12, max_size=12)
MASKS = st.lists(st.booleans(), min_size=3, max_size=3)


@given(gains=GAINS, prices=PRICES, mask=MASKS, left=st.integers(1, 90), data=st.data())
@pytest.mark.slow
def test_where_costs_differ_steps_use_it_up_and_a_restricted_request_is_weighed_at_that_price(
    gains: list[int], prices: list[int], mask: list[bool], left: int, data: st.DataObject
) -> None:
    """The price is that of all actions in all contexts; then this request's own hull is climbed."""
    means, costs = np.reshape(gains, (4, 3)) / 97, np.reshape(prices, (4, 3)).astype(float)
    costs[0] = [1.0, 2.0, 3.0]  # never all equal, and units are whole
    terms = {**EQUAL, "costs": costs, "budget": 90.0, "reward_means": means}
    lowered = lower(al.alp(), **terms)
    state, context, price = new_state(lowered), data.draw(st.integers(0, 3)), np.zeros(1)
    state.progress[LEFT] = left
    room, key = left / 50, np.uint64(round_key(STREAM, 0))
    scratch = state, new_memo(lowered, state), new_hulls(lowered)
    action, probability = decide(lowered, *scratch, context, key, np.array(mask))
    again = state, new_memo(lowered, state), new_hulls(lowered)
    assert decide_one(lowered, again, STREAM, context, mask, price) == (action, probability)
    steps = [
        (slope, share * cost)
        for j, share in enumerate(EQUAL["context_probs"])
        for slope, cost, _ in hull(
            [
                (int(c), float(m) if c <= left else 0.0)
                for c, m in zip(costs[j], means[j], strict=True)
            ]
        )
    ]
    assert_uses_up(price[0], room, steps, 0.0)
    own = [
        (int(c), float(m) if allowed and c <= left else 0.0)
        for c, m, allowed in zip(costs[context], means[context], mask, strict=True)
    ]
    sure = [index for slope, _, index in hull(own) if slope > price[0] + SLACK]
    perhaps = [index for slope, _, index in hull(own) if abs(slope - price[0]) <= SLACK]
    assert action in {sure[-1] if sure else SKIP, *perhaps}
    if not perhaps:
        assert probability == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["pb", "ucb_pb", "skip_always", "thompson_rounded"])
def test_some_policies_have_no_price(name: str) -> None:
    terms: dict[str, Any] = {
        "horizon": 9,
        "budget": 5.0,
        "costs": np.ones((2, 3)),
        "reward_means": np.full((2, 3), 0.5),
    }
    lowered, price = lower(al.recipe(name), **terms), np.zeros(1)
    state = new_state(lowered)
    scratch = state, new_memo(lowered, state), None
    decide_one(lowered, scratch, STREAM, 0, ANYTHING, price)
    assert math.isnan(price[0])


def test_nothing_has_a_price_when_nothing_can_be_bought() -> None:
    lowered, price = lower(al.thrifty(), **EQUAL), np.zeros(1)
    state = new_state(lowered)
    state.progress[LEFT] = 0
    scratch = state, new_memo(lowered, state), None
    assert decide_one(lowered, scratch, STREAM, 0, ANYTHING, price) == (-1, 1)
    assert math.isnan(price[0])
    state.progress[LEFT], state.progress[0] = 5, 50
    decide_one(lowered, scratch, STREAM, 0, ANYTHING, price)
    assert math.isnan(price[0])
