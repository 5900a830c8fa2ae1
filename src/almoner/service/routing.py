"""Route table: the endpoint of a request by path and method, behind the middleware."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from almoner.service.auth.access import DECIDE
from almoner.service.endpoint import Endpoint
from almoner.service.errors import Refused, nothing_at
from almoner.service.middleware import EndpointMiddleware
from almoner.service.services import Services
from almoner.service.web.templating import not_found

__all__ = ["RouteTable"]

NO_ROUTE = "(none)"
"""Route of requests for unknown paths, in metrics."""


class RouteTable:
    """The endpoints of a service by path, tried in their order.

    Each path also takes OPTIONS, and HEAD where it takes GET.
    """

    def __init__(self, endpoints: Iterable[Endpoint], services: Services) -> None:
        paths: dict[str, list[Endpoint]] = {}
        for endpoint in endpoints:
            paths.setdefault(endpoint.path, []).append(endpoint)
        self._routes = [(_pattern(path), _Route(group, services)) for path, group in paths.items()]
        unknown = _Refusal(path=NO_ROUTE, handler=_nothing, on_error=not_found)
        self._unknown = EndpointMiddleware(unknown, unknown, services)

    def find(self, scope: Scope) -> ASGIApp:
        """Return the application for a request, and put the parameters of its path into the scope.

        A path that is unknown is tried again without superfluous slashes.
        """
        path = scope["path"]
        for pattern, route in self._routes:
            match = pattern.fullmatch(path)
            if match is not None:
                scope["path_params"] = match.groupdict()
                return route.find(scope)
        plain = re.sub("/+", "/", path).rstrip("/") or "/"
        if plain == path:
            return self._unknown
        scope["path"] = plain
        return self.find(scope)


class _Route:
    """The endpoints of one path by method."""

    def __init__(self, endpoints: list[Endpoint], services: Services) -> None:
        self._apps: dict[str, ASGIApp] = {
            endpoint.method: EndpointMiddleware(endpoint, endpoint, services)
            for endpoint in endpoints
        }
        if "GET" in self._apps:
            self._apps["HEAD"] = self._apps["GET"]  # uvicorn leaves out the body
        self._allow = ", ".join(sorted({"OPTIONS", *self._apps}))
        # The methods of a path are no secret: any valid key may ask for them.
        endpoint = replace(endpoints[0], method="OPTIONS", right=DECIDE)
        options = Response(status_code=204, headers={"Allow": self._allow})
        self._apps["OPTIONS"] = EndpointMiddleware(options, endpoint, services)
        other = _Refusal(method="other", path=endpoints[0].path, handler=self._refuse)
        self._other = EndpointMiddleware(other, other, services)

    def find(self, scope: Scope) -> ASGIApp:
        """Return the application for the method of a request."""
        return self._apps.get(scope["method"], self._other)

    async def _refuse(self, scope: Scope) -> None:
        message = f"{scope['path']} does not take {scope['method']}; use {self._allow}"
        raise Refused("method_not_allowed", message, Allow=self._allow)


class _Refusal(Endpoint):
    """Endpoint of requests that no other takes: counted and limited as theirs are."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raise the error of the handler."""
        await self.handler(scope)


async def _nothing(scope: Scope) -> None:
    raise nothing_at(scope["path"])


def _pattern(path: str) -> re.Pattern[str]:
    r"""Return the pattern of a path: a parameter is one step, or with ``:path`` any number.

    >>> _pattern("/campaigns/{name}").pattern, _pattern("/static/{name:path}").pattern
    ('/campaigns/(?P<name>[^/]+)', '/static/(?P<name>.*)')
    """
    pattern = re.sub(r"\{(\w+):path\}", r"(?P<\1>.*)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern))
