"""The memo makes decisions fast and never another one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from support.plain_kernels import plain
from support.problems import PAPER_TEN, unit_problems

import almoner as al
from almoner.kernels.indices import clock_level
from almoner.kernels.pair_index import index_of, weights_of
from almoner.kernels.posterior import LIKELY
from almoner.kernels.ranking import bound_own_value
from almoner.kernels.state import FROZEN, LEFT, ROUND, Memo, State, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, _clear_share, decide, learn, take
from almoner.policy.lowering import LoweredPolicy, lower

RARE = al.Problem(
    context_probs=[0.9, 0.04, 0.03, 0.03],
    reward_means=[[0.3], [0.35], [0.6], [0.2]],
    horizon=400,
    budget=60,
)
"""Contexts that come a few times only: each arrival doubles their shares, or nearly."""

WILSON_SAMPLED = al.Policy(
    rewards=al.Wilson(), contexts=al.EmpiricalContexts(), allocation=al.AdaptiveLP()
)
WILSON_TOLD = al.Policy(rewards=al.Wilson(), contexts=al.KnownContexts(), allocation=al.RoundedLP())
WILSON_FROZEN = al.Policy(
    rewards=al.Wilson(), contexts=al.TruncatedContexts(until=30), allocation=al.EagerRounding()
)
POLICIES = {
    **{name: make() for name, make in al.RECIPES.items()},
    "wilson_sampled": WILSON_SAMPLED,
    "wilson_told": WILSON_TOLD,
    "wilson_frozen": WILSON_FROZEN,
}
BRACKETED = sorted(
    set(POLICIES) - {"thompson_rounded", "epsilon_first_alp", "epsilon_first_printed"}
)

Watch = Callable[[LoweredPolicy, State, Memo, int], None]


def suited(problem: al.Problem, policy: al.Policy) -> al.Problem:
    """Return the problem, or one of two contexts with its means where the policy asks for two."""
    if not isinstance(policy.allocation, al.Procrastinate):
        return problem
    return al.Problem(
        context_probs=[0.3, 0.7],
        reward_means=np.resize(problem.reward_means, (2, problem.reward_means.shape[1])),
        horizon=problem.horizon,
        budget=problem.budget,
    )


def long_problems(policy: al.Policy) -> st.SearchStrategy[al.Problem]:
    """Problems of up to 240 rounds, where brackets last for several of them."""
    problems: st.SearchStrategy[al.Problem] = unit_problems()
    return problems.map(lambda problem: suited(problem.scaled(4 * problem.horizon), policy))


def drive(
    problem: al.Problem,
    policy: al.Policy,
    seed: int,
    *,
    renew: bool = False,
    mask: bool = False,
    watch: Watch | None = None,
) -> list[tuple[int, float]]:
    """Return actions and probabilities, with one memo or with a new one before every decision.

    With a mask every action is said to be available, one by one.
    """
    rng = np.random.default_rng(seed)
    lowered = lower(policy, **problem.terms())
    state = new_state(lowered)
    memo = new_memo(lowered, state)
    probs = problem.context_probs / problem.context_probs.sum()
    contexts = rng.choice(len(probs), size=lowered.horizon, p=probs)
    keys = rng.integers(0, 2**64, size=lowered.horizon, dtype=np.uint64)
    noise = rng.random(lowered.horizon)
    available = np.ones(lowered.costs.shape[1], np.bool_) if mask else None
    done = []
    for t, (context, key, luck) in enumerate(zip(contexts.tolist(), keys, noise, strict=True)):
        if renew:
            memo = new_memo(lowered, state)
        hulls = new_hulls(lowered)
        action, probability = decide(lowered, state, memo, hulls, context, key, available)
        if watch is not None and state.progress[LEFT] > 0:
            watch(lowered, state, memo, context)
        take(lowered, state, memo, new_hulls(lowered), context, action)
        if action != SKIP:
            reward = float(luck < problem.reward_means[context, action])
            learn(lowered, state, memo, context, action, t, reward, key)
        done.append((action, probability))
    return done


def assert_same(problem: al.Problem, policy: al.Policy, seed: int) -> None:
    kept = drive(problem, policy, seed)
    renewed = drive(problem, policy, seed, renew=True)
    assert [action for action, _ in kept] == [action for action, _ in renewed]
    # weights are summed in another order where a comparison was open
    np.testing.assert_allclose([p for _, p in kept], [p for _, p in renewed], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_a_memo_that_is_kept_decides_as_a_new_one(name: str) -> None:
    @settings(max_examples=8)
    @given(problem=long_problems(POLICIES[name]), seed=st.integers(0, 2**32))
    def check(problem: al.Problem, seed: int) -> None:
        assert_same(problem, POLICIES[name], seed)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thrifty", "wilson_sampled", "wilson_told", "kl_ucb_rounded"])
@pytest.mark.parametrize("problem", [RARE, PAPER_TEN(400, 0.5)], ids=["rare", "ten"])
def test_a_kept_memo_keeps_up_with_contexts_that_come_suddenly(
    name: str, problem: al.Problem
) -> None:
    for seed in range(8):
        assert_same(problem, POLICIES[name], seed)


def exact_level(lowered: LoweredPolicy, state: State, context: int, arrived: bool) -> float:
    """Return the level of a context in the present round, from the definitions alone."""
    t = int(state.progress[ROUND]) + 1
    if lowered.reward not in (al.Wilson.code, al.InsuredWilson.code, al.HorizonUCB.code):
        return clock_level(lowered.reward, lowered.width, t)
    share = float(lowered.context_weights[context])
    if lowered.context in (al.EmpiricalContexts.code, al.TruncatedContexts.code):
        frozen = int(state.progress[FROZEN])
        share = float(state.context_counts[context]) / (frozen or t)
        share += arrived / t if frozen == 0 else 0
    to_come = share * (lowered.horizon - t + 1)
    if lowered.reward == al.HorizonUCB.code:
        return to_come
    return max(1.0, min(to_come, float(state.progress[LEFT])))


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_brackets_alone_decide_as_indices_do(name: str) -> None:
    """Given a mask of actions, a decision computes the indices of the context that has arrived."""
    policy = POLICIES[name]

    @settings(max_examples=4)
    @given(problem=long_problems(policy), seed=st.integers(0, 2**32))
    @example(problem=suited(PAPER_TEN(3000, 0.5), policy), seed=5)
    def check(problem: al.Problem, seed: int) -> None:
        briefly, fully = drive(problem, policy, seed), drive(problem, policy, seed, mask=True)
        assert [action for action, _ in briefly] == [action for action, _ in fully]
        np.testing.assert_allclose(
            [p for _, p in briefly], [p for _, p in fully], rtol=0, atol=1e-12
        )

    check()


@pytest.mark.parametrize(
    ("name", "least"), [("wilson_eager", 0.7), ("kl_ucb_rounded", 0.6), ("thrifty", 0.2)]
)
def test_brackets_alone_decide_many_rounds(name: str, least: float) -> None:
    decided = []

    def watch(lowered: LoweredPolicy, state: State, memo: Memo, context: int) -> None:
        kernels, t = (lowered, state, memo), int(state.progress[ROUND]) + 1
        weights, total, arrival = plain(weights_of)(lowered, state, t)
        weight = weights[context] + arrival, total, arrival
        level = exact_level(lowered, state, context, arrived=True)
        low, high, action, candidates = plain(bound_own_value)(*kernels, context, level)
        share = plain(_clear_share)(*kernels, context, weight, low, high, action)
        decided.append(share == 0.0 or (share == 1.0 and candidates == 1))

    drive(PAPER_TEN(3000, 0.5), POLICIES[name], 5, watch=watch)
    assert np.mean(decided) > least


def assert_bracketed(lowered: LoweredPolicy, state: State, memo: Memo, present: int) -> None:
    contexts, actions = lowered.costs.shape
    exact_index = plain(index_of)
    for context in range(contexts):
        level = exact_level(lowered, state, context, arrived=context == present)
        values = []
        for action in range(actions):
            value = exact_index(lowered, state, memo, context, action, level, np.uint64(0))
            least, most = memo.least[context, action], memo.most[context, action]
            assert least - 1e-12 <= value <= most + 1e-12
            values.append(value)
        assert memo.low[context] - 1e-12 <= max(values) <= memo.high[context] + 1e-12


@pytest.mark.parametrize("name", BRACKETED)
@pytest.mark.parametrize("problem", [RARE, PAPER_TEN(300, 0.5)], ids=["rare", "ten"])
@pytest.mark.slow
def test_brackets_contain_the_exact_values_in_every_round(name: str, problem: al.Problem) -> None:
    policy = POLICIES[name]
    for seed in range(2):
        drive(suited(problem, policy), policy, seed, watch=assert_bracketed)


def test_thompson_s_brackets_hold_with_high_probability() -> None:
    """A draw is beyond either end with a probability of at most e^-8, by its posterior."""
    lowered = lower(POLICIES["thompson_rounded"], **RARE.terms())
    state = new_state(lowered)
    rng = np.random.default_rng(1)
    state.counts[:] = rng.integers(0, 200, lowered.costs.shape)
    state.sums[:] = np.floor(state.counts * rng.random(lowered.costs.shape))
    memo = new_memo(lowered, state)
    decide(lowered, state, memo, new_hulls(lowered), 0, np.uint64(1))
    posterior = stats.beta(1 + state.sums, 1 + state.counts - state.sums)
    assert np.all(posterior.cdf(memo.least) <= LIKELY)
    assert np.all(posterior.sf(memo.most) <= LIKELY)
    assert np.array_equal(memo.low, memo.least.max(axis=1))
    assert np.array_equal(memo.high, memo.most.max(axis=1))


@pytest.mark.parametrize("name", BRACKETED)
def test_brackets_hold_whatever_comes_between_two_decisions(name: str) -> None:
    """Arrivals, bills, refunds and rewards of a log, and forecasts, all without a decision."""
    policy = POLICIES[name]
    problem = suited(RARE.replace(horizon=900, budget=300), policy)
    lowered = lower(policy, **problem.terms())
    for seed in range(4):
        rng = np.random.default_rng(seed)
        state = new_state(lowered)
        state.counts[:], state.sums[:] = 20.0, 20 * rng.random(lowered.costs.shape)
        state.context_counts[:] = [289.0, *[1.0] * (len(lowered.costs) - 1)][: len(lowered.costs)]
        state.progress[ROUND] = int(state.context_counts.sum())
        memo, now = new_memo(lowered, state), lowered
        for t in range(200):
            context = int(rng.integers(len(lowered.costs)))
            if rng.random() < 0.3:
                decide(now, state, memo, None, context, np.uint64(t))
                assert_bracketed(now, state, memo, context)
            if rng.random() < 0.5:
                take(now, state, memo, None, context, SKIP)
            if rng.random() < 0.2:
                change = int(rng.integers(-8, 9))
                state.progress[LEFT] = min(300, max(1, int(state.progress[LEFT]) + change))
            if rng.random() < 0.2:
                learn(now, state, memo, context, 0, t, float(rng.random()), np.uint64(t))
            if rng.random() < 0.05:
                now = lowered._replace(horizon=int(rng.integers(600, 1200)))
