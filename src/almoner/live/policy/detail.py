"""Detail of a decision as the log keeps it: JSON with the arrival's own costs and probabilities.

Costs are in units, by action. They come first, so that a fold finds them without reading JSON.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Protocol

__all__ = [
    "detail_of",
    "has_own_costs",
    "logged_costs",
    "logged_group",
    "logged_probabilities",
    "written_detail",
    "written_numbers",
]


class RowParts(Protocol):
    """The scores or features of an arrival."""

    def written(self) -> str:
        """Return them as members of a JSON object."""


_OWN_COSTS_IS = '"costs":'
_OWN_COSTS = "{" + _OWN_COSTS_IS


def detail_of(
    costs: dict[str, int] | None,
    shares: dict[str, float] | None,
    row: RowParts | None = None,
    group: int | None = None,
) -> str | None:
    """Return the detail of a decision; None without own costs and probabilities of options.

    ``row`` are the scores or features of an arrival, which always has costs too, if only {}, and
    ``group`` is that of its person.
    """
    if costs is None and shares is None:
        return None
    if row is not None and costs is not None and shares is None and group is None:
        return f"{{{_OWN_COSTS_IS}{written_numbers(costs)},{row.written()}}}"
    members = [] if costs is None else [_OWN_COSTS_IS + written_numbers(costs)]
    if row is not None:
        members.append(row.written())
    if shares is not None:
        members.append(f'"probabilities":{written_numbers(shares)}')
    if group is not None:
        members.append(f'"group":{group!r}')
    return f"{{{','.join(members)}}}"


def written_detail(parts: dict[str, Any]) -> str:
    """Return the parts of a detail, numbers and tables of numbers, as the log keeps them."""
    written = [
        f'"{name}":{written_numbers(part) if type(part) is dict else repr(part)}'
        for name, part in parts.items()
    ]
    return f"{{{','.join(written)}}}"


def written_numbers(table: dict[str, Any]) -> str:
    """Return a table of numbers as JSON.

    The text is that of `json.dumps`, in a fifth of its time: every decision on a row has one.
    """
    return _template(tuple(table)) % tuple(table.values()) if table else "{}"


@lru_cache(maxsize=1_000)
def _template(names: tuple[str, ...]) -> str:
    """Return a JSON object with these names, and a place for each number."""
    quoted = (json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in names)
    return f"{{{','.join(f'{name}:%r' for name in quoted)}}}"


def logged_group(detail: str | None) -> int | None:
    """Return the group of the person that a decision was for, if the log has one."""
    return None if detail is None else json.loads(detail).get("group")


def has_own_costs(detail: str | None) -> bool:
    """Return whether the arrival of a decision had costs of its own."""
    return detail is not None and detail.startswith(_OWN_COSTS)


def logged_costs(detail: str | None) -> dict[str, int] | None:
    """Return the costs that an arrival had of its own, in units by action; None if it had none."""
    return json.loads(detail or "")["costs"] if has_own_costs(detail) else None


def logged_probabilities(detail: str | None) -> dict[str, float] | None:
    """Return the probabilities of a decision's options by name; None if none are logged."""
    return None if detail is None else json.loads(detail).get("probabilities")
