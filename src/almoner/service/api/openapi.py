"""The OpenAPI document: operations from the handlers' signatures, components from their types.

The components are made by msgspec, which also decodes the bodies: what the document allows is what
is taken, to the last constraint.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Any

import msgspec
from litestar import Litestar, Request
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.router import Router

from almoner import __version__
from almoner.live.decision import Decision, Settlement
from almoner.live.report import Report
from almoner.service.api import requests, responses
from almoner.service.api.responses import ErrorAnswer

__all__ = ["ERRORS", "config", "document"]

ERRORS = {
    status: ResponseSpec(ErrorAnswer, description=description, generate_examples=False)
    for status, description in {
        400: "The request is not what this document says",
        401: "A key is missing or not valid",
        403: "The key does not give the right to this",
        404: "There is no such campaign or decision",
        409: "It contradicts what the log says",
        413: "The body is too large",
        415: "The body is not JSON",
        422: "It breaks a rule of the library",
        429: "Too many requests",
        500: "A mistake in the service, or a broken ledger",
        503: "The store does not answer",
    }.items()
}
"""What every operation may answer instead of what was asked for."""

TEXTS = {
    "/api/campaigns/{name}/log": ("text/csv", "application/x-ndjson"),
    "/metrics": ("text/plain",),
}
"""What is not JSON, with the kinds of text that it may be."""

TYPES = [
    Decision,
    Settlement,
    Report,
    *(getattr(requests, name) for name in requests.__all__),
    *(getattr(responses, name) for name in responses.__all__),
]


class _Json(OpenAPIRenderPlugin):
    """Serves the document."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        return msgspec.json.encode(document(request.app))


def config() -> OpenAPIConfig:
    """Return what the framework needs to know of the document."""
    return OpenAPIConfig(
        title="almoner",
        version=__version__,
        description="Spend a fixed budget well, one decision at a time, while learning.",
        use_handler_docstrings=True,
        components=Components(
            security_schemes={"key": SecurityScheme(type="http", scheme="bearer")}
        ),
        openapi_router=Router("/openapi.json", route_handlers=[], include_in_schema=False),
        render_plugins=[_Json(path="/", media_type="application/json")],  # type: ignore[arg-type]
    )


def document(app: Litestar) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    whole = app.openapi_schema.to_schema()
    for path, kinds in TEXTS.items():  # of several media types, the framework knows one
        answer = whole["paths"][path]["get"]["responses"]["200"]
        answer["content"] = {kind: {"schema": {"type": "string"}} for kind in kinds}
    _, components = msgspec.json.schema_components(
        TYPES, ref_template="#/components/schemas/{name}"
    )
    requests = {name: _described(schema) for name, schema in components.items()}
    return {**whole, "components": {**whole["components"], "schemas": requests}}


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    r"""Return a schema whose docstring is spread over its fields.

    >>> told = "It.\n\n    Attributes\n    ----------\n    a, b\n        Two,\n        or None."
    >>> _described({"description": told, "properties": {"a": {}, "b": {}}})["properties"]
    {'a': {'description': '``a``, ``b``: Two, or null.'}, 'b': {'description': 'See ``a``.'}}
    """
    if "description" not in schema:
        return schema
    text, _, attributes = cleandoc(schema["description"]).partition("\n\nAttributes\n")
    said = re.findall(r"^(\w.*)\n((?:    .*\n?|\n)+)", attributes, re.MULTILINE)
    words: dict[str, str] = {}
    for names, note in said:
        first, *others = names.split(", ")
        group = ", ".join(f"``{name}``" for name in [first, *others]) + ": " if others else ""
        words[first] = group + re.sub(r"\bNone\b", "null", " ".join(note.split()))
        words |= dict.fromkeys(others, f"See ``{first}``.")
    fields = {
        name: {**field, "description": words[name]} if name in words else field
        for name, field in schema.get("properties", {}).items()
    }
    return {**schema, "description": text, **({"properties": fields} if fields else {})}
