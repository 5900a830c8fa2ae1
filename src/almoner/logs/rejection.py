"""Replay of a log by rejection, for policies of the kernels and for policies in Python."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput, InvalidPolicy
from almoner.logs.basis import Basis
from almoner.logs.fit_problem import fit_problem
from almoner.logs.log import Log
from almoner.logs.replay import Replay
from almoner.money import amounts, budget_left, usable_grid
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts
from almoner.policy.lowering import for_kernels, lower
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem
from almoner.simulation.python_policy import SKIP, Arrival, PlainPolicy
from almoner.simulation.replications import root_key
from almoner.types import Floats, Ints

__all__ = ["fitted_problem", "halves_of", "knows_statistics", "replay_by_rejection"]

MARGIN = 3.0
"""Standard deviations by which the horizon falls short of the rows to be accepted on average."""

FEWEST = 30
"""Fewest rounds of a replay: fewer say nothing."""

SHUFFLES = 10
"""Shuffles of the rows from which the luck of a learner is estimated."""

RARE = 0.01
"""Share of the rows that may be left out because their contexts lack an action."""


class _Rounds(NamedTuple):
    """The accepted rows of one replay, the rows passed, and the money spent."""

    rows: Ints
    passed: int
    spend: float


def replay_by_rejection(
    log: Log, policy: Policy | PlainPolicy, name: Any, *, budget: float, runs: int, seed: int
) -> Replay:
    """Return the replay of a policy: see `almoner.replay`."""
    _refuse_certainty(log)
    ratio, total = budget / len(log), len(log)
    log, notes = _with_all_actions(log)
    halves = halves_of(log, seed) if knows_statistics(policy) else [(log, log)]
    smallest = float(log.probabilities.min())
    horizon = min(_horizon(len(judged), smallest) for _, judged in halves)
    rewards, spends, passed, rounds = [], [], 0, 0
    for fitted, judged in halves:
        problem = fitted_problem(fitted, judged, horizon, ratio)
        for run in range(runs):
            one = _replayed(judged, problem, policy, smallest, seed, run)
            rewards.append(judged.rewards[one.rows])
            spends.append(one.spend)
            passed, rounds = passed + one.passed, rounds + len(one.rows)
    drawn = np.concatenate(rewards)
    accepted = rounds / runs
    chance = float(drawn.std() / math.sqrt(accepted))  # runs use the same rows: they count once
    paths = 0.0 if len(halves) > 1 else _path_noise(log, policy, smallest, horizon, ratio, seed)
    basis = Basis(
        rows=total,
        matches=accepted,
        effective=accepted,
        smallest_probability=smallest,
        warnings=(*log.notes, *notes, *_mismatch(rounds, passed, smallest, runs)),
    )
    return Replay.of_rounds(
        float(drawn.mean()),
        math.hypot(chance, paths),
        policy=name,
        accepted=accepted,
        horizon=horizon,
        budget=ratio * horizon,
        spend=float(np.mean(spends)),
        runs=runs,
        basis=basis,
    )


def _path_noise(
    log: Log, policy: Policy | PlainPolicy, smallest: float, horizon: int, ratio: float, seed: int
) -> float:
    """Return the standard deviation of the mean reward over shuffles of the rows.

    A learner that settles on something by luck does so at another point of every order of rows,
    of which the log has one.
    """
    means = []
    for shuffle in range(SHUFFLES):
        order = np.random.default_rng((seed, 4, shuffle)).permutation(len(log))
        shuffled = log.indices(order)
        problem = fitted_problem(shuffled, shuffled, horizon, ratio)
        one = _replayed(shuffled, problem, policy, smallest, seed, shuffle)
        means.append(shuffled.rewards[one.rows].mean())
    return float(np.std(means, ddof=1))


def knows_statistics(policy: Policy | PlainPolicy) -> bool:
    """Return whether a policy takes statistics of the problem as known, and has none itself."""
    if not isinstance(policy, Policy):
        return False
    rewards, contexts = policy.rewards, policy.contexts
    return (isinstance(rewards, KnownRewards) and rewards.means is None) or (
        isinstance(contexts, KnownContexts) and contexts.probs is None
    )


def _refuse_certainty(log: Log) -> None:
    if np.all(log.probabilities == 1.0):
        raise InvalidInput(
            f"{log.source}: replay needs actions that were drawn at random, and every row has "
            "probability 1: what other actions would have brought is unknown; log a campaign with "
            "explore= or holdout="
        )


def _with_all_actions(log: Log) -> tuple[Log, list[str]]:
    """Return the log without the few contexts that lack an action; refuse it if they are many."""
    pairs = np.zeros((len(log.contexts), len(log.actions) + 1), np.bool_)
    codes = log.cells.codes
    pairs[codes, log.taken + 1] = True
    lacking = ~pairs.all(axis=1)
    if not lacking.any():
        return log, []
    rows = np.flatnonzero(~lacking[codes])
    if len(log) - len(rows) > RARE * len(log):
        context = int(np.argmax(lacking))
        action = ("skipping", *log.actions)[int(np.argmin(pairs[context]))]
        raise InvalidInput(
            f"{log.source}: replay needs every action in every context, and the log never has "
            f"{action!r} for {log.contexts[context]!r}; leave the action out, use fewer contexts, "
            "or see al.frontier, which plans with the actions that are there"
        )
    left_out = [name for name, out in zip(log.contexts, lacking, strict=True) if out]
    return log.indices(rows), [
        f"{len(log) - len(rows):,} rows are left out, whose contexts lack an action: "
        + ", ".join(left_out[:3])
    ]


def _horizon(rows: int, smallest: float) -> int:
    """Return the rounds that will be accepted almost surely: binomial, less some deviations."""
    mean = rows * smallest
    rounds = math.floor(mean - MARGIN * math.sqrt(mean * (1.0 - smallest)))
    if rounds < FEWEST:
        raise InvalidInput(
            f"replay needs at least {FEWEST} rounds, and {rows:,} rows whose smallest probability "
            f"is {smallest:.3g} give {max(rounds, 0)}; give horizon=… for an estimate by a model, "
            "or see al.frontier"
        )
    return rounds


def halves_of(log: Log, seed: int) -> list[tuple[Log, Log]]:
    """Return random halves of a log, to fit on one and to judge on the other, both ways."""
    order = np.random.default_rng((seed, 2)).permutation(len(log))
    first, second = (log.indices(np.sort(order[half::2])) for half in range(2))
    return [(first, second), (second, first)]


def fitted_problem(fitted: Log, judged: Log, horizon: int, ratio: float) -> Problem:
    """Return the terms of a replay, with the statistics of one half for policies that need them."""
    if fitted.contexts != judged.contexts:
        raise InvalidInput(
            f"{fitted.source}: replay of known statistics needs every context in both halves of "
            "the log; use fewer contexts, or a policy that learns"
        )
    columns = fitted.split
    return fit_problem(fitted, budget=ratio * horizon, horizon=horizon, context=columns)


def _replayed(
    log: Log, problem: Problem, policy: Policy | PlainPolicy, smallest: float, seed: int, run: int
) -> _Rounds:
    low, high = log.reward_range
    rewards = (log.rewards - low) / (high - low)
    keep = smallest / log.probabilities
    if isinstance(policy, Policy):
        return _compiled(log, problem, policy, rewards, keep, root_key(seed), run)
    return _in_python(log, problem, copy.deepcopy(policy), rewards, keep, seed, run)


def _compiled(
    log: Log,
    problem: Problem,
    policy: Policy,
    rewards: Floats,
    keep: Floats,
    root: np.uint64,
    run: int,
) -> _Rounds:
    from almoner.kernels.rejection import replay_rows
    from almoner.kernels.state import new_hulls, new_memo, new_state

    lowered = lower(policy, **problem.terms())
    state = new_state(lowered)
    accepted = np.zeros(problem.horizon, np.int64)
    rounds, passed, units = replay_rows(
        for_kernels(lowered),
        state,
        new_memo(lowered, state),
        new_hulls(lowered),
        root,
        run,
        log.cells.codes,
        log.taken,
        rewards,
        keep,
        accepted,
    )
    return _Rounds(accepted[:rounds], passed, float(amounts(lowered, np.array(units))))


def _in_python(
    log: Log,
    problem: Problem,
    policy: PlainPolicy,
    rewards: Floats,
    keep: Floats,
    seed: int,
    run: int,
) -> _Rounds:
    """Replay the rows with a policy in Python; it must not learn when it decides."""
    draws = np.random.default_rng((seed, 3, run))
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    left, rounds, row = grid.budget, [], 0
    contexts, actions = log.cells.codes.tolist(), log.taken.tolist()
    while row < len(log) and len(rounds) < problem.horizon:
        if draws.random() < keep[row]:
            arrival = Arrival(
                context=contexts[row],
                round=len(rounds) + 1,
                rounds_left=problem.horizon - len(rounds),
                budget_left=float(budget_left(problem.budget, grid, np.array(left))),
                key=np.uint64(draws.integers(2**63)),
            )
            action = policy.decide(arrival)
            if action == actions[row]:
                if action != SKIP:
                    cost = int(grid.costs[contexts[row], action])
                    if cost > left:
                        raise checks.refuse(
                            "decide",
                            "return an action that the budget still affords",
                            action,
                            "look at arrival.budget_left",
                            InvalidPolicy,
                        )
                    left -= cost
                    policy.learn(arrival, action, float(rewards[row]))
                rounds.append(row)
        row += 1
    spend = problem.budget - float(budget_left(problem.budget, grid, np.array(left)))
    return _Rounds(np.array(rounds, np.int64), row, spend)


def _mismatch(rounds: int, passed: int, smallest: float, runs: int) -> list[str]:
    """Return a sentence if far more or fewer rows were accepted than probabilities promise."""
    share = rounds / passed
    chance = math.sqrt(smallest * (1.0 - smallest) * runs / passed)
    if abs(share - smallest) <= 6.0 * chance + 0.02 * smallest:
        return []
    return [
        f"{100 * share:.1f} % of the rows were accepted where probabilities promise "
        f"{100 * smallest:.1f} %: overlap is missing, or probabilities are wrong"
    ]
