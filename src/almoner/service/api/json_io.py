"""Requests and responses for small JSON bodies, without what such bodies never need.

The framework's own classes spend half of a decision's time on cookies, streams, header tables and
media types. Everything else (routes, signatures, the document) stays the framework's.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec
from litestar import Request, Response
from litestar.types import Empty, Receive, Scope, Send

from almoner.service.errors import Refused

__all__ = ["JsonRequest", "JsonResponse"]

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_JSON = (b"content-type", b"application/json")
_NO_BODY = (204, 304)


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is read in one go, up to the limit."""

    async def body(self) -> bytes:
        """Return the body; refuse one that is too large as soon as that shows."""
        if self._body is not Empty:
            return self._body
        limit = self.route_handler.resolve_request_max_body_size() or 0
        pieces: list[bytes] = []
        size, more = 0, True
        while more:
            message: Any = await self.receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "the client has gone before its body was complete")
            pieces.append(message.get("body", b""))
            size, more = size + len(pieces[-1]), message.get("more_body", False)
            if size > limit:
                raise Refused(413, f"the body must be at most {limit:,} bytes; split it")
        self._body = self._connection_state.body = b"".join(pieces)
        return self._body


class JsonResponse(Response[T], Generic[T]):
    """An answer in JSON; what a handler returns is wrapped in one."""

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **more: Any) -> Any:
        """Return what sends it."""
        plain = self.media_type in {None, "application/json"} and not self.headers
        if not plain or isinstance(self.content, (bytes, str)):
            return super().to_asgi_response(app, request, **more)
        status = self.status_code or more.get("status_code") or 200
        return _Message(status, b"" if status in _NO_BODY else _encode(self.content))


class _Message:
    """Status, two headers, body."""

    __slots__ = ("_body", "_status")

    def __init__(self, status: int, body: bytes) -> None:
        self._status, self._body = status, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [_JSON, (b"content-length", b"%d" % len(self._body))] if self._body else []
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})
