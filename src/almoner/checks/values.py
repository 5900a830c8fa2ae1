"""Checks of other values: names, lists of them, options, keys of tables, flags and types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from almoner.checks.messages import nearest, refuse, shown, some_of, uncalled
from almoner.errors import InvalidInput

__all__ = ["choice", "flag", "kind", "known_keys", "listed", "names", "plain"]

Kind = TypeVar("Kind")


def kind(name: str, value: Any, wanted: type[Kind], remedy: str = "") -> Kind:
    """Return an instance of the wanted class."""
    if not isinstance(value, wanted):
        raise refuse(name, f"be a {wanted.__name__}", value, uncalled(value) or remedy)
    return value


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
    raise refuse(name, f"be one of {some_of(options)}", value, nearest(value, options), error)


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
            options = f"use only {some_of([*allowed])}" if allowed else "it takes none"
            remedy = nearest(key, [*allowed]) or options
            raise error(f"{name} has the unknown key {shown(key)}; {remedy}")
    for key in required:
        if key not in present:
            raise error(f"{name} lacks the key {key!r}; add it")
