"""Readiness of the service: the kernels are compiled and the store answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection

from almoner.errors import StoreError
from almoner.service.agents import FAILED, AgentPool
from almoner.service.errors import Refused

__all__ = ["COMPILING", "PREPARING", "Readiness"]

PATIENCE = 5.0
"""Seconds within which the store must answer."""

KNOWN_READY = 1.0
"""Seconds for which an answer of the store counts: ``/ready`` needs no key and has no limit."""

PREPARING = "The demonstration campaign is being prepared."
COMPILING = "The first start compiles the kernels: about half a minute, once."


class Readiness:
    """Tells whether requests can be answered without waiting for the compiler or the store.

    ``demo`` is the name of the demonstration campaign, if there is one.
    """

    def __init__(self, agents: AgentPool, *, demo: str | None = None) -> None:
        self._agents, self._demo = agents, demo
        self._answered = -math.inf

    @property
    def warm(self) -> bool:
        """Whether the kernels are compiled."""
        return self._agents.warm.is_set() and not self._agents.failed

    def notices(self, names: Collection[str]) -> list[str]:
        """Return startup notices for a page that shows these campaigns."""
        if self._agents.failed:
            return [FAILED]
        preparing = self._demo is not None and self._demo not in names
        return [PREPARING] * preparing + [COMPILING] * (not self.warm)

    async def check(self) -> None:
        """Raise `Refused` unless everything is ready."""
        if self._agents.failed:
            raise Refused("not_ready", FAILED)
        if not self.warm:
            raise Refused(
                "not_ready", "the kernels are being compiled or loaded; ask again in a moment"
            )
        if time.monotonic() - self._answered < KNOWN_READY:
            return
        try:
            await asyncio.wait_for(self._agents.names(), PATIENCE)
            self._answered = time.monotonic()
        except TimeoutError:
            raise Refused("not_ready", f"the store has not answered for {PATIENCE:g} s") from None
        except StoreError as error:
            raise Refused("not_ready", str(error)) from None
