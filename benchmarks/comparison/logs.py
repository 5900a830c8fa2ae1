"""Estimates from a log whose world is known: ``python -m benchmarks.comparison.logs``.

The log is drawn from the scenario hillstrom-email, whose figures are those of a randomised e-mail
test: 64,000 customers, two e-mails or none with equal probability.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import almoner as al
from almoner.scenarios import scenario
from benchmarks.comparison.rows import FOLDER, Estimate
from benchmarks.learner.rows import write

__all__ = ["RATIOS", "e_mail_log"]

RATIOS, SEED, RUNS = (0.1, 0.3, 0.6), 2008, 3
"""Budgets per customer, the seed of the log, and replays of it."""


def e_mail_log(world: al.Problem) -> al.Log:
    """Return a log of the scenario's customers, everybody treated at random."""
    rng = np.random.default_rng(SEED)
    contexts = rng.choice(len(world.contexts), world.horizon, p=world.context_probs)
    taken = rng.integers(0, 3, world.horizon)
    means = np.column_stack([world.default_rewards, world.reward_means])[contexts, taken]
    return al.Log.read(
        {
            "segment": np.array(world.contexts)[contexts],
            "action": np.array(["", *world.actions])[taken],
            "visit": (rng.random(world.horizon) < means).astype(float),
        },
        reward="visit",
        design="uniform",
    )


def estimates() -> Iterator[Estimate]:
    """Estimate the value of each budget in every way."""
    world = scenario("hillstrom-email")
    log = e_mail_log(world)
    for ratio in RATIOS:
        truth = al.solve(world, ratio=ratio).value
        [point] = al.frontier(log, budgets=[ratio * len(log)])
        for name, value in (("doubly robust", point.value), ("SNIPS", point.snips)):
            yield _row(f"frontier, {name}", ratio, truth, value, point.stderr, len(log))
        for name, horizon in (("replay", None), ("model and residuals", len(log))):
            for policy in ("rounded", "thrifty"):
                result = al.replay(
                    log, policy, budget=ratio * len(log), horizon=horizon, runs=RUNS, seed=1
                )
                rounds = result.horizon
                what = f"{name}, `{policy}`"
                yield _row(what, ratio, truth, result.value, result.stderr, rounds)


def _row(
    what: str, ratio: float, truth: float, value: float, stderr: float, rounds: int
) -> Estimate:
    return Estimate(
        budget=ratio,
        estimate=what,
        value=value / rounds,
        stderr=stderr / rounds,
        truth=truth,
        rounds=rounds,
    )


if __name__ == "__main__":
    print(write("logs", list(estimates()), folder=FOLDER))
