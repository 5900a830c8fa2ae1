"""The application, made from data: routes, one error table, one document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.datastructures import State

from almoner.service import campaigns, decisions, document, errors
from almoner.service.desks import Desks
from almoner.store import Store

__all__ = ["create_app"]
class M:
    def decided(self, n, d): pass

def create_app(store: Store) -> Litestar:
    """Return the service on a store."""
    desks = Desks(store)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await desks.close()

    return Litestar(
        [*campaigns.ROUTES, *decisions.ROUTES],
        exception_handlers=errors.HANDLERS,
        openapi_config=document.config(),
        state=State({"desks": desks, "metrics": M()}),
        lifespan=[lifespan],
        logging_config=None,
        request_max_body_size=2_000_000,
    )
