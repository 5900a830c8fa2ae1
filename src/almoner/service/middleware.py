"""ASGI middleware of every route: error responses, metrics, access."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from almoner.service.auth.access import Access
from almoner.service.endpoint import Endpoint
from almoner.service.metrics import Metrics

__all__ = ["AccessMiddleware", "HeadMiddleware", "ResponseMiddleware"]


class HeadMiddleware:
    """Answers HEAD as GET; uvicorn leaves out the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class ResponseMiddleware:
    """Turns exceptions into responses, and counts the responses of a route by status."""

    def __init__(self, app: ASGIApp, endpoint: Endpoint, metrics: Metrics) -> None:
        self._app, self._endpoint, self._metrics = app, endpoint, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        started, status = time.perf_counter(), None

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, observed)
        except Exception as error:
            if status is not None:  # too late for another response
                raise
            await self._endpoint.on_error(Request(scope), error)(scope, receive, observed)
        finally:
            seconds = time.perf_counter() - started
            path = self._endpoint.path.replace(":path}", "}")
            self._metrics.answered(scope["method"], path, status or 500, seconds)


class AccessMiddleware:
    """Rejects requests without the right to a route, or too many of them."""

    def __init__(self, app: ASGIApp, endpoint: Endpoint, access: Access) -> None:
        self._app, self._endpoint, self._access = app, endpoint, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        self._access.admit(scope, self._endpoint.path, self._endpoint.right)
        await self._app(scope, receive, send)
