"""Simulation of an environment of one's own: replications played in Python, round by round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from almoner.money import budget_left
from almoner.policy.base import Policy
from almoner.policy.lowering import LoweredPolicy, for_kernels
from almoner.problem import Problem
from almoner.simulation.curve import Curve
from almoner.simulation.own_environment import OwnRounds, PlainEnvironment
from almoner.simulation.python_policy import PlainPolicy, play_rounds
from almoner.simulation.regret import Benchmark, Sample
from almoner.simulation.replications import environment_of, root_key
from almoner.simulation.runs import Runs, Trace, unusable
from almoner.simulation.traced import add_pairs, noted_rounds
from almoner.types import Ints

__all__ = ["simulate_environment", "trace_environment"]


def simulate_environment(
    environment: PlainEnvironment,
    benchmark: Benchmark,
    policy: Policy | PlainPolicy,
    player: LoweredPolicy | PlainPolicy,
    *,
    runs: int,
    seed: int,
    marks: Ints,
    rounds: Ints,
    progress: Callable[[int], object],
) -> Runs:
    """Play replications of a policy on an environment, and measure regret from the rewards."""
    terms = benchmark.problem
    reward, drawn, wrong, left = np.zeros((4, runs))
    left_at, so_far = np.empty((runs, len(marks))), np.empty((runs, len(rounds)))
    pairs = np.zeros((terms.costs.shape[0], terms.costs.shape[1] + 1), np.int64)
    wrong_of = environment_of(terms)[0].wrong
    for run in range(runs):
        stream = OwnRounds(environment, terms, seed, run)
        trace = _trace(stream, terms, player, seed, run)
        worth = stream.worth(trace.contexts, trace.actions, trace.rewards)
        reward[run], drawn[run], left[run] = worth.sum(), trace.rewards.sum(), trace.budget_left[-1]
        wrong[run] = wrong_of[trace.contexts, trace.actions + 1].sum()
        left_at[run] = noted_rounds(terms, trace, worth, marks).left
        so_far[run] = noted_rounds(terms, trace, worth, rounds + 1).total
        add_pairs(pairs, trace)
        progress(1)
    regret = benchmark.value - reward
    curve = Curve(rounds=rounds, values=benchmark.value * rounds / terms.horizon - so_far)
    return Runs(
        problem=terms,
        policy=policy,
        seed=seed,
        against=benchmark.against.value,
        estimator="raw",
        world=environment,
        reward=Sample(reward),
        reward_drawn=drawn,
        spend=terms.budget - left,
        unusable=unusable(left, terms.costs),
        regret=Sample(regret),
        regret_actions=Sample(wrong),
        regret_contexts=Sample(regret - wrong),
        pairs=np.roll(pairs / runs, -1, axis=1),
        budget_left=left_at,
        make_curve=lambda: curve,
    )


def trace_environment(
    environment: PlainEnvironment,
    terms: Problem,
    player: LoweredPolicy | PlainPolicy,
    *,
    seed: int,
    run: int,
) -> Trace:
    """Return every round of one replication on an environment."""
    return _trace(OwnRounds(environment, terms, seed, run), terms, player, seed, run)


def _trace(
    stream: OwnRounds,
    terms: Problem,
    player: LoweredPolicy | PlainPolicy,
    seed: int,
    run: int,
) -> Trace:
    from almoner.kernels.environment import streams_of

    choices = np.uint64(streams_of(root_key(seed), run).choices)
    if isinstance(player, LoweredPolicy):
        return play_compiled_rounds(terms, player, stream.contexts, stream.reward, choices)
    return play_rounds(terms, player, stream.contexts, stream.reward, choices)


def play_compiled_rounds(
    problem: Problem,
    lowered: LoweredPolicy,
    contexts: Ints,
    reward_of: Callable[[int, int, int], float],
    choices: np.uint64,
) -> Trace:
    """Play given contexts with a compiled policy; ``reward_of`` takes round, context, action."""
    from almoner.jit import specialize
    from almoner.kernels.rounds import decide_round, learn_round
    from almoner.kernels.state import new_hulls, new_memo, new_state

    state, kernel_policy = new_state(lowered), for_kernels(lowered)
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    decided = (kernel_policy, state, memo, hulls, choices, 0)
    learned = (kernel_policy, state, memo, choices, 0, 0, 0.0)
    decide, learn = specialize(decide_round, *decided), specialize(learn_round, *learned)
    horizon = problem.horizon
    actions, numbers = np.empty(horizon, np.int64), np.empty((horizon, 3))
    for t, context in enumerate(contexts.tolist()):
        action, probability, left = decide(kernel_policy, state, memo, hulls, choices, context)
        reward = reward_of(t + 1, context, action)
        learn(kernel_policy, state, memo, choices, context, action, reward)
        actions[t], numbers[t] = action, (probability, reward, left)
    left_after = budget_left(problem.budget, lowered, numbers[:, 2])
    return Trace(
        contexts=contexts,
        actions=actions,
        probabilities=numbers[:, 0],
        rewards=numbers[:, 1],
        budget_left=left_after,
        unusable=float(unusable(left_after[-1], problem.costs)),
    )
