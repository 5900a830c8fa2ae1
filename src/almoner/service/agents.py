"""Pool of open agents, one for each campaign, shared by the requests of all HTTP clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.live.async_agent import AsyncAgent
from almoner.service.errors import Refused
from almoner.store import Store

__all__ = ["FAILED", "AgentPool"]

T = TypeVar("T")

FAILED = "The kernels could not be compiled, so nothing can be decided; see the log of the service."

THREADS = 16
"""Transactions at a time, of different campaigns."""


class AgentPool:
    """The agents of a store's campaigns, each opened at its first use.

    No agent is opened before ``warm`` is set: kernels compile for seconds, and within a transaction
    every other process would wait for them. If they cannot be compiled, ``failed`` is set too.
    """

    def __init__(
        self, store: Store, *, on_batch: Callable[[str, int], None] = lambda name, size: None
    ) -> None:
        self.store = store
        self.warm, self.failed = asyncio.Event(), False
        self._on_batch = on_batch
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="agent")
        self._agents: dict[str, AsyncAgent] = {}
        self._opening: dict[str, asyncio.Task[AsyncAgent]] = {}
        # Locks of the names for which creations are under way.
        self._creating: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._closed = False

    async def names(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        return await self.run(self.store.campaigns)

    async def exists(self, name: str) -> bool:
        """Return whether there is a campaign of that name."""
        return await self.run(self.store.terms, name) is not None

    async def create(self, name: str, **terms: Any) -> tuple[AsyncAgent, bool]:
        """Return the agent of a campaign on these terms, and whether this call created it.

        Of several such calls at the same moment in this process one did; of calls in several
        processes each may answer so.
        """
        lock = self._creating.setdefault(name, asyncio.Lock())
        async with lock:
            exists = name.isprintable() and await self.exists(name)
            return await self.get(name, **terms), not exists

    def find(self, name: str) -> AsyncAgent | None:
        """Return the agent of a campaign if it is open; `get` takes longer."""
        return None if self._closed else self._agents.get(name)

    async def get(self, name: str, **terms: Any) -> AsyncAgent:
        """Return the agent of a campaign; with terms, create it or check that it has them."""
        if self._closed:
            raise StoreError("the service is stopping; ask again when it has started anew")
        if terms:
            await self._wait_until_warm()
            await self.run(self._agent, name, terms)
        if name in self._agents:
            return self._agents[name]
        await self._wait_until_warm()
        if name not in self._opening:
            self._opening[name] = asyncio.create_task(self._open_agent(name))
        return await asyncio.shield(self._opening[name])

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in a thread of the pool, which neither previews nor pages occupy."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    def open_agents(self) -> list[AsyncAgent]:
        """Return the agents that are open."""
        return list(self._agents.values())

    async def close(self) -> None:
        """Finish all transactions; reject new callers."""
        self._closed = True
        if self._opening:
            await asyncio.wait(self._opening.values())
        for agent in self.open_agents():
            await agent.finish()
        self._threads.shutdown()

    async def _wait_until_warm(self) -> None:
        await self.warm.wait()
        if self.failed:
            raise Refused("not_ready", FAILED)

    async def _open_agent(self, name: str) -> AsyncAgent:
        try:
            agent = await self.run(self._agent, name, {})
            self._agents[name] = AsyncAgent(
                agent, threads=self._threads, on_batch=lambda size: self._on_batch(name, size)
            )
            return self._agents[name]
        finally:  # also of a failed opening: the next caller tries again
            del self._opening[name]

    def _agent(self, name: str, terms: dict[str, Any]) -> Agent:
        return Agent.open(self.store, name=name, **terms)
