"""Error messages for JSON that does not fit its type: name, rule, value.

msgspec reports the path of a wrong value. It becomes a name such as ``rewards[3].value`` or
``actions['coupon'].cost``, and the type at that path becomes the rule.
"""

from __future__ import annotations

import json
import math
import re
import sys
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from almoner import checks
from almoner.errors import InvalidInput

__all__ = ["QUERY", "error_message"]

BODY, QUERY = "body", "query"
"""Names of the whole value; its fields are named without it."""

SECRET = ("person", "persons")
"""Fields whose values no message repeats: messages are logged."""

KEY_SHOWN = 60
"""Number of characters shown of a key."""

TYPES = {str: "a text", float: "a number", int: "a whole number", list: "a list"}
TYPES |= {bool: "true or false", NoneType: "null"}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
BOUNDS |= {"min_length": "at least", "max_length": "at most"}
"""Words for JSON types, and for the constraints of `msgspec.Meta`."""


class JsonPart(NamedTuple):
    """A part of a JSON value: its name, its type, and the part itself."""

    name: str
    kind: Any
    value: Any


def error_message(
    kind: Any, value: Any, error: msgspec.ValidationError, *, name: str = BODY
) -> str:
    """Return why msgspec rejected decoded JSON, as one sentence.

    Examples
    --------
    >>> from typing import Annotated
    >>> def message(kind, value):
    ...     try:
    ...         msgspec.convert(value, kind)
    ...     except msgspec.ValidationError as error:
    ...         return error_message(kind, value, error)
    >>> message(list[Annotated[int, Meta(ge=1)]], [1, None])
    'body[1] must be a whole number of at least 1, got body[1]=null'
    >>> message(Annotated[str, Meta(min_length=1, max_length=9)], "")
    'body must be a text of 1 to 9 characters, got 0'
    """
    reason = str(error)
    match = re.search(r" - at (`key` in )?`\$([^`]*)`$", reason)
    path = re.findall(r"\w+|\.{3}", match[2]) if match else []
    for steps in (path, []):  # an unknown key can be written to look like a path
        part = JsonPart(name, kind, value)
        try:
            for step in steps:
                part = _entry(part, step)
            _check(_bad_key(part) if match and match[1] else part, reason)
        except InvalidInput as sentence:
            return str(sentence)
        except (LookupError, ValueError, TypeError, StopIteration):
            continue
    return "the request must be as the document says; see /docs"


def _entry(part: JsonPart, step: str) -> JsonPart:
    """Return the entry of a value that one step of a path leads to."""
    name, kind, value = part
    kind = _container(kind)
    if step == "...":  # an entry of an object: msgspec does not tell its key
        kind = get_args(kind)[1]
        key = next(key for key, entry in value.items() if not _fits(entry, kind))
        shown = key if len(key) <= KEY_SHOWN else f"{key[:KEY_SHOWN]}…"
        return JsonPart(f"{name}[{shown!r}]", kind, value[key])
    if step.isdigit():
        index, kinds = int(step), get_args(kind)
        kind = kinds[index] if get_origin(kind) is tuple else kinds[0]
        return JsonPart(f"{name}[{index}]", kind, value[index])
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    return JsonPart(step if name in {BODY, QUERY} else f"{name}.{step}", fields[step], value[step])


def _bad_key(part: JsonPart) -> JsonPart:
    """Return the key of an object that does not fit."""
    kind = get_args(_container(part.kind))[0]
    key = next(key for key in part.value if not _fits(key, kind))
    return JsonPart(f"a key of {part.name}", kind, key)


def _check(part: JsonPart, reason: str) -> None:
    """Raise `InvalidInput` for a value that does not fit its type."""
    name, kind, value = part
    if _fits(value, kind):  # e.g. the last of two entries with one key, of which the first is wrong
        return
    members = _members(kind)
    struct = next((member for member in members if _is_struct(member)), None)
    if struct is not None and isinstance(value, dict):
        fields = msgspec.structs.fields(struct)
        checks.known_keys(
            f"the {name}" if name in {BODY, QUERY} else name,
            value,
            required=[field.encode_name for field in fields if field.required],
            optional=[field.encode_name for field in fields if not field.required],
        )
    if get_origin(kind) is Literal:
        checks.choice(name, value, get_args(kind))
    if type(value) is int and abs(value) > sys.float_info.max:
        raise InvalidInput(f"{name} must be at most {sys.float_info.max:.1e}, got {_digits(value)}")
    near = [member for member in members if _fits(value, _split(member)[0])]  # but for limits
    rule = f"be {_either([_words(member) for member in near or members])}"
    if " of length " in reason:
        raise InvalidInput(f"{name} must {rule}, got {len(value):,}")
    if name.partition("[")[0] in SECRET:
        raise InvalidInput(f"{name} must {rule}, got a value of another kind")
    raise checks.refuse(name, rule, _Json(value))


def _digits(value: int) -> str:
    """Return the length of a whole number in words, without writing it out."""
    return f"a number of about {round(abs(value).bit_length() * math.log10(2)):,} digits"


class _Json:
    """A value whose ``repr`` is JSON."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return json.dumps(self._value, ensure_ascii=False)


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _members(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union; a type that is none is the only member."""
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def _split(kind: Any) -> tuple[Any, Meta]:
    """Return a type without its constraints, and the constraints."""
    return (
        (kind.__origin__, kind.__metadata__[0]) if hasattr(kind, "__metadata__") else (kind, Meta())
    )


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _container(kind: Any) -> Any:
    """Return the member of a union that has entries."""
    plain = [_split(member)[0] for member in _members(kind)]
    return next(
        each for each in plain if _is_struct(each) or get_origin(each) in {dict, list, tuple}
    )


def _words(kind: Any) -> str:
    """Return a type in words: ``a number from 0 to 1``, ``a text of 1 to 9 characters``."""
    plain, meta = _split(kind)
    if get_origin(plain) is Literal:
        return _either([repr(value) for value in get_args(plain)])
    if get_origin(plain) is tuple:
        return f"a list of {len(get_args(plain))} entries"
    words = TYPES.get(get_origin(plain) or plain, "a table")
    if meta.multiple_of is not None:
        words = "a whole number"
    bounds = [(word, getattr(meta, name)) for name, word in BOUNDS.items()]
    limits = " and ".join(f"{word} {bound:,}" for word, bound in bounds if bound is not None)
    if not limits:
        return words
    if plain in {int, float}:
        return re.sub(r"of at least (\S+) and at most", r"from \1 to", f"{words} of {limits}")
    limits = limits.replace("at least 1 and at most", "1 to")
    return f"{words} of {limits} {'characters' if plain is str else 'entries'}"


def _either(words: list[str]) -> str:
    """Return words as a choice: ``a, b or c``."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
