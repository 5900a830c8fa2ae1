"""What a live campaign asks of the kernels, against the steps themselves and plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from agents import state_of
from hypothesis import given, settings
from hypothesis import strategies as st

import almoner as al
from almoner.core.draws import round_key
from almoner.core.live import (
    BOOKED,
    LEARNED,
    REDRAWS,
    SYNCED,
    WITHDRAWN,
    advance,
    redraw,
    replay,
)
from almoner.core.state import LEFT, Hulls, Memo, State, new_hulls, new_memo, new_state
from almoner.core.steps import SKIP, decide, learn, take
from almoner.policy.plan import Plan, applicable, make_plan

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
TERMS = {"equal costs": EQUAL, "unequal costs": PRICED, "learned defaults": LEARNING}

CASES = [
    pytest.param(name, kind, id=f"{name}, {kind}")
    for kind, terms in TERMS.items()
    for name in al.RECIPES
    if applicable(al.recipe(name), **terms)
]

Scratch = tuple[State, Memo, Hulls | None]


def begin(plan: Plan) -> Scratch:
    state = new_state(plan)
    return state, new_memo(plan, state), new_hulls(plan)


def arrivals() -> Iterator[tuple[int, Any, float]]:
    """Contexts, masks and rewards, the same every time."""
    generator = np.random.default_rng(5)
    while True:
        mask = generator.random(2) < 0.8
        yield int(generator.choice(3)), mask, float(generator.integers(0, 5) / 4)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_advance_is_decide_and_take(name: str, kind: str) -> None:
    plan = make_plan(al.recipe(name), **TERMS[kind])
    live, steps, price = begin(plan), begin(plan), np.zeros(1)
    for t, (context, mask, reward) in enumerate(islice(arrivals(), 60)):
        key = np.uint64(round_key(STREAM, t))
        done = advance(plan, *live, STREAM, context, mask, price)
        expected = decide(plan, *steps, context, key, mask)
        take(plan, *steps, context, expected[0])
        assert (t, done) == (t, expected)
        for state, memo, _ in (live, steps):
            learn(plan, state, memo, context, done[0], t, reward, key)
    assert state_of(live[0]) == state_of(steps[0])


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_replay_is_taking_and_learning_one_by_one(name: str, kind: str) -> None:
    """Rewards come up to nine rounds late; every tenth round a bill changes what is left.

    And every tenth round the action of five rounds ago, if it was one, is withdrawn.
    """
    plan = make_plan(al.recipe(name), **TERMS[kind])
    live, price = begin(plan), np.zeros(1)
    rows, rewards, open_ones = [], [], []
    for t, (context, mask, reward) in enumerate(islice(arrivals(), 60)):
        action, _ = advance(plan, *live, STREAM, context, mask, price)
        rows.append((BOOKED, context, action, t))
        open_ones.append((context, action, t))
        rewards.append(0.0)
        if t % 10 == 9:
            left = max(0, int(live[0].clock[LEFT]) - 1)
            live[0].clock[LEFT] = left
            rows.append((SYNCED, left, SKIP, -1))
            rewards.append(0.0)
            if open_ones[5][1] != SKIP:
                late, done, _ = open_ones.pop(5)
                live[0].clock[LEFT] += 1
                live[0].pending[late, done] -= 1
                rows.append((WITHDRAWN, late, done, left + 1))
                rewards.append(0.0)
            for late, done, then in reversed(open_ones):
                key = np.uint64(round_key(STREAM, then))
                learn(plan, live[0], live[1], late, done, then, reward, key)
                rows.append((LEARNED, late, done, then))
                rewards.append(reward)
            open_ones = []
    again = begin(plan)
    replay(plan, *again, STREAM, np.array(rows, np.int64), np.array(rewards))
    assert state_of(again[0]) == state_of(live[0])


def played(plan: Plan, *, rounds: int) -> Scratch:
    """Return a state with something learned, by taking whatever comes up."""
    scratch = begin(plan)
    for t, (context, _, reward) in enumerate(islice(arrivals(), rounds)):
        action = t % plan.costs.shape[1]
        take(plan, *scratch, context, action)
        learn(plan, scratch[0], scratch[1], context, action, t, reward, np.uint64(t))
    return scratch


@pytest.mark.parametrize("kind", ["equal costs", "unequal costs"])
@pytest.mark.parametrize("mask", [[True, True], [False, True], [False, False]])
def test_redrawn_shares_are_those_of_many_draws(kind: str, mask: list[bool]) -> None:
    """256 draws against 5,000 others, within five standard errors of their difference."""
    plan = make_plan(al.thompson_rounded(), **TERMS[kind])
    scratch, shares, draws = played(plan, rounds=11), np.empty(3), 5_000
    for context in range(3):
        redraw(plan, *scratch, STREAM, context, np.array(mask), shares)
        assert math.fsum(shares) == 1.0
        many = np.zeros(3)
        for number in range(draws):
            key = np.uint64(round_key(np.uint64(4), number))
            many[decide(plan, *scratch, context, key, np.array(mask))[0] + 1] += 1 / draws
        error = np.sqrt(many * (1 - many) * (1 / REDRAWS + 1 / draws))
        assert np.all(np.abs(shares - many) <= 5 * error + 1e-9)
        action, _ = advance(plan, *played(plan, rounds=11), STREAM, context, np.array(mask), error)
        assert shares[action + 1] >= 1 / REDRAWS  # what is done was among the draws


def test_redrawing_changes_nothing() -> None:
    for terms in (EQUAL, PRICED):
        plan = make_plan(al.thompson_rounded(), **terms)
        once, twice, price = played(plan, rounds=11), played(plan, rounds=11), np.zeros(1)
        for context in (0, 2, 1, 1):
            redraw(plan, *twice, STREAM, context, np.ones(2, np.bool_), np.empty(3))
            ours, theirs = (
                advance(plan, *scratch, STREAM, context, np.ones(2, np.bool_), price)
                for scratch in (once, twice)
            )
            assert ours == theirs
        assert state_of(once[0]) == state_of(twice[0])


COUNTS = st.lists(st.integers(0, 9), min_size=6, max_size=6)
MASKS = st.lists(st.booleans(), min_size=2, max_size=2)


@settings(max_examples=200)
@given(counts=COUNTS, mask=MASKS, left=st.integers(1, 40), data=st.data())
@pytest.mark.parametrize("weights", ["known", "empirical"])
def test_a_restricted_request_ranks_within_the_whole_population(
    weights: str, counts: list[int], mask: list[bool], left: int, data: st.DataObject
) -> None:
    """Plain Python: UCB values of all contexts with all actions, but of this one with its own."""
    known = al.KnownContexts() if weights == "known" else al.EmpiricalContexts()
    policy = al.Policy(rewards=al.UCB(), contexts=known, allocation=al.AdaptiveLP())
    plan = make_plan(policy, **EQUAL)
    state, context = new_state(plan), data.draw(st.integers(0, 2))
    state.counts[:] = np.reshape(counts, (3, 2))
    state.sums[:] = [
        [data.draw(st.integers(0, 4 * int(n))) / 4 for n in row] for row in state.counts
    ]
    state.context_counts[:] = data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    t = int(state.context_counts.sum()) + 1
    state.clock[0], state.clock[LEFT] = t - 1, left
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
    remaining = plan.horizon - t + 1
    room = left / remaining * total - ahead
    share = 1.0 if left >= remaining or room >= level_with else max(0.0, room / (level_with or 1))
    if room <= 0.0 and left < remaining:
        share = 0.0
    best = [k for k in (0, 1) if mask[k] and index[context][k] >= value - 1e-12]
    if not best or value <= 0.0:
        best, share = [], 0.0
    scratch = (state, new_memo(plan, state), None)
    key = np.uint64(round_key(STREAM, data.draw(st.integers(0, 10**6))))
    action, probability = decide(plan, *scratch, context, key, np.array(mask))
    if action == SKIP:
        assert probability == pytest.approx(1 - share, abs=1e-9)
    else:
        assert action in best
        assert probability == pytest.approx(share / len(best), abs=1e-9)
    everything = np.ones(2, np.bool_)  # and the next request, with everything, knows of all
    fresh = (state, new_memo(plan, state), None)
    assert decide(plan, *scratch, context, key, everything) == decide(plan, *fresh, context, key)
