"""Sweeps: problems × policies × horizons × ratios, described as data and run as cells.

>>> sweep = Sweep.from_dict({
...     "problems": ["scenario:paper-two"],
...     "policies": ["alp", "rounded"],
...     "horizons": [100, 1000],
...     "ratios": [0.4],
... })
>>> [(cell.policy_name, cell.problem.budget) for cell in sweep.cells()]
[('alp', 40.0), ('alp', 400.0), ('rounded', 40.0), ('rounded', 400.0)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from almoner import checks
from almoner.errors import InvalidInput
from almoner.experiments.cells import Cell
from almoner.experiments.rows import Row, write_rows
from almoner.experiments.runner import Progress, run_tasks
from almoner.files import read_table
from almoner.policy.base import Policy
from almoner.policy.recipes import recipe, recipe_name
from almoner.problem import Problem
from almoner.scenarios import PREFIX, load
from almoner.simulation.python_policy import PlainPolicy
from almoner.simulation.simulate_problem import check_applies

__all__ = ["Sweep", "run_sweep"]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Settings of every policy on every problem, at every horizon and ratio.

    Attributes
    ----------
    problems, policies
        By their names in rows and figures. A policy may be any object with ``decide`` and
        ``learn``.
    horizons
        Rounds; each problem's own if left out.
    ratios
        Budgets per round; each problem's own if left out.
    runs
        Replications of results that are not computed exactly.
    seed
        Determines all random draws.
    """

    problems: Mapping[str, Problem]
    policies: Mapping[str, Policy | PlainPolicy]
    horizons: Sequence[int] = field(default=())
    ratios: Sequence[float] = field(default=())
    runs: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        valid = {
            "problems": MappingProxyType(_named("problems", self.problems, _problem)),
            "policies": MappingProxyType(_named("policies", self.policies, _policy)),
            "horizons": _different("horizons", self.horizons, checks.whole),
            "ratios": _different("ratios", self.ratios, lambda n, v: checks.number(n, v, low=0)),
            "runs": checks.whole("runs", self.runs),
            "seed": checks.whole("seed", self.seed, low=0),
        }
        for name, value in valid.items():
            object.__setattr__(self, name, value)  # a frozen dataclass allows no other way

    def cells(self) -> tuple[Cell, ...]:
        """Return the cells in order; refuse a policy that does not apply to a problem."""
        return tuple(self._cells())

    def _cells(self) -> Iterator[Cell]:
        for problem_name, problem in self.problems.items():
            for ratio in self.ratios or (None,):
                for policy_name, policy in self.policies.items():
                    for horizon in self.horizons or (problem.horizon,):
                        scaled = _scaled(problem, horizon, ratio)
                        check_applies(scaled, policy)  # refuses it now, not after an hour
                        yield Cell(
                            problem_name=problem_name,
                            policy_name=policy_name,
                            problem=scaled,
                            policy=policy,
                            ratio=problem.ratio if ratio is None else ratio,
                            runs=self.runs,
                            seed=self.seed,
                        )

    @classmethod
    def from_dict(cls, table: Any, *, folder: str | Path = ".") -> Sweep:
        """Build a sweep from a mapping; refuse unknown keys.

        ``problems`` is a list of paths (relative to ``folder``) or ``scenario:NAME``, or a mapping
        from names to such sources or to problems; ``policies`` a list of recipes, or a mapping from
        names to recipes or policies, objects in Python included.
        """
        if not isinstance(table, Mapping):
            raise InvalidInput("a sweep must be a table of names and values")
        names = [entry.name for entry in fields(cls)]
        checks.known_keys("the sweep", table, required=names[:2], optional=names[2:])

        def problem(value: Any) -> Problem:
            if isinstance(value, str):
                return load(value if value.startswith(PREFIX) else str(Path(folder) / value))
            return value if isinstance(value, Problem) else Problem.from_dict(value)

        def policy(value: Any) -> Policy | PlainPolicy:
            if isinstance(value, str):
                return recipe(value)
            return Policy.from_dict(value) if isinstance(value, Mapping) else value

        built = {
            "problems": _built("problems", table["problems"], problem, _problem_name),
            "policies": _built("policies", table["policies"], policy, recipe_name),
        }
        return cls(**{**table, **built})

    @classmethod
    def from_file(cls, path: str | Path) -> Sweep:
        """Read a sweep from a ``.toml`` or ``.json`` file; its paths are relative to it."""
        folder = Path(path).parent
        return read_table(path, "sweep", lambda table: cls.from_dict(table, folder=folder))


def run_sweep(
    sweep: Sweep,
    folder: str | Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Run the missing cells of a sweep, write ``rows.csv`` into the folder, and return the rows.

    Finished cells are kept in ``folder/cells``. See `run_tasks`.
    """
    folder = Path(folder)
    results = run_tasks(sweep.cells(), folder / "cells", jobs=jobs, dask=dask, progress=progress)
    rows = [row for result in results for row in result]
    write_rows(rows, folder / "rows.csv")
    return rows


def _scaled(problem: Problem, horizon: int, ratio: float | None) -> Problem:
    if ratio is None and horizon == problem.horizon:
        return problem  # keeps the budget to its last digit
    return problem.scaled(horizon, ratio=ratio)


def _named(name: str, value: Any, check: Callable[[str, Any], object]) -> dict[str, Any]:
    """Check a mapping from names to values, at least one."""
    if not isinstance(value, Mapping) or not value:
        raise checks.refuse(name, "be a table of at least one name", value)
    for key, entry in value.items():
        if not isinstance(key, str) or not key:
            raise checks.refuse(name, "have names", key)
        check(f"{name}[{key!r}]", entry)
    return dict(value)


def _problem(name: str, value: Any) -> None:
    checks.kind(name, value, Problem)


def _policy(name: str, value: Any) -> None:
    methods = [getattr(value, method, None) for method in ("decide", "learn")]
    if checks.uncalled(value) or not all(map(callable, methods)):
        checks.kind(name, value, Policy)


def _built(
    name: str, value: Any, build: Callable[[Any], Any], name_of: Callable[[str], str]
) -> dict[str, Any]:
    """Build the values of a list of sources, by name, or of a mapping from names to sources."""
    if isinstance(value, Mapping):
        return {key: build(entry) for key, entry in value.items()}
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise checks.refuse(name, "be a list of names, or a table", value)
    keys = [name_of(each) for each in value]
    if len(set(keys)) < len(keys):
        raise checks.refuse(name, "be different", value, "give a table of names instead of a list")
    return {key: build(each) for key, each in zip(keys, value, strict=True)}


def _problem_name(source: str) -> str:
    return source.removeprefix(PREFIX) if source.startswith(PREFIX) else Path(source).stem


def _different(name: str, value: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise checks.refuse(name, "be a list", value)
    result = tuple(check(f"{name}[{i}]", entry) for i, entry in enumerate(value))
    if len(set(result)) < len(result):
        raise checks.refuse(name, "be different", value)
    return result
