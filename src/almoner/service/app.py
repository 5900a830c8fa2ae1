"""The application, made from data: routes, one door, one error table, one document."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException, NotFoundException
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from almoner.service import errors, health, metrics
from almoner.service.agents import Desks
from almoner.service.api import campaigns, decisions, export, openapi, preview
from almoner.service.api.json_io import JsonRequest, JsonResponse
from almoner.service.auth.access import Access
from almoner.service.auth.api_keys import Keyring
from almoner.service.connection_limits import BODY_LIMIT
from almoner.service.demo import NAME, show
from almoner.service.health import Readiness, warm_up
from almoner.service.metrics import Metrics
from almoner.service.web import assets, routes
from almoner.service.web.templating import not_found
from almoner.store import Store

__all__ = ["RATE", "create_app"]

log = logging.getLogger("almoner.service")

RATE = 1_000.0
"""Requests per second that one client may make in the long run; a batch counts as one."""

KEYS_EVERY = 2.0
"""Seconds after which a key that was created or revoked is known to be so."""

LOADING = 3.0
"""Seconds within which kernels are loaded that were compiled before."""

MODULES: tuple[Any, ...] = (
    campaigns,
    decisions,
    export,
    preview,
    health,
    metrics,
    routes,
    assets,
)
"""Where the routes are."""


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
) -> Litestar:
    """Return the service on a store.

    Parameters
    ----------
    store
        Where campaigns and keys are kept.
    locked
        Whether a key is needed even as long as the store holds none.
    rate
        Requests per second that one client may make in the long run.
    hosts
        The names that the service answers to while no key is needed; None for any.
    session_secret
        What the sessions of the page are signed with, the same in all processes of a store; drawn
        at random if left out, so that sessions end with the process.
    demo
        Whether to add a campaign with simulated visitors.
    when_warm
        What to do once the kernels are loaded.
    when_slow
        What to do if they take longer than to load: they are being compiled.
    """
    counted = Metrics()
    desks = Desks(store, on_batch=counted.shared)
    access = Access(Keyring(store), locked=locked, rate=rate, hosts=hosts, secret=session_secret)
    readiness = Readiness(desks, demo=NAME if demo else None)
    exports = export.Exports()
    state = {
        "desks": desks,
        "access": access,
        "metrics": counted,
        "readiness": readiness,
        "exports": exports,
    }

    def door(app: ASGIApp) -> ASGIApp:
        return _Door(app, access, counted)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        work = [_warm(desks, readiness, when_warm), _wait(desks, when_slow), _look(access)]
        work += [show(desks)] if demo else []
        chores = [asyncio.create_task(_logged(chore)) for chore in work]
        try:
            yield
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            exports.close()
            await desks.close()

    return Litestar(
        [route for module in MODULES for route in module.ROUTES],
        middleware=[door],
        request_class=JsonRequest,
        response_class=JsonResponse,
        exception_handlers={**errors.HANDLERS, NotFoundException: not_found},
        openapi_config=openapi.config(),
        state=State(state),
        lifespan=[lifespan],
        logging_config=None,
        request_max_body_size=BODY_LIMIT,
    )


class _Door:
    """What every request passes on its way in and every answer on its way out."""

    def __init__(self, app: ASGIApp, access: Access, counted: Metrics) -> None:
        self._app, self._access, self._counted = app, access, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def passing(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._access.admit(scope)
            await self._app(scope, receive, passing)
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            taken = time.perf_counter() - started
            self._counted.answered(scope["method"], scope["path_template"], status, taken)


async def _logged(chore: Coroutine[Any, Any, None]) -> None:
    """Do something beside the requests; what goes wrong is for the log."""
    try:
        await chore
    except Exception:
        log.exception("something in the background has failed")


async def _warm(desks: Desks, readiness: Readiness, when_warm: Callable[[], None]) -> None:
    """Do what the first decisions would have to wait for."""
    try:
        await asyncio.to_thread(warm_up)
    except Exception:
        readiness.failed = True
        raise
    when_warm()
    desks.warm.set()


async def _wait(desks: Desks, when_slow: Callable[[], None]) -> None:
    """Say so if the kernels are not just loaded."""
    try:
        await asyncio.wait_for(desks.warm.wait(), LOADING)
    except TimeoutError:
        when_slow()


async def _look(access: Access) -> None:
    """Keep up with the keys that are created and revoked."""
    while True:
        await asyncio.sleep(KEYS_EVERY)
        await asyncio.to_thread(access.keyring.refresh)
