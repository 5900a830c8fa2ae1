"""Router of 90 kinds of prompts to three models, played by the live agent in memory.

``python -m benchmarks.learner.router`` compares its quality with that of always calling the medium
model on the same prompts, and writes ``docs/learner/router.csv``.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

import almoner as al
from almoner.types import Floats
from benchmarks.learner.prompts import KINDS, MEDIUM, MODELS, RESERVES, costs, draw
from benchmarks.learner.rows import write

__all__ = ["Routing", "play"]

ROUNDS, BUDGET = 6_000, 20.0
FIRST_SEED = 90_000
"""Seeds below it, and those from 95,000 on, were used while the rule was developed."""

RUNS = {"thrifty": 200, "wilson_eager": 60}
JUDGED = (1.0, 0.2)
"""Shares of the answers whose reward is recorded."""

NAMES = [f"kind {number}" for number in range(KINDS)]
PROCESSES = 2


@dataclass(frozen=True, kw_only=True)
class Routing:
    """Quality of a rule less that of the medium model, over prompts of many seeds."""

    policy: str
    judged: float
    runs: int
    quality: float
    medium: float
    less_medium: float
    stderr: float
    better: float
    bad: float
    worst: float
    bill: float


def play(seed: int, policy: str, judged: float) -> tuple[float, float, float]:
    """Return the quality of a campaign and of the medium model on its prompts, and the spend."""
    logging.getLogger("almoner").setLevel(logging.ERROR)  # bills above their reserves
    prompts = draw(seed, ROUNDS)
    quality, bills = prompts.quality.tolist(), prompts.bill.tolist()
    is_judged, right = (prompts.judged < judged).tolist(), prompts.right.tolist()
    total = 0.0
    with al.Agent.open(
        "memory:",
        name="router",
        contexts=NAMES,
        actions={
            model: al.Action(
                cost=dict(zip(NAMES, costs()[:, k].tolist(), strict=True)), reserve=RESERVES[k]
            )
            for k, model in enumerate(MODELS)
        },
        horizon=ROUNDS,
        budget=BUDGET,
        policy=policy,
        seed=seed,
    ) as agent:
        for t, kind in enumerate(prompts.kind.tolist()):
            decision = agent.decide(NAMES[kind])
            if decision.action is None:
                continue
            model = MODELS.index(decision.action)
            agent.settle(decision.id, cost=bills[t][model])
            total += quality[t][model]
            if is_judged[t]:
                agent.reward(decision.id, float(right[t] < quality[t][model]))
        ledger = agent.ledger
    return total / ROUNDS, float(prompts.quality[:, MEDIUM].mean()), ledger.spent * 1e-6


def summary(policy: str, judged: float, outcomes: Floats) -> Routing:
    """Return the row of a rule from the outcomes of its campaigns."""
    quality, medium, bill = outcomes.T
    less = quality - medium
    return Routing(
        policy=policy,
        judged=judged,
        runs=len(less),
        quality=float(quality.mean()),
        medium=float(medium.mean()),
        less_medium=float(less.mean()),
        stderr=float(np.std(less, ddof=1)) / len(less) ** 0.5,
        better=float(np.mean(less > 0)),
        bad=float(np.mean(less < -0.02)),
        worst=float(less.min()),
        bill=float(bill.mean()),
    )


def main() -> None:
    rows = []
    costs()  # before the processes start, which share it
    with get_context("fork").Pool(PROCESSES) as pool:
        for policy, runs in RUNS.items():
            for judged in JUDGED:
                began = time.perf_counter()
                seeds = range(FIRST_SEED, FIRST_SEED + runs)
                played = pool.map(partial(play, policy=policy, judged=judged), seeds, chunksize=5)
                row = summary(policy, judged, np.array(played))
                rows.append(row)
                print(
                    f"{policy}, {100 * judged:.0f} % judged: {row.quality:.4f}, less medium "
                    f"{row.less_medium:+.4f} ± {row.stderr:.4f}, better in {row.better:.3f}, "
                    f"below −.02 in {row.bad:.3f}, worst {row.worst:+.3f}, bill {row.bill:.2f}; "
                    f"{runs} seeds, {time.perf_counter() - began:.0f} s",
                    flush=True,
                )
    write("router", rows)


if __name__ == "__main__":
    main()
