"""Health: does the process live; readiness: are the kernels warm, and does the store answer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from litestar import Request, get

from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.service.agents import Desks
from almoner.service.api.openapi import ERRORS
from almoner.service.api.responses import Health
from almoner.service.errors import Refused

__all__ = ["COMPILING", "PREPARING", "ROUTES", "Readiness", "warm_up"]

PATIENCE = 5.0
"""Seconds within which a store that works answers."""

PREPARING = "The demonstration campaign is being prepared."
COMPILING = "The first start compiles the kernels: about half a minute, once."
FAILED = "The kernels could not be compiled, so nothing can be decided; see the log of the service."


class Readiness:
    """Whether requests can be answered without waiting for a compiler or a store.

    ``demo`` is the name of the demonstration, where there is to be one.
    """

    def __init__(self, desks: Desks, *, demo: str | None = None) -> None:
        self._desks, self._demo = desks, demo
        self.failed = False

    @property
    def warm(self) -> bool:
        """Whether the kernels are there."""
        return self._desks.warm.is_set()

    def notices(self, names: Collection[str]) -> list[str]:
        """Return in sentences what whoever sees these campaigns should know of the start."""
        if self.failed:
            return [FAILED]
        preparing = self._demo is not None and self._demo not in names
        return [PREPARING] * preparing + [COMPILING] * (not self.warm)

    async def check(self) -> None:
        """Refuse with a sentence unless all is ready."""
        if self.failed:
            raise Refused(503, FAILED)
        if not self.warm:
            raise Refused(503, "the kernels are being compiled or loaded; ask again in a moment")
        try:
            await asyncio.wait_for(self._desks.names(), PATIENCE)
        except TimeoutError:
            raise Refused(503, f"the store has not answered for {PATIENCE:g} s") from None
        except StoreError as error:
            raise Refused(503, str(error)) from None


def warm_up() -> None:
    """Compile or load what the first decisions need: kernels for equal and unequal costs."""
    for costs in ({"one": 1}, {"one": 1, "two": 2}):
        with Agent.open(
            "memory:",
            name="warm-up",
            contexts=["a", "b"],
            actions=costs,
            horizon=8,
            budget=16,
            seed=0,
        ) as agent:
            for decision in [agent.decide(context) for context in "abab"]:
                agent.reward(decision.id, 1.0)
                if not decision.skipped:
                    agent.settle(decision.id, cost=1)
            agent.report()


@get("/health")
async def health() -> Health:
    """Say that the process lives."""
    return Health(status="ok")


@get("/ready", responses={503: ERRORS[503]})
async def ready(request: Request[Any, Any, Any]) -> Health:
    """Say whether the kernels are warm and the store answers."""
    await request.app.state.readiness.check()
    return Health(status="ready")


ROUTES = [health, ready]
