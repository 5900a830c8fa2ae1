"""Refits: when they come, and that a fold of a log agrees to the last bit however it is cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import almoner as al
from almoner.kernels.live import CANCEL, LEARN, SET_LEFT, TAKE
from almoner.kernels.state import REFIT_AT, REWARDS, SEEN_SHARE, new_memo, new_state
from almoner.kernels.steps import SKIP, learn, take
from almoner.live.policy.live_policy import LivePolicy, Row
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms
from almoner.policy.lowering import lower

POOLED_UCB = al.Policy(
    rewards=al.UCB(), contexts=al.EmpiricalContexts(), allocation=al.AdaptiveLP(), prior=al.Pooled()
)
INSURED = al.Policy(
    rewards=al.InsuredWilson(), contexts=al.EmpiricalContexts(), allocation=al.EagerRounding()
)


def refits(policy: al.Policy, rewards: int) -> list[int]:
    """Return the numbers of rewards after which a policy was fitted anew."""
    lowered = lower(policy, horizon=10**6, budget=10**5, costs=np.ones((3, 2)))
    state, times = new_state(lowered), []
    memo = new_memo(lowered, state)
    for t in range(rewards):
        before = state.fit[REFIT_AT]
        learn(lowered, state, memo, t % 3, t % 2, t, float(t % 5 == 0), np.uint64(t))
        if state.fit[REFIT_AT] != before:
            times.append(t + 1)
    assert state.fit[REWARDS] == rewards
    return times


@pytest.mark.parametrize(
    "policy", [al.thrifty(), POOLED_UCB, INSURED], ids=["both", "prior", "index"]
)
def test_refits_come_when_rewards_have_grown_by_8_percent(policy: al.Policy) -> None:
    expected = [1]
    while (following := math.ceil(1.08 * expected[-1] + 1)) <= 3000:
        expected.append(following)
    assert refits(policy, 3000) == expected


def test_the_number_of_refits_grows_with_the_logarithm_of_rewards() -> None:
    """A factor of 8 takes log 8 / log 1.08 = 27.02 refits once the steps are whole numbers."""
    times = np.array(refits(al.thrifty(), 16_000))
    late = np.sum((times > 2000) & (times <= 16_000))
    assert late == pytest.approx(math.log(8) / math.log(1.08), abs=1.5)
    assert len(times) < math.log(16_000) / math.log(1.08)


@pytest.mark.parametrize("name", ["wilson_eager", "ucb_rounded", "thompson_rounded", "greedy"])
def test_nothing_is_fitted_for_other_policies(name: str) -> None:
    assert refits(al.recipe(name), 50) == []
    state = new_state(lower(al.recipe(name), horizon=9, budget=9, costs=np.ones((3, 2))))
    for field in ("prior_means", "prior_counts", "action_shares", "context_effects", "action_fit"):
        assert getattr(state, field).size == 0


def test_the_share_of_rewards_seen_counts_those_that_are_awaited() -> None:
    """Three actions were taken and one was rewarded: (1 + 1) / (1 + 2 + 1)."""
    lowered = lower(al.thrifty(), horizon=50, budget=20, costs=np.ones((2, 2)))
    state = new_state(lowered)
    memo = new_memo(lowered, state)
    for context in (0, 1, 1):
        take(lowered, state, memo, None, context, 0)
    learn(lowered, state, memo, 1, 0, 1, 1.0, np.uint64(0))
    assert state.fit[SEEN_SHARE] == 0.5


# Two processes may read a log in other batches, and see a context before its first arrival.


class Log(NamedTuple):
    """Rows for the kernels, with the reward of each, and the contexts known before each row."""

    rows: list[Row]
    rewards: list[float]
    known: list[int]


def log_of(seed: int, *, size: int, contexts: int) -> Log:
    """Return rows in which contexts come one after the other, with late rewards and bills."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    rewards, known, waiting = list[float](), list[int](), list[tuple[int, int, int]]()
    left, t, seen = 400, 0, 1
    while len(rows) < size:
        kind, reward = rng.choice([TAKE, LEARN, CANCEL, SET_LEFT], p=[0.5, 0.4, 0.05, 0.05]), 0.0
        if kind in (LEARN, CANCEL) and not waiting:
            kind = TAKE
        if kind == TAKE:
            seen = min(contexts, seen + int(rng.random() < 0.1))
            context = seen - 1 if rng.random() < 0.3 else int(rng.integers(seen))
            action = int(rng.integers(-1, 2))
            rows.append((TAKE, context, action, t))
            if action != SKIP:
                waiting.append((context, action, t))
            t, left = t + 1, left - int(action != SKIP)
        elif kind == SET_LEFT:
            left += int(rng.integers(-2, 3))
            rows.append((SET_LEFT, left, SKIP, -1))
        else:
            context, action, then = waiting.pop(int(rng.integers(len(waiting))))
            reward = float(rng.choice([0.0, 1.0, 0.3])) if kind == LEARN else 0.0
            rows.append((kind, context, action, then if kind == LEARN else left))
        rewards.append(reward)
        known.append(seen)
    return Log(rows, rewards, known)


