"""Checks of numbers: single ones, whole ones, arrays, probabilities and costs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from almoner.checks.messages import refuse
from almoner.errors import InvalidInput
from almoner.types import Floats

__all__ = ["array", "budgets", "costs", "number", "probabilities", "whole"]

SUM_TOLERANCE = 1e-9
"""Largest error of a sum of probabilities: that of numbers typed with nine digits."""


def number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    error: type[InvalidInput] = InvalidInput,
    remedy: str = "",
) -> float:
    """Return a finite number in ``[low, high]``, and above ``above`` if given, as a float."""
    if not _is_number(value):
        raise refuse(name, "be a number", value, remedy, error)
    if not math.isfinite(_as_float(value)):
        raise refuse(name, "be finite", value, remedy, error)
    if above is not None and value <= above:
        raise refuse(name, f"be greater than {above:g}", value, remedy, error)
    if not low <= float(value) <= high:
        raise refuse(name, _range(low, high), value, remedy, error)
    return float(value)


def whole(
    name: str,
    value: Any,
    *,
    low: int = 1,
    error: type[InvalidInput] = InvalidInput,
    remedy: str = "",
) -> int:
    """Return a whole number of at least ``low`` as an int (``1e4`` is one, ``10.5`` is not)."""
    if not _is_number(value) or value % 1 != 0:
        raise refuse(name, "be a whole number", value, remedy, error)
    result = int(value)  # whole, so nothing is truncated
    if result < low:
        raise refuse(name, f"be at least {low}", value, remedy, error)
    if result >= 2**53:
        raise refuse(name, "be below 2**53", value, remedy, error)
    return int(result)


def budgets(value: Any) -> list[float]:
    """Return budgets, of which there must be one at least, as sorted floats."""
    listed = [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if not listed:
        raise refuse("budgets", "be a list of budgets", value)
    return sorted(number("budgets", budget, low=0.0) for budget in listed)


def array(
    name: str,
    value: Any,
    *,
    shape: tuple[int | None, ...],
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    of: str = "",
    error: type[InvalidInput] = InvalidInput,
    remedy: str = "",
) -> Floats:
    """Return a read-only float copy of the given shape (None: any length), with checked entries."""
    raw = _numbers(value)
    if raw.dtype.kind not in "iuf":
        raise refuse(name, "be numbers in rows of equal length", value, error=error)
    result = np.array(raw, dtype=np.float64)
    if result.ndim != len(shape) or any(
        want is not None and have != want for have, want in zip(result.shape, shape, strict=True)
    ):
        wanted = "×".join("any" if want is None else str(want) for want in shape)
        rule = f"have shape {wanted}" + (f" ({of})" if of else "")
        if shape == (None,):
            rule = "be a list of numbers"
        have = "×".join(str(n) for n in result.shape)
        raise error(f"{name} must {rule}, got {f'shape {have}' if have else 'a single number'}")
    if not result.size:
        raise error(f"{name} must not be empty, got shape {'×'.join(map(str, result.shape))}")
    for where in np.ndindex(result.shape):
        number(
            f"{name}[{', '.join(map(str, where))}]",
            float(result[where]),
            low=low,
            high=high,
            above=above,
            error=error,
            remedy=remedy,
        )
    result.setflags(write=False)
    return result


def probabilities(name: str, value: Any, *, error: type[InvalidInput] = InvalidInput) -> Floats:
    """Return a probability distribution as a read-only array that sums to 1."""
    result = array(name, value, shape=(None,), low=0, high=1, error=error)
    total = math.fsum(result)
    if abs(total - 1) > SUM_TOLERANCE:
        raise error(f"{name} must sum to 1, got a sum of {total:.10g}; divide each entry by it")
    return result


def costs(
    name: str, value: Any, *, shape: tuple[int, ...], error: type[InvalidInput] = InvalidInput
) -> Floats:
    """Return a (contexts, actions) table of positive costs from a table, one row or one number."""
    if np.shape(_numbers(value)) in {(), shape[1:]} and _numbers(value).dtype.kind in "iuf":
        value = np.broadcast_to(value, shape)
    return array(
        name,
        value,
        shape=shape,
        of="contexts × actions",
        above=0,
        error=error,
        remedy="every action needs its cost; what is free is skipping, see default_rewards",
    )


def _is_number(value: Any) -> bool:
    """Return whether a value is a real number; a bool is none."""
    if type(value) is float:  # as mostly; to ask Real takes ten times as long
        return True
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond all floats
        return math.inf


def _numbers(value: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:  # rows of different lengths
        return np.asarray(None)


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return f"be at least {low:g}"
    if math.isinf(low):
        return f"be at most {high:g}"
    return f"be between {low:g} and {high:g}"
