"""Routes from endpoints: one for each path, by method, behind the middleware."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from almoner.service.auth.access import DECIDE
from almoner.service.endpoint import Endpoint
from almoner.service.errors import Refused, json_error
from almoner.service.middleware import AccessMiddleware, ResponseMiddleware
from almoner.service.services import Services

__all__ = ["routes"]


def routes(endpoints: Iterable[Endpoint], services: Services) -> list[Route]:
    """Return the routes of endpoints; each path also takes OPTIONS."""
    paths: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, []).append(endpoint)
    return [Route(path, _Methods(path, group, services)) for path, group in paths.items()]


class _Methods:
    """Dispatches a request to the endpoint of its method."""

    def __init__(self, path: str, endpoints: list[Endpoint], services: Services) -> None:
        methods = {"OPTIONS", *(endpoint.method for endpoint in endpoints)}
        self._allow = ", ".join(sorted(methods))
        self._apps = {
            endpoint.method: _with_middleware(endpoint, endpoint, services)
            for endpoint in endpoints
        }
        options = Response(status_code=204, headers={"Allow": self._allow})
        # The methods of a path are no secret: any valid key may ask for them.
        endpoint = replace(endpoints[0], right=DECIDE)
        self._apps["OPTIONS"] = _with_middleware(options, endpoint, services)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["method"])
        if app is None:
            path, method = scope["path"], scope["method"]
            message = f"{path} does not take {method}; use {self._allow}"
            error = Refused("method_not_allowed", message, Allow=self._allow)
            app = json_error(Request(scope), error)
        await app(scope, receive, send)


def _with_middleware(app: ASGIApp, endpoint: Endpoint, services: Services) -> ASGIApp:
    guarded = AccessMiddleware(app, endpoint, services.access)
    return ResponseMiddleware(guarded, endpoint, services.metrics)
