"""Wording of errors of input: name, rule, value, remedy."""

from __future__ import annotations

from difflib import get_close_matches
from types import FunctionType

import numpy as np

from almoner.errors import InvalidInput

__all__ = ["nearest", "refuse", "shown", "some_of", "uncalled"]

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
        f"{name} must {rule}, got {name}={shown(value)}" + (f"; {remedy}" if remedy else "")
    )


def uncalled(value: object) -> str:
    """Return the remedy for a class or function passed instead of its result; empty if neither."""
    if isinstance(value, (type, FunctionType)):
        return f"call it: {value.__name__}()"
    return ""


def nearest(value: object, options: list[str]) -> str:
    """Return ``did you mean …?`` with the nearest option; empty if none is near."""
    text = value if isinstance(value, str) else shown(value)
    if len(options) > COMPARED or len(text) > 3 * max(map(len, options), default=0):
        return ""  # nothing of such a length is near an option, and difflib indexes all of it
    near = get_close_matches(text, options, n=1)
    return f"did you mean {str(near[0])!r}?" if near else ""  # str: members of a StrEnum too


def some_of(options: list[str]) -> str:
    """Return options as a list in words, only the first ones of a long one."""
    options = [option or "''" for option in options]
    text = ", ".join(options)
    if len(text) <= OPTIONS_LENGTH or len(options) == 1:
        return text
    count = 1
    while count < OPTION_COUNT and len(", ".join(options[: count + 1])) <= OPTIONS_LENGTH:
        count += 1
    return f"{', '.join(options[:count])}, … and {len(options) - count:,} more"


def shown(value: object) -> str:
    """Return a value as messages show it, shortened."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 3] + "..."
