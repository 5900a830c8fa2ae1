"""Late rewards: campaigns of the live agent whose rewards arrive many rounds after the decision.

``python -m benchmarks.learner.late`` writes ``docs/learner/late.csv``.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

import almoner as al
from benchmarks.learner.rows import paired_ratio, write
from benchmarks.learner.sets import SHOP, paper

__all__ = ["Late", "play"]

PROBLEMS = {"two": paper("two", 0.40).problem, "shop": SHOP, "ten": paper("ten", 0.50).problem}
DELAYS = (50, 200)
RUNS, FIRST_SEED, PROCESSES = 40, 7_000, 2


@dataclass(frozen=True, kw_only=True)
class Late:
    """Regret of both rules where rewards arrive a number of rounds late."""

    problem: str
    delay: int
    runs: int
    former: float
    former_stderr: float
    new: float
    new_stderr: float
    ratio: float
    ratio_stderr: float


def play(seed: int, problem: al.Problem, policy: str, delay: int) -> float:
    """Return the regret of a campaign: losses at the price of the budget, and what is unspent."""
    rng = np.random.default_rng(seed)
    horizon, means = problem.horizon, problem.reward_means
    contexts = rng.choice(len(means), horizon, p=problem.context_probs).tolist()
    noise = rng.random(horizon)
    price = float(al.solve(problem).price)
    best = np.maximum(means.max(axis=1) - price, 0)
    kinds = [f"context {j}" for j in range(means.shape[0])]
    names = {f"action {k}": k for k in range(means.shape[1])}
    waiting: deque[tuple[int, int, float]] = deque()
    loss, spent = 0.0, 0
    with al.Agent.open(
        "memory:",
        name="late",
        contexts=kinds,
        actions=dict.fromkeys(names, 1.0),
        horizon=horizon,
        budget=problem.budget,
        policy=policy,
        unit="1",
        seed=seed,
    ) as agent:
        for t, j in enumerate(contexts):
            while waiting and waiting[0][0] < t - delay:
                _, number, reward = waiting.popleft()
                agent.reward(number, reward)
            decision = agent.decide(kinds[j])
            loss += best[j]
            if decision.action is not None:
                mean = means[j, names[decision.action]]
                loss -= mean - price
                spent += 1
                waiting.append((t, decision.id, float(noise[t] < mean)))
    gap = al.upper_bound(problem) - al.optimal_value(problem)
    return float(loss + price * (problem.budget - spent) - gap)


def main() -> None:
    rows = []
    seeds = range(FIRST_SEED, FIRST_SEED + RUNS)
    with get_context("fork").Pool(PROCESSES) as pool:
        for name, problem in PROBLEMS.items():
            for delay in DELAYS:
                began = time.perf_counter()
                new, former = (
                    np.array(
                        pool.map(
                            partial(play, problem=problem, policy=policy, delay=delay),
                            seeds,
                            chunksize=5,
                        )
                    )
                    for policy in ("thrifty", "wilson_eager")
                )
                ratio, ratio_stderr = paired_ratio(new, former)
                row = Late(
                    problem=name,
                    delay=delay,
                    runs=RUNS,
                    former=float(former.mean()),
                    former_stderr=float(np.std(former, ddof=1)) / RUNS**0.5,
                    new=float(new.mean()),
                    new_stderr=float(np.std(new, ddof=1)) / RUNS**0.5,
                    ratio=ratio,
                    ratio_stderr=ratio_stderr,
                )
                rows.append(row)
                seconds = time.perf_counter() - began
                print(
                    f"{name}, {delay} rounds late: {row.former:.1f} ± {row.former_stderr:.1f} → "
                    f"{row.new:.1f} ± {row.new_stderr:.1f}, × {ratio:.2f} ± {ratio_stderr:.2f} "
                    f"({seconds:.0f} s)",
                    flush=True,
                )
    write("late", rows)


if __name__ == "__main__":
    main()
