"""Rows of the comparisons: one class for each file in ``docs/benchmarks``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["FOLDER", "Estimate", "Learner", "Routing", "Speed"]

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"


@dataclass(frozen=True, kw_only=True)
class Routing:
    """Reward per prompt of a policy at a budget per prompt, over shuffles of the prompts."""

    prompts: str
    budget: float
    policy: str
    runs: int
    reward: float
    stderr: float
    optimum: float


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Regret of a policy that learns, on one problem."""

    problem: str
    rounds: int
    budget: float
    against: str
    optimum: float
    policy: str
    runs: int
    regret: float
    stderr: float
    q99: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Value of an arrival at a budget per arrival, estimated from a log, and the true value."""

    budget: float
    estimate: str
    value: float
    stderr: float
    truth: float
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Microseconds of one round of a program: decide, then learn the reward."""

    program: str
    version: str
    policy: str
    loop: str
    microseconds: float
