"""Audit of amendments: the changes of terms that a running campaign may have."""

from __future__ import annotations

import json

from almoner.live.audit.rows import Fault
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import Event

__all__ = ["amended_terms"]

CHANGING = (
    *("budget", "horizon"),
    *("costs", "reserves", "expires", "charged", "learns", "stopped"),
)
"""Fields of the terms that an amendment may change."""


def amended_terms(terms: Terms, event: Event, *, rounds: int) -> Terms:
    """Return the terms after an amendment; refuse what none may change after so many arrivals."""
    changes = json.loads(event.detail)["terms"]  # type: ignore[arg-type]  # the caller's TypeError
    for field in changes:
        if field not in CHANGING:
            raise Fault(f"changes {field}, which no amendment may")
    amended = terms.amended(changes)
    moved = amended.horizon != terms.horizon and not isinstance(amended.horizon, ClosingTime)
    if moved and amended.horizon < rounds:  # type: ignore[operator]
        raise Fault(f"sets a horizon of {amended.horizon} after {rounds} arrivals")
    if not {*terms.actions} <= {*amended.actions} or not amended.active:
        raise Fault("removes actions")
    return amended
