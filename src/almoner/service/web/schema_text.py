"""Types of the OpenAPI document as text: ``array of Decision``, ``string or null``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from almoner.service.api.fields import WHOLE_LIMIT

__all__ = ["Field", "Piece", "description", "fields", "note", "pieces"]

BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} or more",
    "maxItems": "{} at most",
    "minProperties": "{} or more",
    "maxProperties": "{} at most",
}
"""Constraints of a schema beyond its type, as text."""

EMPTY = {BOUNDS[bound].format(1) for bound in ("minLength", "minItems", "minProperties")}


class Piece(NamedTuple):
    """Part of a type's text; ``schema`` is the name of the type it links to."""

    text: str
    schema: str | None = None


class Field(NamedTuple):
    """Field of an object, or parameter of an operation."""

    name: str
    kind: list[Piece]
    required: bool
    note: str


def description(schema: dict[str, Any]) -> str:
    """Return a description on one line."""
    return " ".join(schema.get("description", "").split())


def fields(schema: dict[str, Any]) -> Iterator[Field]:
    """Yield the fields of an object, required ones first."""
    required = schema.get("required", [])
    properties = schema.get("properties", {}).items()
    for name, field in sorted(properties, key=lambda item: item[0] not in required):
        yield Field(name, list(pieces(field)), name in required, note(field, description(field)))


def note(schema: dict[str, Any], text: str) -> str:
    """Return a description followed by the constraints and the default of a value."""
    kinds = [schema, *schema.get("anyOf", [])]
    limits = [
        phrase.format(f"{kind[bound]:,}")
        for kind in kinds
        for bound, phrase in BOUNDS.items()
        if bound in kind and kind[bound] != WHOLE_LIMIT
    ]
    default = schema.get("default")
    if default is not None and default != []:
        limits.append(f"{json.dumps(default)} if left out")
    limits = ["not empty" if limit in EMPTY else limit for limit in limits]
    return "; ".join([*([text.rstrip(".")] if text else []), *limits])


def pieces(schema: dict[str, Any]) -> Iterator[Piece]:
    """Yield the text of a type in pieces: ``array of Decision``, ``string or null``."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield Piece(name, name)
    elif choices:
        for index, choice in enumerate(choices):
            if index:
                yield Piece(" or ")
            yield from pieces(choice)
    elif "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield Piece(" or ".join(repr(value) for value in values))
    elif schema.get("type") == "array":
        yield Piece("array of ")
        yield from pieces(schema.get("items") or {})
    elif schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield Piece("object of ")
        yield from pieces(schema["additionalProperties"])
    else:
        kinds = schema.get("type", "anything")
        yield Piece(kinds if isinstance(kinds, str) else " or ".join(kinds))
