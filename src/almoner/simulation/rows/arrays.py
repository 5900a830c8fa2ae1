"""Checks of the arrays of rows, whose errors name the row, counted from 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from almoner import checks
from almoner.errors import InvalidInput
from almoner.types import Floats

__all__ = ["each_row", "numbered", "row_array"]


def row_array(
    name: str, value: ArrayLike, shape: tuple[int | None, ...] | None, *, low: float | None = None
) -> Floats:
    """Return a read-only array of finite numbers."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise checks.refuse(name, "be numbers in rows of equal length", value) from None
    wanted: tuple[int | None, ...] = (None, None) if shape is None else shape
    fits = result.ndim == len(wanted) and all(
        want is None or have == want for have, want in zip(result.shape, wanted, strict=True)
    )
    if not fits or not result.size:
        rule = "×".join("any" if want is None else str(want) for want in wanted)
        have = "×".join(map(str, result.shape)) or "a single number"
        raise InvalidInput(f"{name} must have shape {rule} and not be empty, got {have}")
    bad = ~np.isfinite(result) if low is None else ~(np.isfinite(result) & (result >= low))
    if bad.any():
        where = tuple(int(index[0]) for index in np.nonzero(bad))
        rule = "be finite" if low is None else f"be finite and at least {low:g}"
        raise checks.refuse(f"{name} in row {where[0] + 1}", rule, float(result[where]))
    result.setflags(write=False)
    return result


def each_row(value: ArrayLike, shape: tuple[int, ...]) -> ArrayLike:
    """Return one number for each action as a table of rows; anything else unchanged."""
    if isinstance(value, (list, tuple, np.ndarray)) and np.shape(value) == shape[1:]:
        return np.broadcast_to(np.asarray(value), shape)
    return value


def numbered(noun: str, count: int) -> tuple[str, ...]:
    """Return numbered names of things that have none."""
    return tuple(f"{noun} {i + 1}" for i in range(count))