TERMS: dict[str, Any] = {"contexts": ["0"], "horizon": 500, "budget": 400, "unit": 1}
CASES: dict[str, dict[str, Any]] = {
    "equal costs": {"actions": {"x": 1, "y": 1}},
    "unequal costs": {"actions": {"x": 1, "y": 3}},
    "learned defaults": {"actions": {"x": 1, "y": 1}, "default_rewards": "learned"},
    "insured, no prior": {"actions": {"x": 1, "y": 1}, "policy": INSURED},
    "prior, not insured": {"actions": {"x": 1, "y": 1}, "policy": POOLED_UCB},
    "neither": {"actions": {"x": 1, "y": 1}, "policy": al.wilson_eager()},
}


def folded(
    terms: Terms, log: Log, ends: list[int], *, ahead: int = 0, restore: bool = False
) -> LivePolicy:
    """Fold a log in batches that end after these rows.

    Contexts are admitted at the start of the batch that they come in, or up to ``ahead`` of them
    before. With ``restore`` every batch begins from a snapshot of the state.
    """
    policy, start = LivePolicy(terms), 0
    most = log.known[-1]
    for end in [*ends, len(log.rows)]:
        if restore:
            table, names = policy.to_dict(), tuple(policy.contexts)
            policy = LivePolicy(terms)
            policy.reset(names)
            policy.restore(table)
        if end > start:
            for number in range(len(policy.contexts), min(most, log.known[end - 1] + ahead)):
                policy.admit(str(number))
            policy.replay(log.rows[start:end], log.rewards[start:end])
        start = end
    return policy


@dataclass
class Arrival:
    """An arrival to decide."""

    context: str
    available: None = None
    key: None = None
    visitor: None = None
    own_costs: None = None
    row: None = None


def decisions(policy: LivePolicy) -> list[Any]:
    """Return the decisions for an arrival of each context, in turn."""
    return [
        next(iter(policy.choose([Arrival(name)], horizon=500, left=400)))[:2]
        for name in list(policy.contexts)
    ]


@pytest.mark.parametrize("case", CASES)
def test_a_log_folded_in_any_batches_gives_the_same_state_to_the_last_bit(case: str) -> None:
    terms = make_terms(**{**TERMS, **CASES[case]}, new_contexts=True)

    @settings(max_examples=15)
    @given(
        seed=st.integers(0, 2**32),
        size=st.integers(2, 160),
        ends=st.lists(st.integers(1, 160), max_size=12).map(sorted),
        ahead=st.sampled_from([0, 1, 9]),
        restore=st.booleans(),
    )
    def check(seed: int, size: int, ends: list[int], ahead: int, restore: bool) -> None:
        log = log_of(seed, size=size, contexts=9)
        one_by_one = folded(terms, log, list(range(1, size)))
        ends = [end for end in ends if end < size]
        other = folded(terms, log, ends, ahead=ahead, restore=restore)
        assert other.to_dict() == one_by_one.to_dict()
        assert decisions(other) == decisions(one_by_one)

    check()


def test_a_context_admitted_between_refits_has_the_prior_that_the_last_one_gives() -> None:
    """Whether it was admitted before that refit, when nothing was known of it, or after."""
    terms = make_terms(**TERMS, actions={"x": 1, "y": 1}, new_contexts=True)
    early, late = LivePolicy(terms), LivePolicy(terms)
    early.admit("1")
    rows: list[Row] = [(TAKE, 0, 0, 0), (LEARN, 0, 0, 0)]
    for policy in (early, late):
        policy.replay(rows, [0.0, 1.0])
    late.admit("1")
    assert early.state.prior_counts[1].min() > 0.0
    assert late.to_dict() == early.to_dict()
    arrivals = [Arrival("1"), Arrival("0"), Arrival("1")]
    assert [*late.choose(arrivals, horizon=500, left=400)] == [
        *early.choose(arrivals, horizon=500, left=400)
    ]
