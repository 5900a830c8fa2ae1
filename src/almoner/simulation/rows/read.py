"""Arrays of `Rows` from a table, whose families of columns are named by patterns with a star."""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.errors import InvalidInput
from almoner.tables import Table, open_table
from almoner.types import Floats

__all__ = ["read_arrays"]

FAMILIES = ("rewards", "costs", "expected_costs", "scores")
"""Families of columns with a column for each action."""


def read_arrays(
    source: Any,
    *,
    patterns: dict[str, str | None],
    features: str | list[str] | None,
    skip: dict[str, str | None],
) -> dict[str, Any]:
    """Return the arguments of `Rows` from a table.

    ``patterns`` has a pattern for each of the families, ``skip`` a column for what skipping brings.
    """
    table = open_table(source)
    found = {
        family: _matches(table, family, pattern)
        for family in FAMILIES
        if (pattern := patterns[family]) is not None or family in ("rewards", "costs")
    }
    actions = list(found["rewards"])
    for family, columns in found.items():
        _refuse_other_actions(table, family, patterns, actions, list(columns))
    arrays: dict[str, Any] = {"actions": actions}
    for family, columns in found.items():
        arrays[family] = _stack(table, [columns[action] for action in actions])
    if features is not None:
        names = _feature_columns(table, features)
        arrays["features"], arrays["feature_names"] = _stack(table, names), names
    for argument, name in skip.items():
        if name is not None:
            arrays[argument] = table.column(_known(table, argument, name))
    return arrays


def _matches(table: Table, family: str, pattern: str | None) -> dict[str, str]:
    """Return the columns that match a pattern, by what stands for its star."""
    if not isinstance(pattern, str) or pattern.count("*") != 1:
        raise InvalidInput(
            f"{family} must be a pattern with one star for the name of an action, such as "
            f"'reward_*', got {family}={pattern!r}"
        )
    start, end = pattern.split("*")
    columns = {
        name[len(start) : len(name) - len(end)]: name
        for name in map(str, table.names)
        if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
    }
    if not columns:
        log = "; for a log of past decisions see almoner fit" if family == "rewards" else ""
        raise InvalidInput(
            f"{table.source}: no column matches {family}={pattern!r}; its columns are "
            f"{_some(table.names)}{log}"
        )
    return columns


def _refuse_other_actions(
    table: Table, family: str, patterns: dict[str, str | None], actions: list[str], names: list[str]
) -> None:
    """Refuse a family that names other actions than the rewards do."""
    if set(names) == set(actions):
        return
    missing, more = sorted(set(actions) - set(names)), sorted(set(names) - set(actions))
    which, other = (missing, family) if missing else (more, "rewards")
    raise InvalidInput(
        f"{table.source}: {family}={patterns[family]!r} and rewards={patterns['rewards']!r} must "
        f"name the same actions, but {other} have no column for {which[0]!r}; add it, or narrow "
        "the pattern"
    )


def _feature_columns(table: Table, features: str | list[str]) -> list[str]:
    if isinstance(features, str):
        return list(_matches(table, "features", features).values())
    if not isinstance(features, (list, tuple)) or not features:
        raise InvalidInput(
            "features must be a pattern such as 'x*', or a list of the names of columns, got "
            f"features={features!r}; leave it out where there are none"
        )
    return [_known(table, "features", name) for name in features]


def _known(table: Table, argument: str, name: str) -> str:
    if name not in table.names:
        raise InvalidInput(
            f"{table.source}: {argument} must name a column, got {argument}={name!r}; its columns "
            f"are {_some(table.names)}"
        )
    return name


def _stack(table: Table, names: list[str]) -> Floats:
    """Return columns side by side."""
    columns = [table.column(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            raise InvalidInput(
                f"{table.source}: columns must have the same length, got {len(columns[0])} rows of "
                f"{names[0]!r} and {len(column)} of {name!r}"
            )
    return np.column_stack(columns)


def _some(names: list[Any]) -> str:
    shown = ", ".join(map(str, names[:12]))
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"
