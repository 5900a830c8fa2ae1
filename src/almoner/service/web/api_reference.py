"""The OpenAPI document, arranged for reading: groups of operations, tables of fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from almoner.service.web import schema_text
from almoner.service.web.schema_text import Field, Piece

__all__ = ["Answer", "Group", "Operation", "Schema", "common_errors", "groups", "schemas"]

METHODS = ("get", "post", "put", "patch", "delete")

ORDER = ["Campaigns", "Decisions", "Planning"]
"""What a newcomer needs first; the rest follows."""


class Answer(NamedTuple):
    """What an operation may answer."""

    status: str
    body: list[Piece]
    meaning: str


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
    answers: list[Answer]
    errors: list[Answer]


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
    known = {schema.name: schema for schema in schemas(document)}
    for path, methods in document.get("paths", {}).items():
        for method in METHODS:
            if method in methods:
                operation = _operation(path, method, methods[method], known)
                found.setdefault(_group(path), []).append(operation)
    first = [title for title in ORDER if title in found]
    rest = [title for title in found if title not in ORDER]
    return [Group(title=title, operations=found[title]) for title in first + rest]


def common_errors(found: list[Group]) -> list[Answer]:
    """Return the errors that most operations may answer, so that they need be told only once."""
    lists = [operation.errors for group in found for operation in group.operations]
    return max(lists, key=lists.count, default=[])


def schemas(document: dict[str, Any]) -> list[Schema]:
    """Return all types, by name."""
    return [
        Schema(
            name=name,
            description=schema_text.description(schema),
            fields=list(schema_text.fields(schema)),
            kind=[] if "properties" in schema else list(schema_text.pieces(schema)),
        )
        for name, schema in sorted(document.get("components", {}).get("schemas", {}).items())
    ]


def _group(path: str) -> str:
    if "/decisions" in path or path.endswith("/rewards"):
        return "Decisions"
    if path.startswith("/api/campaigns"):
        return "Campaigns"
    return "Planning" if path.startswith("/api/plan") else "Service"


def _operation(
    path: str, method: str, operation: dict[str, Any], known: dict[str, Schema]
) -> Operation:
    body = _content(operation.get("requestBody", {}))
    answers = [
        Answer(status, _content(answer), _meaning(status, answer, known))
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
                kind=[
                    *schema_text.pieces(parameter.get("schema", {})),
                    Piece(f" in the {parameter['in']}"),
                ],
                required=parameter.get("required", False),
                note=schema_text.note(
                    parameter.get("schema", {}), parameter.get("description", "")
                ),
            )
            for parameter in operation.get("parameters", [])
        ],
        body=body,
        body_fields=[
            field for piece in body if piece.schema in known for field in known[piece.schema].fields
        ],
        answers=[answer for answer in answers if answer.status < "400"],
        errors=[answer for answer in answers if answer.status >= "400"],
    )


def _meaning(status: str, answer: dict[str, Any], known: dict[str, Schema]) -> str:
    """Return what an answer means; where nobody has said, what its body is."""
    said: str = answer.get("description", "")
    if status.isdecimal() and said == HTTPStatus(int(status)).description:
        return next(
            (
                known[piece.schema].description
                for piece in _content(answer)
                if piece.schema in known
            ),
            "",
        )
    return said


def _content(holder: dict[str, Any]) -> list[Piece]:
    for media, content in holder.get("content", {}).items():
        pieces = list(schema_text.pieces(content.get("schema", {})))
        return pieces if media == "application/json" else [*pieces, Piece(f" as {media}")]
    return []
