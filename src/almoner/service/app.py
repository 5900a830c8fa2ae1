"""The ASGI application: endpoints, shared services, background tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from almoner.service.agents import AgentPool
from almoner.service.api import (
    amendments,
    campaigns,
    decisions,
    export,
    lift,
    monitoring,
    openapi,
    preview,
)
from almoner.service.auth.access import Access
from almoner.service.auth.api_keys import Keyring
from almoner.service.background import background_tasks, refresh_keys, warm_kernels
from almoner.service.demo import NAME, run_demo
from almoner.service.endpoint import Endpoint
from almoner.service.export_pool import ExportPool
from almoner.service.health import Readiness
from almoner.service.metrics import Metrics
from almoner.service.routing import RouteTable
from almoner.service.services import Services
from almoner.service.web import assets, sign_in
from almoner.service.web import routes as pages
from almoner.store import Store

__all__ = ["RATE", "App", "create_app"]

RATE = 1_000.0
"""Requests per second that one client may make in the long run; a batch counts as one."""

OPERATIONS = [
    *decisions.OPERATIONS,  # first, as paths are tried in their order
    *campaigns.OPERATIONS,
    *amendments.OPERATIONS,
    *lift.OPERATIONS,
    *export.OPERATIONS,
    *preview.OPERATIONS,
    *monitoring.OPERATIONS,
]
"""The documented operations."""

ENDPOINTS: list[Endpoint] = [
    *OPERATIONS,
    *openapi.OPERATIONS,
    *pages.PAGES,
    *sign_in.PAGES,
    *assets.PAGES,
]


def create_app(
    store: Store,
    *,
    locked: bool = False,
    rate: float = RATE,
    hosts: Iterable[str] | None = None,
    session_secret: str | None = None,
    demo: bool = False,
    when_warm: Callable[[], None] = lambda: None,
    when_slow: Callable[[], None] = lambda: None,
) -> App:
    """Return the application that serves a store.

    Parameters
    ----------
    store
        Holds campaigns and keys.
    locked
        Whether a key is needed even while the store holds none.
    rate
        Requests per second that one client may make in the long run.
    hosts
        Host names to which the service answers while no key is needed; None for any.
    session_secret
        Signs the sessions of the page, the same in all processes of a store; drawn at random if
        left out, so that sessions end with the process.
    demo
        Whether to add a campaign with simulated visitors.
    when_warm
        Called once the kernels are loaded.
    when_slow
        Called if the kernels have to be compiled.
    """
    metrics = Metrics()
    agents = AgentPool(store, on_batch=metrics.shared)
    access = Access(Keyring(store), locked=locked, rate=rate, hosts=hosts, secret=session_secret)
    readiness = Readiness(agents, demo=NAME if demo else None)
    exports = ExportPool()

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        tasks = [
            warm_kernels(agents, when_warm=when_warm, when_slow=when_slow),
            refresh_keys(access, agents),
            *([run_demo(agents)] if demo else []),
        ]
        try:
            async with background_tasks(*tasks):
                yield
        finally:
            exports.close()
            await agents.close()

    services = Services(
        agents=agents,
        access=access,
        metrics=metrics,
        readiness=readiness,
        exports=exports,
        document=openapi.document(OPERATIONS),
    )
    return App(services, lifespan)


class App(Router):
    """The application; its `services` are shared by all requests."""

    def __init__(self, services: Services, lifespan: Any) -> None:
        super().__init__(lifespan=lifespan)
        self.services = services
        self._table = RouteTable(ENDPOINTS, services)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; handlers find the application in its scope."""
        if scope["type"] == "http":
            scope["app"] = self
            await self._table.find(scope)(scope, receive, send)
        else:  # start and end of the process
            await super().__call__(scope, receive, send)
