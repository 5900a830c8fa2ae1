"""Preparation of the service: compile or load the kernels of the first decisions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import cpu_count
from subprocess import DEVNULL

from almoner.live.agent import Agent

__all__ = ["run_campaign", "warm_up"]

EQUAL_COSTS, UNEQUAL_COSTS = {"one": 1}, {"one": 1, "two": 2}
"""Actions of two campaigns that need all kernels of most campaigns between them."""


def warm_up() -> None:
    """Compile or load the kernels of the first decisions, for equal and unequal costs.

    If none was compiled before, another process compiles those for unequal costs at the same time:
    numba compiles one function at a time.
    """
    with _compiling_elsewhere():
        run_campaign(EQUAL_COSTS)
    run_campaign(UNEQUAL_COSTS)


def run_campaign(actions: Mapping[str, float]) -> None:
    """Run a small campaign in memory, with rewards, settlements and a report."""
    with Agent.open(
        "memory:",
        name="warm-up",
        contexts=["a", "b"],
        actions=actions,
        horizon=8,
        budget=16,
        seed=0,
    ) as agent:
        for decision in [agent.decide(context) for context in "abab"]:
            agent.reward(decision.id, 1.0)
            if not decision.skipped:
                agent.settle(decision.id, cost=1)
        agent.report()


@contextmanager
def _compiling_elsewhere() -> Iterator[None]:
    """Compile for unequal costs in another process, which leaves its kernels on the disk.

    If it fails, they are compiled here later.
    """
    from almoner.jit import has_compiled

    if has_compiled() or (cpu_count() or 1) < 2 or not sys.executable:
        yield
        return
    program = f"from {__name__} import UNEQUAL_COSTS, run_campaign; run_campaign(UNEQUAL_COSTS)"
    with subprocess.Popen(  # noqa: S603 - a program of our own
        [sys.executable, "-c", program], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    ) as process:
        try:
            yield
            process.wait()
        finally:
            process.kill()
