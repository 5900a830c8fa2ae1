"""Decode JSON bodies and query strings strictly into the types of requests.

A body without ``application/json`` is rejected: there are other content types that a page of
another site can make a browser send here without a preflight request.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope

from almoner.service.api.error_messages import QUERY, error_message
from almoner.service.errors import Refused
from almoner.service.request_limits import BODY_LIMIT

__all__ = ["BodyDecoder", "check_content_type", "decode_query", "read_body"]

JSON = "application/json"

LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
"""The first half of a surrogate pair without the second, which msgspec reports as truncated."""

INTEGER = re.compile(r"-?[0-9]{1,30}$")


async def read_body(receive: Receive) -> bytes:
    """Return the whole body; reject it as soon as it exceeds the limit."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("malformed", "the client has gone before its body was complete")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > BODY_LIMIT:
            raise Refused("too_large", f"the body must be at most {BODY_LIMIT:,} bytes; split it")
    return parts[0] if len(parts) == 1 else b"".join(parts)


class BodyDecoder:
    """Decodes the JSON bodies of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind, self._decode = kind, msgspec.json.Decoder(kind).decode

    async def __call__(self, scope: Scope, receive: Receive) -> Any:
        """Read and decode the body of a request; reject a bad one with a sentence."""
        body = await read_body(receive)
        if not body:
            message = "the body is missing; send JSON as the document says, see /docs"
            raise Refused("malformed", message)
        check_content_type(scope, "JSON", JSON)
        try:
            return self._decoded(body)
        except RecursionError:
            message = "the body is nested too deeply; see /docs for its fields"
        except UnicodeDecodeError:
            message = "the body must be JSON in UTF-8; some bytes are not"
        except msgspec.ValidationError:  # from decoding without a type
            message = "the body holds a number that is too large; see /docs"
        except msgspec.DecodeError as error:
            reason = str(error).removeprefix("JSON is malformed: ")
            if LONE_SURROGATE.search(body):
                reason = "a \\u escape is half of a surrogate pair"
            message = f"the body must be JSON in UTF-8: {reason}"
        raise Refused("malformed", message)

    def _decoded(self, body: bytes) -> Any:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            value = msgspec.json.decode(body)  # the rest of the body need not be JSON
            raise Refused("malformed", error_message(self._kind, value, error)) from None


def decode_query(kind: Any, query: bytes) -> Any:
    """Return the parameters of a query string; of several with one name, the last counts."""
    parameters = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    try:
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        numbers = {name: int(text) for name, text in parameters.items() if INTEGER.match(text)}
        message = error_message(kind, {**parameters, **numbers}, error, name=QUERY)
        raise Refused("malformed", message) from None


def check_content_type(scope: Scope, kind: str, media_type: str) -> None:
    """Reject a body that is not declared to be of a kind, such as JSON."""
    value = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    text = value.decode("latin-1")
    if text != media_type and text.partition(";")[0].strip().lower() != media_type:
        got = f"Content-Type: {text[:60]}" if text else "no Content-Type"
        raise Refused(
            "unsupported_media_type",
            f"the body must be {kind}, got {got}; send Content-Type: {media_type}",
        )
