"""The types of the OpenAPI document in words: ``list of Decision``, ``text or null``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from almoner.service.api.requests import WHOLE_LIMIT

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
"""What a schema demands beyond its type, in words."""

EMPTY = {BOUNDS[bound].format(1) for bound in ("minLength", "minItems", "minProperties")}


class Piece(NamedTuple):
    """A part of a type in words, and the schema that it names, if it is one."""

    text: str
    schema: str | None = None


class Field(NamedTuple):
    """A field of a body, or a parameter of an operation."""

    name: str
    kind: list[Piece]
    required: bool
    note: str


def description(schema: dict[str, Any]) -> str:
    """Return a description on one line."""
    return " ".join(schema.get("description", "").split())


def fields(schema: dict[str, Any]) -> Iterator[Field]:
    """Yield the fields of a table, those that it needs first."""
    required = schema.get("required", [])
    properties = schema.get("properties", {}).items()
    for name, field in sorted(properties, key=lambda item: item[0] not in required):
        yield Field(name, list(pieces(field)), name in required, note(field, description(field)))


def note(schema: dict[str, Any], said: str) -> str:
    """Return what is to be known of a value beyond its type."""
    kinds = [schema, *schema.get("anyOf", [])]
    limits = [
        words.format(f"{kind[bound]:,}")
        for kind in kinds
        for bound, words in BOUNDS.items()
        if bound in kind and kind[bound] != WHOLE_LIMIT
    ]
    default = schema.get("default")
    if default is not None and default != []:
        limits.append(f"{json.dumps(default)} if left out")
    limits = ["not empty" if limit in EMPTY else limit for limit in limits]
    return "; ".join([*([said.rstrip(".")] if said else []), *limits])


def pieces(schema: dict[str, Any]) -> Iterator[Piece]:
    """Yield a type in words: ``list of Decision``, ``text or null``."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield Piece(name, name)
    elif choices:
        for place, choice in enumerate(choices):
            if place:
                yield Piece(" or ")
            yield from pieces(choice)
    elif "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield Piece(" or ".join(repr(value) for value in values))
    elif schema.get("type") == "array":
        yield Piece("list of ")
        yield from pieces(schema.get("items") or {})
    elif schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield Piece("table by name of ")
        yield from pieces(schema["additionalProperties"])
    else:
        kinds = schema.get("type", "anything")
        yield Piece(" or ".join(map(_kind, [kinds] if isinstance(kinds, str) else kinds)))


def _kind(name: str) -> str:
    return {"string": "text", "integer": "whole number", "object": "table"}.get(name, name)
