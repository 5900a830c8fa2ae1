"""Scenarios: named problems, accepted as ``scenario:NAME`` wherever a problem file is.

Each is a TOML file in this folder: a problem with a description and the source of its figures.
Context probabilities may be given as counts (``context_counts``).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from almoner import checks
from almoner.errors import InvalidProblem
from almoner.problem import Problem

__all__ = ["PREFIX", "Scenario", "describe", "load", "scenario", "scenario_names"]

PREFIX = "scenario:"

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A named problem, with a description and the source of its figures."""

    name: str
    about: str
    source: str
    problem: Problem


def scenario_names() -> list[str]:
    """Return the names of all scenarios.

    Examples
    --------
    >>> scenario_names()
    ['heterogeneous', 'hillstrom-email', 'llm-routing', 'paper-ten', 'paper-two']
    """
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def scenario(name: str) -> Problem:
    """Return the problem of that name.

    Examples
    --------
    >>> scenario("paper-two").budget
    4000.0
    """
    return describe(name).problem


@cache
def describe(name: str) -> Scenario:
    """Return the scenario of that name."""
    name = checks.choice("scenario", name, scenario_names(), error=InvalidProblem)
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    about, source = table.pop("about"), table.pop("source").strip()
    if "context_counts" in table:
        counts = table.pop("context_counts")
        table["context_probs"] = [count / sum(counts) for count in counts]
    return Scenario(name=name, about=about, source=source, problem=Problem.from_dict(table))


def load(source: str) -> Problem:
    """Load the problem at a path, or of ``scenario:NAME``."""
    if source.startswith(PREFIX):
        return scenario(source.removeprefix(PREFIX))
    path = Path(source)
    near = [] if path.suffix else get_close_matches(path.name, scenario_names(), n=1)
    if near and not path.is_file():
        raise InvalidProblem(
            f"a problem is a file or {PREFIX}NAME, got {source!r}; did you mean {PREFIX}{near[0]}?"
        )
    if path.is_dir():
        raise InvalidProblem(
            f"a problem is a file or {PREFIX}NAME, got the folder {source!r}; name a file in it"
        )
    return Problem.from_file(path)
