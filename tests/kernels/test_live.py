"""Kernels of live campaigns against the steps of a run, and against plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import state_values
from support.live_kernel import Scratch, decide_one

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.live import (
    ACTED,
    CANCEL,
    LEARN,
    NOT_ALLOWED,
    PAST_HORIZON,
    POLICY_SKIP,
    REDRAWS,
    SET_LEFT,
    TAKE,
    UNAFFORDABLE,
    advance,
    new_batch,
    replay,
)
from almoner.kernels.state import LEFT, ROUND, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, decide, learn, take
from almoner.policy.lowering import LoweredPolicy, applicable, lower

STREAM = np.uint64(77)
EQUAL: dict[str, Any] = {
    "horizon": 60,
    "budget": 25.0,
    "costs": np.ones((3, 2)),
    "context_probs": np.array([0.2, 0.5, 0.3]),
    "reward_means": np.array([[0.2, 0.8], [0.1, 0.4], [0.6, 0.5]]),
}
PRICED = {**EQUAL, "costs": np.array([[1.0, 3.0], [2.0, 1.0], [2.0, 2.0]])}
LEARNING = {**PRICED, "learn_defaults": True}
FREE = {**EQUAL, "costs": np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]])}
TERMS = {
    "equal costs": EQUAL,
    "unequal costs": PRICED,
    "learned defaults": LEARNING,
    "free actions": FREE,
}

CASES = [
    pytest.param(name, kind, id=f"{name}, {kind}")
    for kind, terms in TERMS.items()
    for name in al.RECIPES
    if applicable(al.recipe(name), **terms)
]


def begin(lowered: LoweredPolicy) -> Scratch:
    state = new_state(lowered)
    return state, new_memo(lowered, state), new_hulls(lowered)


def arrivals() -> Iterator[tuple[int, Any, float]]:
    """Contexts, masks and rewards, the same every time."""
    generator = np.random.default_rng(5)
    while True:
        mask = generator.random(2) < 0.8
        yield int(generator.choice(3)), mask, float(generator.integers(0, 5) / 4)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_advance_is_decide_and_take(name: str, kind: str) -> None:
    lowered = lower(al.recipe(name), **TERMS[kind])
    live, steps, price = begin(lowered), begin(lowered), np.zeros(1)
    for t, (context, mask, reward) in enumerate(islice(arrivals(), 60)):
        key = np.uint64(round_key(STREAM, t))
        done = decide_one(lowered, live, STREAM, context, mask, price)
        expected = decide(lowered, *steps, context, key, mask)
        take(lowered, *steps, context, expected[0])
        compared = 1 if lowered.reward == al.Thompson.code else 2  # whose odds are estimated
        assert (t, *done[:compared]) == (t, *expected[:compared])
        for state, memo, _ in (live, steps):
            learn(lowered, state, memo, context, done[0], t, reward, key)
    assert state_values(live[0]) == state_values(steps[0])


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_replay_is_taking_and_learning_one_by_one(name: str, kind: str) -> None:
    """Rewards come up to nine rounds late; every tenth round a bill changes what is left.

    And every tenth round the action of five rounds ago, if it was one, is withdrawn.
    """
    lowered = lower(al.recipe(name), **TERMS[kind])
    live, price = begin(lowered), np.zeros(1)
    rows, rewards, open_ones = [], [], []
    for t, (context, mask, reward) in enumerate(islice(arrivals(), 60)):
        action, _ = decide_one(lowered, live, STREAM, context, mask, price)
        rows.append((TAKE, context, action, t))
        open_ones.append((context, action, t))
        rewards.append(0.0)
        if t % 10 == 9:
            left = max(0, int(live[0].progress[LEFT]) - 1)
            live[0].progress[LEFT] = left
            rows.append((SET_LEFT, left, SKIP, -1))
            rewards.append(0.0)
            if open_ones[5][1] != SKIP:
                late, done, _ = open_ones.pop(5)
                live[0].progress[LEFT] += 1
                live[0].pending[late, done] -= 1
                rows.append((CANCEL, late, done, left + 1))
                rewards.append(0.0)
            for late, done, then in reversed(open_ones):
                key = np.uint64(round_key(STREAM, then))
                learn(lowered, live[0], live[1], late, done, then, reward, key)
                rows.append((LEARN, late, done, then))
                rewards.append(reward)
            open_ones = []
    again = begin(lowered)
    replay(lowered, *again, STREAM, np.array(rows, np.int64), np.array(rewards))
    assert state_values(again[0]) == state_values(live[0])


def played(lowered: LoweredPolicy, *, rounds: int) -> Scratch:
    """Return a state with statistics of some rounds, by taking every decision."""
    scratch = begin(lowered)
    for t, (context, _, reward) in enumerate(islice(arrivals(), rounds)):
        action = t % lowered.costs.shape[1]
        take(lowered, *scratch, context, action)
        learn(lowered, scratch[0], scratch[1], context, action, t, reward, np.uint64(t))
    return scratch


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_batch_is_decided_as_single_arrivals_in_order(name: str, kind: str) -> None:
    """Prices may be found from another start, and so differ in their last digits."""
    lowered = lower(al.recipe(name), **TERMS[kind])
    together, apart, price = begin(lowered), begin(lowered), np.zeros(1)
    batch, free = new_batch(2, size=20), np.zeros((3, 2), np.int64)
    coming = arrivals()
    for size in (1, 20, 7, 13, 19):
        expected: list[float] = []
        for i, (context, mask, _) in enumerate(islice(coming, size)):
            batch.contexts[i], batch.allowed[i] = context, mask
            done = decide_one(lowered, apart, STREAM, context, mask, price)
            expected += (*done, price[0])
        advance((lowered, *together, STREAM, batch), size, free, 0)
        decided = np.column_stack((batch.choices[:size, 0], batch.figures[:size]))
        assert decided.ravel().tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert batch.allowed.all()
    assert state_values(together[0]) == state_values(apart[0])


def test_actions_of_a_batch_are_allowed_while_reserves_fit() -> None:
    """Costs of 1 and a reserve of 4: of 10 units left, two fit, though more are affordable."""
    lowered = lower(al.recipe("thrifty"), **{**EQUAL, "budget": 60.0})
    batch = new_batch(2, size=5)
    advance((lowered, *begin(lowered), STREAM, batch), 5, np.full((3, 2), 4), 10)
    assert (batch.choices[:, 0] != SKIP).tolist() == [True, True, False, False, False]
    assert batch.choices[:, 1].tolist() == [ACTED, ACTED, UNAFFORDABLE, UNAFFORDABLE, UNAFFORDABLE]


def test_a_skip_says_why() -> None:
    lowered = lower(al.recipe("skip_always"), **EQUAL)
    scratch, batch, free = begin(lowered), new_batch(2, size=2), np.zeros((3, 2), np.int64)
    batch.allowed[1] = False
    advance((lowered, *scratch, STREAM, batch), 2, free, 0)
    assert batch.choices.tolist() == [[SKIP, POLICY_SKIP], [SKIP, NOT_ALLOWED]]
    scratch[0].progress[LEFT] = 0
    advance((lowered, *scratch, STREAM, batch), 1, free, 0)
    assert batch.choices[0].tolist() == [SKIP, UNAFFORDABLE]
    scratch[0].progress[ROUND] = lowered.horizon
    advance((lowered, *scratch, STREAM, batch), 1, free, 0)
    assert batch.choices[0].tolist() == [SKIP, PAST_HORIZON]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["equal costs", "unequal costs"])
@pytest.mark.parametrize("mask", [[True, True], [False, True], [False, False]])
def test_thompsons_probabilities_are_shares_of_many_draws(kind: str, mask: list[bool]) -> None:
    """256 draws against 5,000 others, within five standard errors of their difference."""
    lowered, draws = lower(al.thompson_rounded(), **TERMS[kind]), 5_000
    for context in range(3):
        scratch = played(lowered, rounds=11)
        many = np.zeros(3)
        for number in range(draws):
            key = np.uint64(round_key(np.uint64(4), number))
            many[decide(lowered, *scratch, context, key, np.array(mask))[0] + 1] += 1 / draws
        own = np.uint64(round_key(STREAM, scratch[0].progress[0]))
        drawn, _ = decide(lowered, *played(lowered, rounds=11), context, own, np.array(mask))
        action, share = decide_one(lowered, scratch, STREAM, context, mask, np.zeros(1))
        assert action == drawn  # the other draws change nothing
        assert share >= 1 / REDRAWS  # and what is done was among them
        expected = many[action + 1]
        error = math.sqrt(expected * (1 - expected) * (1 / REDRAWS + 1 / draws))
        assert abs(share - expected) <= 5 * error + 1e-9


COUNTS = st.lists(st.integers(0, 9), min_size=6, max_size=6)
MASKS = st.lists(st.booleans(), min_size=2, max_size=2)


@settings(max_examples=200)
@given(counts=COUNTS, mask=MASKS, left=st.integers(1, 40), data=st.data())
@pytest.mark.parametrize("weights", ["known", "empirical"])
@pytest.mark.slow
def test_a_restricted_request_ranks_within_the_whole_population(
    weights: str, counts: list[int], mask: list[bool], left: int, data: st.DataObject
) -> None:
    """Plain Python: UCB values of all contexts with all actions, but of this one with its own."""
    known = al.KnownContexts() if weights == "known" else al.EmpiricalContexts()
    policy = al.Policy(rewards=al.UCB(), contexts=known, allocation=al.AdaptiveLP())
    lowered = lower(policy, **EQUAL)
    state, context = new_state(lowered), data.draw(st.integers(0, 2))
    state.counts[:] = np.reshape(counts, (3, 2))
    state.sums[:] = [
        [data.draw(st.integers(0, 4 * int(n))) / 4 for n in row] for row in state.counts
    ]
    state.context_counts[:] = data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    t = int(state.context_counts.sum()) + 1
    state.progress[0], state.progress[LEFT] = t - 1, left
    level = math.sqrt(0.5 * math.log(t))
    index = [
        [
            state.sums[j, k] / n + level / math.sqrt(n) if (n := state.counts[j, k]) else 1.0
            for k in (0, 1)
        ]
        for j in range(3)
    ]
    weight, total = EQUAL["context_probs"].tolist(), 1.0
    if weights == "empirical":
        weight, total = state.context_counts.tolist(), float(t)
        weight[context] += 1.0
    value = max((index[context][k] for k in (0, 1) if mask[k]), default=0.0)
    set_back = max(index[context]) > value + 1e-12
    others = [j for j in range(3) if j != context or set_back]
    ahead = sum(weight[j] for j in others if max(index[j]) > value + 1e-12)
    level_with = sum(weight[j] for j in others if abs(max(index[j]) - value) <= 1e-12)
    level_with += 0.0 if set_back else weight[context]
    remaining = lowered.horizon - t + 1
    room = left / remaining * total - ahead
    share = 1.0 if left >= remaining or room >= level_with else max(0.0, room / (level_with or 1))
    if room <= 0.0 and left < remaining:
        share = 0.0
    best = [k for k in (0, 1) if mask[k] and index[context][k] >= value - 1e-12]
    if not best or value <= 0.0:
        best, share = [], 0.0
    scratch = (state, new_memo(lowered, state), None)
    key = np.uint64(round_key(STREAM, data.draw(st.integers(0, 10**6))))
    action, probability = decide(lowered, *scratch, context, key, np.array(mask))
    if action == SKIP:
        assert probability == pytest.approx(1 - share, abs=1e-9)
    else:
        assert action in best
        assert probability == pytest.approx(share / len(best), abs=1e-9)
    everything = np.ones(2, np.bool_)  # and the next request, with everything, knows of all
    fresh = (state, new_memo(lowered, state), None)
    assert decide(lowered, *scratch, context, key, everything) == decide(
        lowered, *fresh, context, key
    )
