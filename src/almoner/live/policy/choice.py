"""Types of decisions: arrivals, the actions offered to them, and the choices of a policy."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Choice", "Offer", "PendingArrival"]

Choice = tuple[int, int, float, float]
"""An action or SKIP, the code of its reason, its probability, and the price of a unit."""

Offer = tuple[str, int, int]
"""An action in a context: its name, its expected cost and its reserve."""


class PendingArrival(Protocol):
    """An arrival to decide: its context, the actions allowed if not all, key and person if any.

    ``own_costs`` are those that it has instead of the expected ones, in units by action, if any;
    ``row`` are its scores or features in a campaign on rows.
    """

    context: Any
    available: Any
    own_costs: Any
    row: Any
    key: Any
    visitor: Any
