"""Fit a problem to a log: contexts, shares, means with intervals, costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput
from almoner.fit import Fit, Split
from almoner.logs.basis import LEVEL, refuse_certainty, refuse_unknown_skips
from almoner.logs.log import Log
from almoner.logs.splits import best_split, rank_splits
from almoner.logs.sums import model_of, sum_rows, weigh_rows
from almoner.problem import Problem
from almoner.types import Floats

__all__ = ["fit_problem"]


def fit_problem(
    log: Log, *, budget: float, horizon: int | None, context: Sequence[str] | None
) -> Problem:
    """Return the problem of a log: see `Log.fit`."""
    budget = checks.number("budget", budget, low=0.0)
    arrivals = len(log) if horizon is None else checks.whole("horizon", horizon)
    refuse_unknown_skips(log)
    if log.skip_reward is None:
        refuse_certainty(log, "a fit")
    splits: tuple[Split, ...] = ()
    if context is not None:
        log = log.by(
            *([context] if isinstance(context, str) else checks.listed("context", context))
        )
    elif log.columns:
        splits = rank_splits(log, budget / arrivals)
        log = log.by(*best_split(splits))
    return _problem(log, budget, arrivals, splits)


def _problem(log: Log, budget: float, arrivals: int, splits: tuple[Split, ...]) -> Problem:
    cells = log.cells
    rows = weigh_rows(log, cells.codes, len(cells.labels))
    model = model_of(sum_rows(rows), log.skip_reward)
    means, costs = model.means[0], model.costs
    low, high = log.reward_range
    counts = sum_rows(rows._replace(weights=np.ones(len(log)))).weights[0]
    below, above, variances = _intervals(log, means)
    if log.skip_reward is not None:
        below[:, 0] = above[:, 0] = log.skip_reward
    _refuse_free(log, costs)
    inside = np.where(np.isfinite(means), (means - low) / (high - low), 0.0)
    inside[:, 1:] = np.where(np.isfinite(means[:, 1:]), inside[:, 1:], inside[:, :1])
    inside = inside.clip(0.0, 1.0)
    return Problem(
        context_probs=model.shares[0] / model.shares[0].sum(),
        reward_means=inside[:, 1:],
        horizon=arrivals,
        budget=budget,
        costs=costs[:, 1:],
        default_rewards=inside[:, 0],
        defaults_known=log.skip_reward is not None,
        reward_spread=_spread(inside, variances / (high - low) ** 2, counts),
        contexts=list(cells.labels),
        actions=list(log.actions),
        fit=Fit(
            rows=len(log),
            columns=cells.columns,
            reward_range=(low, high),
            counts=counts,
            means=np.where(np.isfinite(means), means, np.nan),
            lows=below,
            highs=above,
            splits=splits,
        ),
    )


def _intervals(log: Log, means: Floats) -> tuple[Floats, Floats, Floats]:
    """Return low and high ends of the 95 % intervals of the means, and variances of rewards.

    Rewards of 0 and 1 have Wilson's interval at the effective number of rows.
    """
    cells, taken = log.cells, log.taken + 1
    rows = weigh_rows(log, cells.codes, len(cells.labels))
    usual = np.where(np.isfinite(means), means, 0.0)
    away = (log.rewards - usual[cells.codes, taken]) ** 2
    squares = sum_rows(rows._replace(weights=rows.weights**2, rewards=rows.weights**2 * away))
    sums = sum_rows(rows._replace(rewards=rows.weights * away))
    seen = sums.weights[0] > 0.0
    total = np.where(seen, sums.weights[0], np.nan)
    stderr = np.sqrt(squares.rewards[0]) / total
    binary = bool(np.all((log.rewards == 0.0) | (log.rewards == 1.0)))
    variances = sums.rewards[0] / total
    if not binary:
        return usual - LEVEL * stderr, usual + LEVEL * stderr, variances
    effective = total**2 / np.where(seen, squares.weights[0], np.nan)
    shrink = 1.0 + LEVEL**2 / effective
    middle = (usual + LEVEL**2 / (2 * effective)) / shrink
    half = LEVEL / shrink * np.sqrt(usual * (1 - usual) / effective + (LEVEL / effective) ** 2 / 4)
    return middle - half, middle + half, variances


def _spread(means: Floats, variances: Floats, counts: Floats) -> float:
    """Return the variance of rewards as a share of what their means allow, over all pairs."""
    seen = counts > 1.0
    allowed = float((counts * means * (1.0 - means))[seen].sum())
    return min(1.0, float((counts * variances)[seen].sum()) / allowed) if allowed > 0.0 else 0.0


def _refuse_free(log: Log, costs: Floats) -> None:
    free = np.argwhere(costs[:, 1:] <= 0.0)
    if len(free):
        name = log.actions[int(free[0][1])]
        raise InvalidInput(
            f"{log.source}: a problem needs actions that cost more than 0, and {name!r} costs "
            "nothing; name it with skip= if it is what happens to everybody else, or give cost="
        )
