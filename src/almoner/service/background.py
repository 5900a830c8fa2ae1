"""Background tasks of the service: compile the kernels, refresh the keys."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from almoner.service.agents import AgentPool
from almoner.service.auth.access import Access
from almoner.service.warm_up import warm_up

__all__ = ["background_tasks", "refresh_keys", "warm_kernels"]

log = logging.getLogger("almoner.service")

REFRESH_SECONDS = 2.0
"""Seconds until the creation or revocation of a key takes effect."""

LOADING_SECONDS = 3.0
"""Seconds within which compiled kernels are loaded; beyond, they are being compiled."""


@asynccontextmanager
async def background_tasks(*coroutines: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines in the background; cancel them at the end."""
    tasks = [asyncio.create_task(_logged(coroutine)) for coroutine in coroutines]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _logged(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; log its exception."""
    try:
        await coroutine
    except Exception:
        log.exception("something in the background has failed")


async def warm_kernels(
    agents: AgentPool,
    *,
    when_warm: Callable[[], None],
    when_slow: Callable[[], None],
) -> None:
    """Compile or load the kernels, then let agents be opened."""
    warming = asyncio.create_task(asyncio.to_thread(warm_up))
    if not (await asyncio.wait([warming], timeout=LOADING_SECONDS))[0]:
        when_slow()
    try:
        await warming
    except Exception:
        agents.failed = True
        raise
    else:
        when_warm()
    finally:
        agents.warm.set()  # also of a failure: callers who wait are told


async def refresh_keys(access: Access, agents: AgentPool) -> None:
    """Refresh the cached API keys every `REFRESH_SECONDS`."""
    while True:
        await asyncio.sleep(REFRESH_SECONDS)
        await agents.run(access.keyring.refresh)
