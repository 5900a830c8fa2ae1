"""The OpenAPI document: operations from their handlers, components from their types.

msgspec makes the components, and also decodes the bodies, so that the document allows exactly what
is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from inspect import cleandoc, getdoc
from types import ModuleType
from typing import Any

import msgspec

from almoner import __version__
from almoner.live.decision import Decision, Settlement
from almoner.live.reports.final_report import FinalReport
from almoner.live.reports.report import Report
from almoner.service.api import campaign_terms, campaign_view, plan_view, requests, responses
from almoner.service.api.operation import Operation, get
from almoner.service.api.responses import ErrorAnswer
from almoner.service.auth.access import OPEN
from almoner.service.services import Services

__all__ = ["OPERATIONS", "document"]

REFERENCE = "#/components/schemas/{name}"


def _types(*modules: ModuleType) -> list[Any]:
    """Return the public types of modules, in the order of their names."""
    types = {name: getattr(module, name) for module in modules for name in module.__all__}
    return [types[name] for name in sorted(types)]


TYPES = [
    Decision,
    Settlement,
    Report,
    FinalReport,
    *_types(campaign_terms, requests),
    *_types(campaign_view, plan_view, responses),
]


@get("/openapi.json")
async def openapi(services: Services) -> dict[str, Any]:
    """Return the OpenAPI document, which leaves this operation out."""
    return services.document


OPERATIONS = [openapi]


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    _, components = msgspec.json.schema_components(TYPES, ref_template=REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "almoner",
            "version": __version__,
            "description": "Spend a fixed budget well, one decision at a time, while learning.",
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}, {}],  # without keys in the store, none is needed
        "paths": paths,
        "components": {
            "schemas": {name: _described(schema) for name, schema in components.items()},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    name = _camel(operation.handler.__name__)
    steps = [step.strip("{}") for step in operation.path.split("/")]
    named = [step for step in steps if operation.parameters.get(step) is not int]
    body, query = operation.types.get("body"), operation.types.get("query")
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _schema(kind)}
        for name, kind in operation.parameters.items()
    ]
    for field in [] if query is None else msgspec.structs.fields(query):
        schema = {**_schema(field.type), "default": field.default}
        parameters += [{"name": field.name, "in": "query", "required": False, "schema": schema}]
    return {
        "summary": name,
        "description": getdoc(operation.handler),
        "operationId": "".join(map(_camel, named)) + name,
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": {"content": _json(body), "required": True}} if body else {}),
        "responses": _responses(operation),
        **({"security": []} if operation.path in OPEN else {}),
    }


def _responses(operation: Operation) -> dict[str, Any]:
    """Return the responses of an operation by status."""
    if operation.media_types == ("application/json",):
        content = _json(operation.result)
    else:
        content = {kind: {"schema": {"type": "string"}} for kind in operation.media_types}
    successes = {operation.status: HTTPStatus(operation.status).description, **operation.also}
    return {
        str(status): {"description": text, **({"content": content} if status != 204 else {})}
        for status, text in successes.items()
    } | {
        str(status): {"description": text, "content": _json(ErrorAnswer)}
        for status, text in operation.errors.items()
    }


def _json(kind: Any) -> dict[str, Any]:
    return {"application/json": {"schema": _schema(kind)}}


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a type: a reference, if it is one of the components."""
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=REFERENCE)
    return schema


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in re.split("[_-]", name))


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    r"""Return a schema whose fields are described from the ``Attributes`` of its docstring.

    >>> text = "It.\n\n    Attributes\n    ----------\n    a, b\n        Two,\n        or None."
    >>> _described({"description": text, "properties": {"a": {}, "b": {}}})["properties"]
    {'a': {'description': '``a``, ``b``: Two, or null.'}, 'b': {'description': 'See ``a``.'}}
    """
    if "description" not in schema:
        return schema
    text, _, attributes = cleandoc(schema["description"]).partition("\n\nAttributes\n")
    entries = re.findall(r"^(\w.*)\n((?:    .*\n?|\n)+)", attributes, re.MULTILINE)
    words: dict[str, str] = {}
    for names, note in entries:
        first, *others = names.split(", ")
        group = ", ".join(f"``{name}``" for name in [first, *others]) + ": " if others else ""
        words[first] = group + re.sub(r"\bNone\b", "null", " ".join(note.split()))
        words |= dict.fromkeys(others, f"See ``{first}``.")
    fields = {
        name: {**field, "description": words[name]} if name in words else field
        for name, field in schema.get("properties", {}).items()
    }
    return {**schema, "description": text, **({"properties": fields} if fields else {})}
