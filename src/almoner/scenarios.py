"""Named problems: ``scenario:NAME`` is accepted wherever the path of a problem file is."""

from __future__ import annotations

from almoner import checks
from almoner.errors import InvalidProblem
from almoner.problem import Problem

__all__ = ["SCENARIOS", "load", "scenario"]

PREFIX = "scenario:"

SCENARIOS = {
    "paper-two": (
        "two contexts, three actions (Wu, Srikant, Liu and Jiang, NIPS 2015)",
        Problem(
            context_probs=[0.4, 0.6],
            reward_means=[[0.8 * k / 3 for k in (1, 2, 3)], [0.4 * k / 3 for k in (1, 2, 3)]],
            horizon=10_000,
            budget=4_000,
        ),
    ),
    "paper-ten": (
        "ten contexts, five actions (Wu, Srikant, Liu and Jiang, NIPS 2015)",
        Problem(
            context_probs=[0.025, 0.05, 0.075, 0.15, 0.2, 0.2, 0.15, 0.075, 0.05, 0.025],
            reward_means=[[j * k / 50 for k in range(1, 6)] for j in range(1, 11)],
            horizon=10_000,
            budget=5_000,
        ),
    ),
}
"""What each scenario is, in a line, and the problem itself."""


def scenario(name: str) -> Problem:
    """Return the scenario of that name.

    Examples
    --------
    >>> scenario("paper-two").budget
    4000.0
    """
    return SCENARIOS[checks.choice("scenario", name, SCENARIOS, error=InvalidProblem)][1]


def load(source: str) -> Problem:
    """Return the problem that a path or ``scenario:NAME`` stands for."""
    if source.startswith(PREFIX):
        return scenario(source.removeprefix(PREFIX))
    return Problem.from_file(source)
