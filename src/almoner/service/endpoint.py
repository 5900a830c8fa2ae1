"""Endpoint: one method on one path, the base of JSON operations and HTML pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from almoner.service.api.json_io import JsonAnswer
from almoner.service.auth.access import DECIDE
from almoner.service.errors import json_error

__all__ = ["Answering", "Endpoint"]

Answering = Callable[[Scope, Receive, Send], Awaitable[JsonAnswer | None]]
"""An ASGI application that may also return its answer for the middleware to send."""


@dataclass(frozen=True, kw_only=True)
class Endpoint(ABC):
    """An ASGI application for one method on one path.

    Attributes
    ----------
    method, path, handler
        The request that it is for, and the async function that answers it.
    right
        The right that the key of a client must give.
    on_error
        Turns an exception into a response.
    """

    method: str = "GET"
    path: str
    handler: Callable[..., Awaitable[Any]]
    right: str = DECIDE
    on_error: Callable[[Request, Exception], Response] = json_error

    @abstractmethod
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> JsonAnswer | None:
        """Answer a request, or return the answer for the middleware to send, which is faster."""
