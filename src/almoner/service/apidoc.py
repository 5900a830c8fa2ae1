"""The OpenAPI document, arranged for reading: groups of operations, tables of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Field", "Group", "Operation", "Piece", "Schema", "groups", "schemas"]

METHODS = ("get", "post", "put", "patch", "delete")

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


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method on one path."""

    anchor: str
    method: str
    path: str
    title: str
    description: str
    parameters: list[Field]
    body: list[Piece]
    body_fields: list[Field]
    answers: list[tuple[str, list[Piece], str]]
    errors: list[tuple[str, list[Piece], str]]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Operations that belong together: those under the same first part of the path."""

    title: str
    operations: list[Operation]


@dataclass(frozen=True, kw_only=True)
class Schema:
    """A type of the document."""

    name: str
    description: str
    fields: list[Field]
    kind: list[Piece]


def groups(document: dict[str, Any]) -> list[Group]:
    """Return all operations, by what they are about."""
    found: dict[str, list[Operation]] = {}
    fields = {schema.name: schema.fields for schema in schemas(document)}
    for path, methods in document.get("paths", {}).items():
        for method in METHODS:
            if method in methods:
                operation = _operation(path, method, methods[method], fields)
                found.setdefault(_group(path), []).append(operation)
    order = [title for title in ("Campaigns", "Decisions", "Planning") if title in found]
    order += [title for title in found if title not in order]
    return [Group(title=title, operations=found[title]) for title in order]


def schemas(document: dict[str, Any]) -> list[Schema]:
    """Return all types, by name."""
    return [
        Schema(
            name=name,
            description=_said(schema),
            fields=list(_fields(schema)),
            kind=[] if "properties" in schema else list(_pieces(schema)),
        )
        for name, schema in sorted(document.get("components", {}).get("schemas", {}).items())
    ]


def _group(path: str) -> str:
    if "/decisions" in path:
        return "Decisions"
    if path.startswith("/api/campaigns"):
        return "Campaigns"
    return "Planning" if path.startswith("/api/plan") else "Service"


def _operation(
    path: str, method: str, operation: dict[str, Any], fields: dict[str, list[Field]]
) -> Operation:
    body = _content(operation.get("requestBody", {}))
    answers = [
        (status, _content(answer), answer.get("description", ""))
        for status, answer in sorted(operation.get("responses", {}).items())
    ]
    return Operation(
        anchor=re.sub(r"\W+", "-", f"{method} {path}").strip("-"),
        method=method.upper(),
        path=re.sub(r"\{(\w+):\w+\}", r"{\1}", path),
        title=re.sub(r"(?<=[a-z])(?=[A-Z])", " ", operation.get("summary", "")).capitalize(),
        description=operation.get("description", ""),
        parameters=[
            Field(
                name=parameter["name"],
                kind=[*_pieces(parameter.get("schema", {})), Piece(f" in the {parameter['in']}")],
                required=parameter.get("required", False),
                note=_note(parameter.get("schema", {}), parameter.get("description", "")),
            )
            for parameter in operation.get("parameters", [])
        ],
        body=body,
        body_fields=[field for piece in body for field in fields.get(piece.schema or "", [])],
        answers=[answer for answer in answers if answer[0] < "400"],
        errors=[answer for answer in answers if answer[0] >= "400"],
    )


def _content(holder: dict[str, Any]) -> list[Piece]:
    for media, content in holder.get("content", {}).items():
        pieces = list(_pieces(content.get("schema", {})))
        return pieces if media == "application/json" else [*pieces, Piece(f" as {media}")]
    return []


def _said(schema: dict[str, Any]) -> str:
    """Return a description without its list of attributes, which are told field by field."""
    text = schema.get("description", "").partition("\n\nAttributes\n")[0]
    return " ".join(text.replace("``", "").split())


def _fields(schema: dict[str, Any]) -> Iterator[Field]:
    required, notes = schema.get("required", []), _attributes(schema)
    for name, field in schema.get("properties", {}).items():
        yield Field(name, list(_pieces(field)), name in required, _note(field, notes.get(name, "")))


def _attributes(schema: dict[str, Any]) -> dict[str, str]:
    """Return what a docstring in numpydoc form says of each attribute, or of the first of several.

    >>> _attributes({"description": "It.\\n\\nAttributes\\n----------\\na, b\\n    Two of them."})
    {'a': 'Two of them.'}
    """
    _, _, text = schema.get("description", "").partition("\n\nAttributes\n")
    notes: dict[str, str] = {}
    name = ""
    for line in text.splitlines()[1:]:
        if line.strip() and not line.startswith(" "):
            name = line.partition(",")[0].strip()
            notes[name] = ""
        elif line.strip():
            notes[name] = f"{notes[name]} {line.strip()}".strip()
    return {name: note.replace("``", "") for name, note in notes.items()}


def _note(schema: dict[str, Any], description: str) -> str:
    limits = [
        words.format(f"{schema[bound]:,}") for bound, words in BOUNDS.items() if bound in schema
    ]
    default = schema.get("default")
    if default is not None and default != []:
        limits.append(f"{default!r} if left out" if default is not False else "false if left out")
    said = description or schema.get("description", "")
    return "; ".join([*([said] if said else []), *limits])


def _pieces(schema: dict[str, Any]) -> Iterator[Piece]:
    """Yield a type in words: ``list of Decision``, ``text or null``."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield Piece(name, name)
    elif choices:
        for place, choice in enumerate(choices):
            if place:
                yield Piece(" or ")
            yield from _pieces(choice)
    elif "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield Piece(" or ".join(repr(value) for value in values))
    elif schema.get("type") == "array":
        yield Piece("list of ")
        yield from _pieces(schema.get("items") or {})
    elif schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield Piece("table by name of ")
        yield from _pieces(schema["additionalProperties"])
    else:
        kinds = schema.get("type", "anything")
        yield Piece(" or ".join(map(_kind, [kinds] if isinstance(kinds, str) else kinds)))


def _kind(name: str) -> str:
    return {"string": "text", "integer": "whole number", "object": "table"}.get(name, name)
