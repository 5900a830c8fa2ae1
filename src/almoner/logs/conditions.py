"""Conditions of a replay by rejection, each refused with the reason."""

from __future__ import annotations

import math

import numpy as np

from almoner.errors import InvalidInput
from almoner.logs.log import Log

__all__ = ["RARE", "acceptance_notes", "horizon_of", "smallest_of", "with_all_actions"]

MARGIN = 3.0
"""Standard deviations by which the horizon falls short of the rows to be accepted on average."""

FEWEST = 30
"""Fewest rounds of a replay: fewer say nothing."""

RARE = 0.01
"""Share of the rows that may be left out, whose contexts lack an action or one half of the log."""


def smallest_of(log: Log) -> float:
    """Return the smallest probability of what a replay must find in the log.

    Skips of a known reward need not be found.
    """
    needed = log.taken >= (0 if log.skip_reward is not None else -1)
    return float(log.probabilities[needed].min())


def with_all_actions(log: Log) -> tuple[Log, list[str]]:
    """Return the log without the few contexts that lack an action; refuse it if they are many."""
    pairs = np.zeros((len(log.contexts), len(log.actions) + 1), np.bool_)
    codes = log.cells.codes
    pairs[codes, log.taken + 1] = True
    pairs[:, 0] |= log.skip_reward is not None
    lacking = np.asarray(~pairs.all(axis=1), np.bool_)
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


def horizon_of(rows: int, smallest: float) -> int:
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


def acceptance_notes(rounds: int, passed: int, smallest: float, runs: int) -> list[str]:
    """Return a sentence if far more or fewer rows were accepted than probabilities promise."""
    share = rounds / passed
    chance = math.sqrt(smallest * (1.0 - smallest) * runs / passed)
    if abs(share - smallest) <= 6.0 * chance + 0.02 * smallest:
        return []
    return [
        f"{100 * share:.1f} % of the rows were accepted where probabilities promise "
        f"{100 * smallest:.1f} %: overlap is missing, or probabilities are wrong"
    ]
