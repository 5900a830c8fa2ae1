"""Encoding of requests as JSON: terms as `almoner.Agent.open` takes them, and amounts of money."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from almoner.errors import InvalidInput
from almoner.live.terms.action import Action
from almoner.live.terms.pace import Pace
from almoner.live.terms.per_person import PerPerson
from almoner.live.terms.prior import Prior
from almoner.live.times.closing_time import ClosingTime
from almoner.policy.base import Policy

__all__ = ["as_json", "encoded", "no_less"]


def as_json(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return terms as JSON data; whatever has no such form is left to the service to refuse.

    Examples
    --------
    >>> as_json({"contexts": ("new", "returning"), "actions": {"coupon": "5.00"}, "budget": 100})
    {'contexts': ['new', 'returning'], 'actions': {'coupon': 5.0}, 'budget': 100}
    """
    makers = {
        **dict.fromkeys(("contexts", "stop", "restart"), _listed),
        **dict.fromkeys(("actions", "add"), _new_actions),
        "costs": _actions,
        **dict.fromkeys(("budget", "unit"), _amount),
        "pace": _pace,
    }
    return {
        term: makers.get(term, _plain)(value) for term, value in terms.items() if value is not None
    }


def encoded(body: dict[str, Any]) -> bytes:
    """Return a body as JSON text."""
    try:
        return json.dumps(body, allow_nan=False, default=_as_python).encode()
    except (TypeError, ValueError) as reason:
        raise InvalidInput(
            f"what is sent must be finite numbers, texts, lists and tables: {reason}"
        ) from None


def no_less(cost: Any) -> Any:
    """Return a cost for JSON: a Decimal becomes the nearest float that does not print as less."""
    if not isinstance(cost, Decimal) or not cost.is_finite():
        return _amount(cost)
    near = float(cost)
    return near if Decimal(repr(near)) >= cost else math.nextafter(near, math.inf)


def _as_python(value: Any) -> Any:
    """Return a numpy scalar as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is none of these")


def _listed(names: Any) -> Any:
    iterable = isinstance(names, Iterable) and not isinstance(names, (str, bytes, Mapping))
    return [*names] if iterable else names


def _new_actions(actions: Any) -> Any:
    """Return actions by name, where costs by context alone are those of an object."""
    if not isinstance(actions, Mapping):
        return actions
    return {
        name: {"cost": entry} if _is_by_context(actions[name]) else entry
        for name, entry in _actions(actions).items()
    }


def _is_by_context(costs: Any) -> bool:
    return isinstance(costs, Mapping) and "cost" not in costs  # as the service's own objects have


def _actions(actions: Any) -> Any:
    if not isinstance(actions, Mapping):
        return actions
    return {
        name: {
            "cost": _costs(action.cost),
            "reserve": _costs(action.reserve),
            "expires": _plain(action.expires),
            "on_expiry": action.on_expiry,
            "learn_cost": action.learn_cost,
        }
        if isinstance(action, Action)
        else _costs(action)
        for name, action in actions.items()
    }


def _pace(pace: Any) -> Any:
    if isinstance(pace, Pace):
        pace = {part.name: getattr(pace, part.name) for part in fields(pace)}
    if not isinstance(pace, Mapping):
        return _plain(pace)
    return {
        name: value if name == "zone" else _amount(value)
        for name, value in pace.items()
        if value is not None
    }


def _costs(cost: Any) -> Any:
    """Return a cost, or a table of costs by context."""
    if isinstance(cost, Mapping):
        return {name: _amount(value) for name, value in cost.items()}
    return _amount(cost)


def _amount(value: Any) -> Any:
    """Return an amount of money as a number; the service takes it for the decimal it prints as."""
    try:
        return float(Decimal(value)) if isinstance(value, str) else _plain(value)
    except InvalidOperation:
        return value


def _per_person(limit: PerPerson) -> dict[str, Any]:
    return {"actions": limit.actions, "every": _plain(limit.every)}


def _plain(value: Any) -> Any:
    makers: dict[type, Callable[[Any], Any]] = {
        PerPerson: _per_person,
        ClosingTime: ClosingTime.to_dict,
        Prior: Prior.to_dict,
        Policy: Policy.to_dict,
        Decimal: float,
        Fraction: float,
        datetime: datetime.isoformat,
        timedelta: lambda value: f"{value.total_seconds()} seconds",
        np.ndarray: np.ndarray.tolist,
    }
    for kind, make in makers.items():
        if isinstance(value, kind):
            return make(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return _listed(value)
