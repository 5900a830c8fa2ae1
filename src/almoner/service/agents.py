"""Desks: the campaigns of a store, where the requests of many HTTP clients share transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.live.async_agent import AsyncAgent
from almoner.store import Store

__all__ = ["Desks"]

THREADS = 16
"""Transactions under way at a time, of different campaigns."""


class Desks:
    """The campaigns of a store, opened when they are first asked for.

    Nothing is opened before ``warm`` is set: compiling takes seconds, and in the midst of a
    transaction it would make every other process wait for them.
    """

    def __init__(
        self, store: Store, *, on_batch: Callable[[str, int], None] = lambda name, size: None
    ) -> None:
        self.store = store
        self.warm = asyncio.Event()
        self._on_batch = on_batch
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="desk")
        self._open: dict[str, asyncio.Task[AsyncAgent]] = {}
        self._closed = False

    async def names(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        return await asyncio.to_thread(self.store.campaigns)

    async def exists(self, name: str) -> bool:
        """Return whether there is a campaign of that name."""
        return await asyncio.to_thread(self.store.terms, name) is not None

    async def desk(self, name: str, **terms: Any) -> AsyncAgent:
        """Return the desk of a campaign; with terms, create it or make sure that it has them."""
        if self._closed:
            raise StoreError("the service is stopping; ask again when it has started anew")
        opening = self._open.get(name)
        if not terms and opening is not None and _succeeded(opening):
            return opening.result()
        await self.warm.wait()
        if terms:
            await asyncio.to_thread(self._agent, name, terms)
        opening = self._open.get(name)
        if opening is None:
            opening = self._open[name] = asyncio.create_task(self._opened(name))
        try:
            return await asyncio.shield(opening)
        except Exception:  # what could not be opened is tried again, when it is next asked for
            if self._open.get(name) is opening:
                del self._open[name]
            raise

    def at_work(self) -> list[AsyncAgent]:
        """Return the desks that are open."""
        return [task.result() for task in self._open.values() if _succeeded(task)]

    async def close(self) -> None:
        """Finish what was begun; answer nothing new."""
        self._closed = True
        for task in self._open.values():
            if not task.done():
                await asyncio.wait([task])
        for desk in self.at_work():
            await desk.finish()
        self._threads.shutdown()

    async def _opened(self, name: str) -> AsyncAgent:
        agent = await asyncio.to_thread(self._agent, name, {})
        return AsyncAgent(
            agent, threads=self._threads, on_batch=lambda size: self._on_batch(name, size)
        )

    def _agent(self, name: str, terms: dict[str, Any]) -> Agent:
        return Agent.open(self.store, name=name, **terms)


def _succeeded(task: asyncio.Task[AsyncAgent]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
