"""ASGI middleware of every route: metrics, error responses, access."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from almoner.service.auth.access import Access
from almoner.service.metrics import Metrics

__all__ = ["AccessMiddleware", "ErrorMiddleware", "HeadMiddleware", "MetricsMiddleware"]


class HeadMiddleware:
    """Answers HEAD as GET; uvicorn leaves out the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class MetricsMiddleware:
    """Counts the responses of a route by status, and measures their time."""

    def __init__(self, app: ASGIApp, metrics: Metrics, path: str) -> None:
        self._app, self._metrics, self._path = app, metrics, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        started, status = time.perf_counter(), 500

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, observed)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.answered(scope["method"], self._path, status, seconds)


class ErrorMiddleware:
    """Turns exceptions into responses, unless a response has begun."""

    def __init__(self, app: ASGIApp, on_error: Callable[[Request, Exception], Response]) -> None:
        self._app, self._on_error = app, on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        begun = False

        async def observed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, observed)
        except Exception as error:
            if begun:
                raise
            await self._on_error(Request(scope), error)(scope, receive, send)


class AccessMiddleware:
    """Rejects requests without the right to a route, or too many of them."""

    def __init__(self, app: ASGIApp, access: Access, path: str, right: str) -> None:
        self._app, self._access, self._path, self._right = app, access, path, right

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        self._access.admit(scope, self._path, self._right)
        await self._app(scope, receive, send)
