"""Objections: what is wrong with JSON that its type refuses, in the library's own sentences.

The decoder is fast and says no, and where; this says why, once it has. Names are those of the
document: ``rewards[3].value``, ``actions['coupon'].cost``.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any

from msgspec import inspect

from almoner import checks
from almoner.errors import InvalidInput

__all__ = ["objection"]

BODY = "body"

ENTRIES = 10_000
"""How many entries of a table are looked through: all answers wait meanwhile."""

KEY_SHOWN = 60
"""Characters of a key that are shown."""

Path = list[str]
"""Where in a value the fault is: fields, places, and ``...`` for an entry of a table."""


def objection(kind: inspect.Type, value: Any, *, name: str = BODY, reason: str = "") -> str | None:
    """Return in a sentence why a value is not of a type; None where none is found.

    Parameters
    ----------
    kind, value, name
        The type, what is not of it, and what that is called.
    reason
        What the decoder said, which tells where in the value the fault is.

    Examples
    --------
    >>> objection(inspect.type_info(float), "1", name="cost")
    'cost must be a number, got cost="1"'
    >>> objection(inspect.type_info(list[int]), [1, None], name="ids", reason="… - at `$[1]`")
    'ids[1] must be a whole number, got ids[1]=null'
    """
    where = re.search(r" - at (?:`key` in )?`\$([^`]*)`$", reason)
    path = re.findall(r"\w+|\.{3}", where[1]) if where else []
    for towards in (path, []):  # an unknown key can be written to look like a path
        try:
            _check(name, kind, value, towards)
        except InvalidInput as error:
            return str(error)
        except (LookupError, ValueError):
            continue
    return None


class _Json:
    """A value that is shown as it was sent."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return json.dumps(self._value, ensure_ascii=False)


def _check(name: str, kind: inspect.Type, value: Any, path: Path) -> None:
    if isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.LiteralType):
        checks.choice(name, value, kind.values)  # type: ignore[arg-type]  # only texts are used
        return
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    fitting = next((one for one in kinds if _fits(one, value)), None)
    if fitting is None:
        raise checks.refuse(name, f"be {_either([*map(_words, kinds)])}", _Json(value))
    match fitting:
        case inspect.FloatType() | inspect.IntType():
            _check_number(name, fitting, value)
        case inspect.StrType():
            _check_length(name, fitting, len(value), "characters")
        case inspect.StructType():
            _check_struct(name, fitting, value, path)
        case inspect.DictType():
            _check_table(name, fitting, value, path)
        case inspect.ListType() | inspect.TupleType():
            _check_list(name, fitting, value, path)


def _check_number(name: str, kind: inspect.FloatType | inspect.IntType, value: float) -> None:
    low = -math.inf if kind.ge is None else kind.ge
    high = math.inf if kind.le is None else kind.le
    checks.number(name, value, low=low, high=high, above=kind.gt)
    if kind.multiple_of == 1:
        checks.whole(name, value, low=0)


def _check_length(name: str, kind: Any, length: int, of: str) -> None:
    least, most = kind.min_length or 0, kind.max_length
    if length < least or (most is not None and length > most):
        room = f"{least:,} to {most:,}" if least else f"at most {most:,}"
        raise InvalidInput(f"{name} must have {room} {of}, got {length:,}")


def _check_list(
    name: str, kind: inspect.ListType | inspect.TupleType, value: list[Any], path: Path
) -> None:
    fixed = kind.item_types if isinstance(kind, inspect.TupleType) else ()
    if path:
        place = int(path[0])
        entry = kind.item_type if isinstance(kind, inspect.ListType) else fixed[place]
        _check(f"{name}[{place}]", entry, value[place], path[1:])
    elif isinstance(kind, inspect.ListType):
        _check_length(name, kind, len(value), "entries")
    elif len(value) != len(fixed):
        raise InvalidInput(f"{name} must have {len(fixed)} entries, got {len(value):,}")


def _check_table(name: str, kind: inspect.DictType, value: dict[str, Any], path: Path) -> None:
    _check_length(name, kind, len(value), "entries")
    for key, entry in islice(value.items(), ENTRIES):
        if path:
            shown = repr(key if len(key) <= KEY_SHOWN else f"{key[:KEY_SHOWN]}…")
            _check(f"{name}[{shown}]", kind.value_type, entry, path[1:])
        else:
            _check(f"a key of {name}", kind.key_type, key, path)


def _check_struct(name: str, kind: inspect.StructType, value: dict[str, Any], path: Path) -> None:
    known = {field.encode_name: field for field in kind.fields}
    if path:
        key = path[0]
        if key in value:  # of several entries of a table, another may be the one
            inner = key if name == BODY else f"{name}.{key}"
            _check(inner, known[key].type, value[key], path[1:])
        return
    checks.known_keys(
        f"the {BODY}" if name == BODY else name,
        value,
        required=[key for key, field in known.items() if field.required],
        optional=[key for key, field in known.items() if not field.required],
    )


def _fits(kind: inspect.Type, value: Any) -> bool:
    """Return whether a value is of a type as far as JSON knows types."""
    match kind:
        case inspect.LiteralType():
            return value in kind.values
        case inspect.FloatType() | inspect.IntType():
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.NoneType():
            return value is None
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType() | inspect.TupleType():
            return isinstance(value, list)
    return True


def _words(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType():
            return _either([repr(value) for value in kind.values])
        case inspect.FloatType(multiple_of=1) | inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.StrType():
            return "a text"
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
        case inspect.ListType() | inspect.TupleType():
            return "a list"
    return "a table"


def _either(words: list[str]) -> str:
    """Return words as a choice: ``a, b or c``."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
