"""Operations of the JSON API: one method on one path, served and documented from its handler.

A handler is an async function of the services, the parameters of the path, and, where it has them,
``query`` and ``body``. Their types decode the request; the type that it returns is documented.
A handler with a parameter ``caller`` gets the name of the API key.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from almoner.errors import UnknownDecision
from almoner.service.api.decoding import BodyDecoder, decode_query
from almoner.service.api.json_io import JsonAnswer, JsonResponse
from almoner.service.endpoint import Endpoint

__all__ = ["ERRORS", "Operation", "delete", "get", "patch", "post"]

Handler = Callable[..., Awaitable[Any]]

ERRORS = {
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
}
"""Error statuses of an operation, with their descriptions for the OpenAPI document."""


@dataclass(frozen=True, kw_only=True)
class Operation(Endpoint):
    """One method on one path of the JSON API.

    Attributes
    ----------
    status, also
        The status of success, and other ones with their descriptions.
    errors
        Descriptions of the error statuses.
    media_types
        Content types of the response.
    """

    status: int = 200
    also: Mapping[int, str] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=lambda: ERRORS)
    media_types: tuple[str, ...] = ("application/json",)

    @cached_property
    def types(self) -> dict[str, Any]:
        """Types of the handler's parameters by name, and of its result as ``return``."""
        return get_type_hints(self.handler, include_extras=True)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Types of the parameters of the path."""
        return {name: self.types[name] for name in re.findall(r"\{(\w+)\}", self.path)}

    @property
    def result(self) -> Any:
        """Type of the response."""
        result = self.types["return"]
        return get_args(result)[0] if get_origin(result) is JsonResponse else result

    @cached_property
    def _ids(self) -> list[str]:
        return [name for name, kind in self.parameters.items() if kind is int]

    @cached_property
    def _body(self) -> BodyDecoder | None:
        return BodyDecoder(self.types["body"]) if "body" in self.types else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> JsonAnswer | None:
        """Decode a request, call the handler, encode the result."""
        arguments = scope["path_params"]
        for name in self._ids:
            arguments[name] = _decision_id(arguments[name])
        if "query" in self.types:
            arguments["query"] = decode_query(self.types["query"], scope["query_string"])
        if self._body is not None:
            arguments["body"] = await self._body(scope, receive)
        services = scope["app"].services
        if "caller" in self.types:
            arguments["caller"] = services.access.caller(scope)
        result = await self.handler(services, **arguments)
        if isinstance(result, Response):
            await result(scope, receive, send)
            return None
        return JsonAnswer.of(self.status, result)


def _decision_id(text: str) -> int:
    """Return an id of the path as a number; ``int`` would also take ``+1`` and ``1_0``."""
    try:
        if text.isascii() and text.isdigit():
            return int(text)
    except ValueError:  # more digits than Python converts
        pass
    raise UnknownDecision(f"there is no decision {text[:60]!r}; an id is written in digits")


def delete(path: str, **options: Any) -> Callable[[Handler], Operation]:
    """Declare a handler as the DELETE operation of a path, with the attributes of `Operation`."""
    return lambda handler: Operation(method="DELETE", path=path, handler=handler, **options)


def get(path: str, **options: Any) -> Callable[[Handler], Operation]:
    """Declare a handler as the GET operation of a path, with the attributes of `Operation`."""
    return lambda handler: Operation(method="GET", path=path, handler=handler, **options)


def patch(path: str, **options: Any) -> Callable[[Handler], Operation]:
    """Declare a handler as the PATCH operation of a path, with the attributes of `Operation`."""
    return lambda handler: Operation(method="PATCH", path=path, handler=handler, **options)


def post(path: str, **options: Any) -> Callable[[Handler], Operation]:
    """Declare a handler as the POST operation of a path, with the attributes of `Operation`."""
    return lambda handler: Operation(method="POST", path=path, handler=handler, **options)
