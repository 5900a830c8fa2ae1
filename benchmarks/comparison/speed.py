"""Microseconds of a round, of almoner and of peers: ``python -m benchmarks.comparison.speed``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import almoner as al
from almoner.policy.lowering import lower
from almoner.simulation.simulate_environment import play_compiled_rounds
from almoner.types import Ints
from benchmarks.comparison.peer_loop import ACTIONS, CONTEXTS, PEERS
from benchmarks.comparison.rows import FOLDER, Speed
from benchmarks.learner.rows import write
from benchmarks.measure import best_of

PYTHON = Path(__file__).parents[2] / "build" / "peers-venv" / "bin" / "python"
ROUNDS = 20_000

BY_CALL, COMPILED = "a call to decide, a call to learn", "simulation, compiled as a whole"
CAMPAIGN = "live campaign in memory, with its log"


def ours() -> Iterator[Speed]:
    """Measure almoner with a budget for half of the arrivals."""
    problem = al.Problem(
        context_probs=np.full(CONTEXTS, 1 / CONTEXTS),
        reward_means=[[0.1 * (action + 1) for action in range(ACTIONS)]] * CONTEXTS,
        horizon=ROUNDS,
        budget=ROUNDS // 2,
    )
    rng = np.random.default_rng(7)
    contexts, noise = rng.integers(CONTEXTS, size=ROUNDS), rng.random(ROUNDS + 1).tolist()

    def reward_of(t: int, context: int, action: int) -> float:
        return float(noise[t] < 0.1 * (action + 1))

    for name in ("ucb_rounded", "thompson_rounded", "thrifty"):
        lowered = lower(al.recipe(name), **problem.terms())
        seconds = best_of(
            lambda lowered=lowered: play_compiled_rounds(  # type: ignore[misc]
                problem, lowered, contexts, reward_of, np.uint64(1)
            ),
            repeats=3,
        )
        yield _row(name, BY_CALL, seconds / ROUNDS)
        seconds = best_of(
            lambda name=name: al.simulate(  # type: ignore[misc]
                problem, name, runs=4, seed=1, threads=1, against="upper bound"
            ),
            repeats=3,
        )
        yield _row(name, COMPILED, seconds / (4 * ROUNDS))
    yield _row("thrifty", CAMPAIGN, best_of(lambda: _campaign(contexts, noise), repeats=1) / ROUNDS)


def _campaign(contexts: Ints, noise: list[float]) -> None:
    """Play the rounds as a live campaign, each decision and each reward in the log."""
    agent = al.Agent.open(
        "memory:",
        name="speed",
        contexts=[str(context) for context in range(CONTEXTS)],
        actions={str(action): 1 for action in range(ACTIONS)},
        horizon=ROUNDS,
        budget=ROUNDS // 2,
    )
    for t, context in enumerate(contexts.tolist()):
        decision = agent.decide(str(context))
        if decision.action is not None:
            agent.reward(decision.id, float(noise[t] < 0.1 * (int(decision.action) + 1)))


def _row(policy: str, loop: str, seconds: float) -> Speed:
    return Speed(
        program="almoner",
        version=al.__version__,
        policy=policy,
        loop=loop,
        microseconds=1e6 * seconds,
    )


def theirs() -> Iterator[Speed]:
    """Measure every peer that is installed; print those that are not."""
    script = Path(__file__).with_name("peer_loop.py")
    for name in PEERS:
        done = subprocess.run(
            [str(PYTHON), str(script), name], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
            print(f"{name} was not measured: {reason}")
            yield Speed(program=name, version="", policy=reason, loop="", microseconds=float("nan"))
            continue
        result = json.loads(done.stdout.splitlines()[-1])
        for row in result["rows"]:
            yield Speed(program=name, version=result["version"], loop=BY_CALL, **row)


if __name__ == "__main__":
    print(write("speed", [*ours(), *theirs()], folder=FOLDER))
