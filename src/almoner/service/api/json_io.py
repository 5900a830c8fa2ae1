"""JSON responses: a direct one for small, frequent answers, and one with headers."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Send

__all__ = ["JsonAnswer", "JsonResponse"]

Content = TypeVar("Content")

_encode = msgspec.json.Encoder().encode
_JSON = (b"content-type", b"application/json")


class JsonResponse(Response, Generic[Content]):
    """A response in JSON whose status or headers depend on the request."""

    media_type = "application/json"

    def __init__(
        self, content: Content, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(content, status, headers)

    def render(self, content: Any) -> bytes:
        """Encode the body."""
        return _encode(content)


class JsonAnswer(NamedTuple):
    """A small response in JSON, returned to the middleware, which sends it."""

    status: int
    body: bytes

    @classmethod
    def of(cls, status: int, content: Any) -> JsonAnswer:
        """Return the response with a content; None has no body."""
        return cls(status, b"" if content is None else _encode(content))

    async def send(self, send: Send) -> None:
        """Send it without building headers."""
        body = self.body
        headers = [_JSON, (b"content-length", b"%d" % len(body))] if body else []
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
