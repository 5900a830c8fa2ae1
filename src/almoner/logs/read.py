"""Arrays of a `Log` from a table, whose columns are named or found by their usual names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput
from almoner.logs.columns import Column, encode, encode_column
from almoner.logs.design import by_name, check_probabilities, designed
from almoner.tables import Table, open_table
from almoner.types import Floats, Ints, Mask

__all__ = ["ALIASES", "read_log"]

ALIASES = {
    "action": ("action", "arm", "treatment", "chosen_action"),
    "reward": ("reward", "revenue", "outcome", "rewards"),
    "probability": (
        *("probability", "propensity", "pscore", "action_prob", "propensity_score"),
        *("action_probability", "prob", "action_propensity"),
    ),
    "cost": ("cost", "costs"),
    "time": ("time", "timestamp", "datetime"),
    "context": ("context", "segment"),
}
"""The usual names of the columns, the first that is there being used."""

EXPORT = {"decision", "action_index", "available", "settled"}
"""Columns by which an export of ``almoner ledger export`` is recognised."""

SKIP_NAMES = ("", "skip")
"""Actions that are skips; ``skip`` is the one of our own exports."""

LOST = ("na", "n/a", "nan", "null", "<na>")
"""Actions, in small letters, that another program may have written for an empty cell."""

LARGEST = 1e100
"""Largest size of rewards and costs, whose squares must be floats."""

ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|\+00:00)?)?")


def read_log(
    source: Any,
    *,
    context: str | Sequence[str] | None,
    columns: dict[str, str | None],
    cost: str | float | Mapping[str, float] | None,
    skip: str | None,
    skip_reward: float | None,
    design: str | Mapping[str, float] | None,
) -> dict[str, Any]:
    """Return the fields of a `Log`; ``columns`` has the names that were given."""
    table = open_table(source)
    own = set(table.names) >= EXPORT
    names = {what: _column(table, what, name) for what, name in columns.items()}
    taken, actions = _actions(table, names["action"], skip, own)
    _refuse_nothing(table, taken, actions)
    rewards = table.column(_needed(table, "reward", names["reward"]), missing=0.0)
    if names["probability"] is not None and design is None:
        probabilities = table.column(names["probability"])
    else:
        probabilities = designed(table.source, design, taken, actions, skip)
    silent = table.empty(str(names["reward"]))
    if len(silent) != len(taken):
        silent = np.zeros(len(taken), np.bool_)  # refused below
    # A campaign counts no reward for a skip, unless some were told, as a hold-out needs.
    unpaid = own and bool(np.all(silent[taken < 0]))
    notes = _silent(silent & (taken >= 0) if unpaid else silent)
    notes += check_probabilities(table.source, probabilities, taken, actions)
    known = None if skip_reward is None else checks.number("skip_reward", skip_reward)
    if known is None and unpaid:
        known = 0.0
    fields: dict[str, Any] = {
        "actions": tuple(actions),
        "columns": _contexts(table, context, own, names),
        "taken": taken,
        "rewards": rewards,
        "probabilities": probabilities,
        "costs": _costs(table, cost, taken, actions, skip),
        "skip_reward": known,
        "source": table.source,
        "notes": tuple(notes),
    }
    _refuse_lengths(table, fields)
    _refuse_huge(table, fields)
    return _in_order(table, names["time"], fields)


def _column(table: Table, what: str, name: str | None) -> str | None:
    """Return the column that was named, or the first of its usual names that is there."""
    if name is not None:
        if name not in table.names:
            near = checks.nearest(name, list(map(str, table.names)))
            raise InvalidInput(
                f"{table.source}: {what} must name a column, got {what}={name!r}; "
                + (near or f"its columns are {_some(table)}")
            )
        return name
    names = {str(name).lower(): name for name in reversed(table.names)}
    return next((names[alias] for alias in ALIASES[what] if alias in names), None)


def _needed(table: Table, what: str, name: str | None) -> str:
    if name is None:
        raise InvalidInput(
            f"{table.source}: a log needs a column of the {what}, and none is called "
            f"{' or '.join(ALIASES[what][:3])}; name it with {what}=…: its columns are "
            f"{_some(table)}"
        )
    return name


def _some(table: Table) -> str:
    shown = ", ".join(map(str, table.names[:12]))
    return shown if len(table.names) <= 12 else f"{shown}, … ({len(table.names)} in all)"


def _actions(table: Table, name: str | None, skip: str | None, own: bool) -> tuple[Ints, list[str]]:
    """Return the action of each row, -1 for a skip, and the names of the others."""
    texts = _texts(table, _needed(table, "action", name), own)
    codes, found = encode(texts)
    skips = {*SKIP_NAMES, str(skip)} if skip is not None else {*SKIP_NAMES}
    if skip is not None and str(skip) not in found:
        raise InvalidInput(
            f"{table.source}: skip must be an action of the log, got skip={skip!r}; its actions "
            f"are {', '.join(text or '(empty)' for text in found[:12])}"
        )
    actions = [text for text in found if text not in skips]
    lost = next((text for text in actions if text.strip().lower() in LOST), None)
    if lost is not None and not own:
        raise InvalidInput(
            f"{table.source}: actions must have names, and {lost!r} is how programs write an empty "
            f"cell; give skip={lost!r} if nothing was done there, or rename the action"
        )
    index = {text: i for i, text in enumerate(actions)}
    return np.array([index.get(text, -1) for text in found] or [0], np.int64)[codes], actions


def _texts(table: Table, name: str, own: bool) -> list[str]:
    """Return a column of texts; CSV of our own escapes texts that spreadsheets would run."""
    texts = table.texts(name)
    if own and table.source.lower().endswith((".csv", ".csv.gz")):
        return [text.removeprefix("'") for text in texts]
    return texts


def _refuse_nothing(table: Table, taken: Ints, actions: list[str]) -> None:
    if not len(taken):
        raise InvalidInput(f"{table.source}: a log must have rows, and this one has none")
    if not actions:
        raise InvalidInput(
            f"{table.source}: a log must have an action beside skipping, and all of its "
            f"{len(taken):,} rows are skips; check action= and skip="
        )


def _contexts(
    table: Table, context: str | Sequence[str] | None, own: bool, used: Mapping[str, str | None]
) -> tuple[Column, ...]:
    """Return the columns that tell contexts apart; ``used`` has those of other things."""
    if context is None:
        found = _column(table, "context", None)
        if found in used.values():
            found = None
        if found is None:
            raise InvalidInput(
                f"{table.source}: a log needs columns that tell contexts apart, and none is called "
                "context or segment; name them with context=[…], or give context=[] for a single "
                f"context: its columns are {_some(table)}"
            )
        context = [found]
    named = [context] if isinstance(context, str) else checks.listed("context", context)
    if len(set(named)) != len(named):
        raise checks.refuse("context", "be different columns", named)
    for what in ("action", "reward"):
        if used[what] in named:
            raise InvalidInput(
                f"{table.source}: context must be known before the action, and {used[what]!r} is "
                f"the column of the {what}; leave it out"
            )
    return tuple(
        encode_column(name, _texts(table, str(_column(table, "context", name)), own), cut=not own)
        for name in named
    )


def _costs(
    table: Table,
    cost: str | float | Mapping[str, float] | None,
    taken: Ints,
    actions: list[str],
    skip: str | None,
) -> Floats:
    """Return the cost of each row: from its column, from a table, or 1."""
    if cost is None or isinstance(cost, str):
        name = _column(table, "cost", cost)
        if name is not None:
            return _billed(table, name, taken)
    if isinstance(cost, Mapping):
        skips = [*SKIP_NAMES, *([] if skip is None else [str(skip)])]
        cost = by_name(cost)
        checks.known_keys("cost", cost, required=actions, optional=skips)
        if paid := [name for name in skips if cost.get(name, 0.0) != 0.0]:
            raise checks.refuse(
                f"the cost of {paid[0]!r}", "be 0, as it is skipping", cost[paid[0]]
            )
        each = [checks.number(f"the cost of {name!r}", cost[name], low=0.0) for name in actions]
    else:
        each = [1.0 if cost is None else checks.number("cost", cost, low=0.0)] * len(actions)
    return np.append(each, 0.0)[taken]


def _billed(table: Table, name: str, taken: Ints) -> Floats:
    """Return a column of costs; a skip costs nothing."""
    costs, empty = table.column(name, missing=0.0), table.empty(name)
    _refuse_lengths(table, {"taken": taken, "costs": costs, "columns": ()})
    for rule, bad in (
        ("be at least 0", costs < 0.0),
        ("be 0 where nothing was done", (taken < 0) & (costs != 0.0)),
        ("be given where something was done", (taken >= 0) & empty),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            value = "nothing" if empty[row] else f"{costs[row]:g}"
            raise InvalidInput(
                f"{table.source}: {name} in row {row + 1} must {rule}, got {value}; correct the "
                "row, or give cost= as a number or a table by action"
            )
    return costs


def _silent(silent: Mask) -> list[str]:
    """Return a note on rows without a reward."""
    count = int(np.count_nonzero(silent))
    if not count:
        return []
    return [
        f"{count:,} rows without a reward count as 0"
        if count > 1
        else "1 row without a reward counts as 0"
    ]


def _refuse_lengths(table: Table, fields: dict[str, Any]) -> None:
    count = len(fields["taken"])
    for name in ("rewards", "probabilities", "costs", "times"):
        if name in fields and len(fields[name]) != count:
            raise InvalidInput(
                f"{table.source}: columns must have the same length, got {count} rows of actions "
                f"and {len(fields[name])} of {name}"
            )
    for column in fields["columns"]:
        if len(column.codes) != count:
            raise InvalidInput(
                f"{table.source}: columns must have the same length, got {count} rows of actions "
                f"and {len(column.codes)} of {column.name!r}"
            )


def _refuse_huge(table: Table, fields: dict[str, Any]) -> None:
    for name in ("rewards", "costs"):
        if np.abs(fields[name]).max() > LARGEST:
            raise InvalidInput(
                f"{table.source}: {name} must be at most {LARGEST:g} in size, got "
                f"{np.abs(fields[name]).max():g}; count in a larger unit"
            )


def _in_order(table: Table, name: str | None, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with rows in the order of time, if there is a column of it."""
    if name is None:
        return fields
    texts = table.texts(name)
    _refuse_lengths(table, {**fields, "times": texts})
    order = _order(table, texts)
    if np.all(order[1:] > order[:-1]):
        return fields
    for each in ("taken", "rewards", "probabilities", "costs"):
        fields[each] = fields[each][order]
    fields["columns"] = tuple(column.rows(order) for column in fields["columns"])
    return fields


def _order(table: Table, texts: list[str]) -> Ints:
    """Return the rows in the order of numbers or of times as ISO 8601 has them."""
    try:
        return np.argsort(np.array(texts, np.float64), kind="stable")
    except ValueError:
        bad = [row for row, text in enumerate(texts) if not ISO_TIME.fullmatch(text)]
    days = [row for row, text in enumerate(texts) if len(text) <= 10]
    if bad or 0 < len(days) < len(texts):
        row = (bad or days)[0]
        raise InvalidInput(
            f"{table.source}: time must be numbers, or times in UTC like "
            f"2026-03-01T09:30:00, got {texts[row] or 'nothing'} in row {row + 1}; convert the "
            "column, or leave it out if rows are in the order of time"
        )
    codes, _ = encode([text.replace(" ", "T").removesuffix("Z") for text in texts])
    return np.argsort(codes, kind="stable")
