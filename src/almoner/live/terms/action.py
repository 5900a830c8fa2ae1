"""The term `Action`: its costs, as a person gives them, and units by context."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Action", "PerContext", "in_context"]

PerContext = int | dict[str, int]
"""Units: one number for all contexts, or one for each by name."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """The costs of an action.

    Parameters
    ----------
    cost
        The expected cost: one amount, or one for each context by name.
    reserve
        The most it can cost, if that is more: reserved from the decision until it is settled.
    expires
        How long after the decision the reserve ends if it is not settled, such as ``"7 days"``;
        left out, it stays until it is settled or cancelled.
    on_expiry
        ``"release"``, the default, for a coupon that was not redeemed: it has cost nothing;
        ``"charge"`` for a call whose bill is unknown: it has cost its reserve.
    learn_cost
        Whether the expected cost is learned from the bills; ``cost`` is then worth 50 of them.

    Examples
    --------
    >>> Action(cost=0.60, reserve=5, expires="7 days")
    Action(cost=0.6, reserve=5, expires='7 days')
    """

    cost: Any
    reserve: Any = None
    expires: Any = None
    on_expiry: str | None = None
    learn_cost: bool | None = None

    def __repr__(self) -> str:
        values = [(part.name, getattr(self, part.name)) for part in fields(self)]
        given = ", ".join(f"{name}={value!r}" for name, value in values if value is not None)
        return f"Action({given})"


def in_context(units: PerContext, context: str) -> int:
    """Return the units for a context."""
    return units[context] if isinstance(units, dict) else units
