"""API reference: the OpenAPI document as groups of operations and tables of fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from almoner.service.web import schema_text
from almoner.service.web.schema_text import Field, Piece

__all__ = [
    "DocumentedOperation",
    "Group",
    "OperationResponse",
    "Schema",
    "common_errors",
    "groups",
    "schemas",
]

METHODS = ("get", "post", "put", "patch", "delete")

ORDER = ["Campaigns", "Decisions", "Planning"]
"""Groups shown first, in this order; the others follow."""


class OperationResponse(NamedTuple):
    """Response of an operation: its status, body type and meaning."""

    status: str
    body: list[Piece]
    meaning: str


@dataclass(frozen=True, kw_only=True)
class DocumentedOperation:
    """Operation: one method on one path."""

    anchor: str
    method: str
    path: str
    title: str
    description: str
    parameters: list[Field]
    body: list[Piece]
    body_fields: list[Field]
    responses: list[OperationResponse]
    errors: list[OperationResponse]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Group of operations on the same subject."""

    title: str
    operations: list[DocumentedOperation]


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Type of the document: an object with fields, or another kind."""

    name: str
    description: str
    fields: list[Field]
    kind: list[Piece]


def groups(document: dict[str, Any]) -> list[Group]:
    """Return all operations by subject."""
    operations: dict[str, list[DocumentedOperation]] = {}
    by_name = {schema.name: schema for schema in schemas(document)}
    for path, methods in document.get("paths", {}).items():
        for method in METHODS:
            if method in methods:
                operation = _operation(path, method, methods[method], by_name)
                operations.setdefault(_group(path), []).append(operation)
    first = [title for title in ORDER if title in operations]
    rest = [title for title in operations if title not in ORDER]
    return [Group(title=title, operations=operations[title]) for title in first + rest]


def common_errors(groups: list[Group]) -> list[OperationResponse]:
    """Return the most frequent list of errors, shown once for all operations that have it."""
    lists = [operation.errors for group in groups for operation in group.operations]
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
    if "/decisions" in path or path.endswith(("/rewards", "/settlements", "/cancellations")):
        return "Decisions"
    if path.startswith("/api/campaigns"):
        return "Campaigns"
    return "Planning" if path.startswith("/api/plan") else "Service"


def _operation(
    path: str, method: str, operation: dict[str, Any], by_name: dict[str, Schema]
) -> DocumentedOperation:
    body = _content(operation.get("requestBody", {}))
    responses = [
        OperationResponse(status, _content(response), _meaning(status, response, by_name))
        for status, response in sorted(operation.get("responses", {}).items())
    ]
    return DocumentedOperation(
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
            field
            for piece in body
            if piece.schema in by_name
            for field in by_name[piece.schema].fields
        ],
        responses=[response for response in responses if response.status < "400"],
        errors=[response for response in responses if response.status >= "400"],
    )


def _meaning(status: str, response: dict[str, Any], by_name: dict[str, Schema]) -> str:
    """Return the description of a response, or of its body where it is only the status phrase."""
    text: str = response.get("description", "")
    if not status.isdecimal() or text != HTTPStatus(int(status)).description:
        return text
    names = [piece.schema for piece in _content(response) if piece.schema in by_name]
    return by_name[names[0]].description if names else ""


def _content(message: dict[str, Any]) -> list[Piece]:
    """Return the type of a request or response body."""
    for media, content in message.get("content", {}).items():
        pieces = list(schema_text.pieces(content.get("schema", {})))
        return pieces if media == "application/json" else [*pieces, Piece(f" as {media}")]
    return []
