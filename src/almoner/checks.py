"""Input checks and the wording of their errors: name, rule, value, remedy.

Each check returns the value in the package's own type, or raises `InvalidInput` (or the narrower
class ``error``) with one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Real
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from almoner.errors import InvalidInput
from almoner.types import Floats

__all__ = [
    "array",
    "choice",
    "costs",
    "flag",
    "kind",
    "known_keys",
    "listed",
    "names",
    "nearest",
    "number",
    "plain",
    "probabilities",
    "refuse",
    "uncalled",
    "whole",
]

Kind = TypeVar("Kind")

SUM_TOLERANCE = 1e-9
"""Largest error of a sum of probabilities: that of numbers typed with nine digits."""

VALUE_LENGTH, OPTION_COUNT, OPTIONS_LENGTH = 60, 10, 300
"""Limits of a message: characters of a value, and number and characters of options."""

COMPARED = 200
"""Largest number of options among which the nearest is searched: comparing takes 0.1 ms each, and
campaigns refuse names inside a transaction."""


def refuse(
    name: str, rule: str, value: object, remedy: str = "", error: type[InvalidInput] = InvalidInput
) -> InvalidInput:
    """Return an error: ``budget must be at least 0, got budget=-3.0; give …``."""
    return error(
        f"{name} must {rule}, got {name}={_shown(value)}" + (f"; {remedy}" if remedy else "")
    )


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
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
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
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or value % 1 != 0:
        raise refuse(name, "be a whole number", value, remedy, error)
    result = int(value)  # type: ignore[call-overload]  # whole, so nothing is truncated
    if result < low:
        raise refuse(name, f"be at least {low}", value, remedy, error)
    if result >= 2**53:
        raise refuse(name, "be below 2**53", value, remedy, error)
    return int(result)


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


def kind(name: str, value: Any, wanted: type[Kind], remedy: str = "") -> Kind:
    """Return an instance of the wanted class."""
    if not isinstance(value, wanted):
        raise refuse(name, f"be a {wanted.__name__}", value, uncalled(value) or remedy)
    return value


def uncalled(value: object) -> str:
    """Return the remedy for a class or function passed instead of its result; empty if neither."""
    if isinstance(value, (type, FunctionType)):
        return f"call it: {value.__name__}()"
    return ""


def listed(name: str, value: Any) -> list[Any]:
    """Return an iterable as a list; a string is refused, though it is iterable."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise refuse(name, "be a list of texts", value)
    return list(value)


def names(
    name: str, value: Any, *, count: int, error: type[InvalidInput] = InvalidInput
) -> tuple[str, ...]:
    """Return ``count`` different names, or none at all, as a tuple."""
    result = tuple(map(plain, value)) if isinstance(value, (list, tuple)) else (plain(value),)
    if not all(isinstance(entry, str) and entry for entry in result):
        raise refuse(name, "be a list of names", value, error=error)
    if result and len(result) != count:
        raise error(f"{name} must hold {count} names, one each, got {len(result)}")
    if len(set(result)) != len(result):
        raise refuse(name, "be different names", value, error=error)
    return result


def plain(value: Any) -> Any:
    """Return an instance of a subclass of str as an exact str; anything else unchanged.

    Stores and checksums treat subclasses (``np.str_``, members of a StrEnum) unlike strings, and
    ``str()`` of an Enum member may be its name instead of its value.
    """
    return str.__str__(value) if isinstance(value, str) else value


def flag(name: str, value: object, *, error: type[InvalidInput] = InvalidInput) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, bool):
        raise refuse(name, "be True or False", value, error=error)


def choice(
    name: str,
    value: object,
    options: Iterable[str],
    *,
    error: type[InvalidInput] = InvalidInput,
) -> str:
    """Return ``value`` if it is one of ``options``; suggest the nearest one if not."""
    options, value = list(options), plain(value)
    if isinstance(value, str) and value in options:
        return value
    raise refuse(name, f"be one of {_listed(options)}", value, nearest(value, options), error)


def known_keys(
    name: str,
    keys: Iterable[str],
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    error: type[InvalidInput] = InvalidInput,
) -> None:
    """Refuse a mapping with an unknown or a missing key."""
    allowed = dict.fromkeys([*required, *optional])
    present = dict.fromkeys(keys)
    for key in present:
        if key not in allowed:
            options = f"use only {_listed([*allowed])}" if allowed else "it takes none"
            remedy = nearest(key, [*allowed]) or options
            raise error(f"{name} has the unknown key {_shown(key)}; {remedy}")
    for key in required:
        if key not in present:
            raise error(f"{name} lacks the key {key!r}; add it")


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


def nearest(value: object, options: list[str]) -> str:
    """Return ``did you mean …?`` with the nearest option; empty if none is near."""
    text = value if isinstance(value, str) else _shown(value)
    if len(options) > COMPARED or len(text) > 3 * max(map(len, options), default=0):
        return ""  # nothing of such a length is near an option, and difflib indexes all of it
    near = get_close_matches(text, options, n=1)
    return f"did you mean {str(near[0])!r}?" if near else ""  # str: members of a StrEnum too


def _listed(options: list[str]) -> str:
    text = ", ".join(options)
    if len(text) <= OPTIONS_LENGTH or len(options) == 1:
        return text
    count = 1
    while count < OPTION_COUNT and len(", ".join(options[: count + 1])) <= OPTIONS_LENGTH:
        count += 1
    return f"{', '.join(options[:count])}, … and {len(options) - count:,} more"


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return f"be at least {low:g}"
    if math.isinf(low):
        return f"be at most {high:g}"
    return f"be between {low:g} and {high:g}"


def _shown(value: object) -> str:
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 3] + "..."
