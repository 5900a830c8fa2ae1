"""ASGI middleware of every endpoint: access, error responses, metrics."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from almoner.service.endpoint import Answering, Endpoint
from almoner.service.services import Services

__all__ = ["EndpointMiddleware"]


class EndpointMiddleware:
    """Checks access to an endpoint, turns exceptions into responses, counts responses by status."""

    def __init__(self, app: Answering, endpoint: Endpoint, services: Services) -> None:
        self._app, self._endpoint = app, endpoint
        self._admit, self._count = services.access.admit, services.metrics.answered
        self._labels = endpoint.method, endpoint.path.replace(":path}", "}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        started, status = time.perf_counter(), None

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._admit(scope, self._endpoint.path, self._endpoint.right)
            answer = await self._app(scope, receive, observed)
            if answer is not None:
                status = answer.status
                await answer.send(send)
        except Exception as error:
            if status is not None:  # too late for another response
                raise
            await self._endpoint.on_error(Request(scope), error)(scope, receive, observed)
        finally:
            self._count(*self._labels, status or 500, time.perf_counter() - started)
