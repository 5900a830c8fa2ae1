"""Pool of open agents, one for each campaign, shared by the requests of all HTTP clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.live.async_agent import AsyncAgent
from almoner.store import Store

__all__ = ["AgentPool"]

THREADS = 16
"""Transactions at a time, of different campaigns."""


class AgentPool:
    """The agents of a store's campaigns, each opened at its first use.

    No agent is opened before ``warm`` is set: kernels compile for seconds, and within a transaction
    every other process would wait for them.
    """

    def __init__(
        self, store: Store, *, on_batch: Callable[[str, int], None] = lambda name, size: None
    ) -> None:
        self.store = store
        self.warm = asyncio.Event()
        self._on_batch = on_batch
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="agent")
        self._agents: dict[str, AsyncAgent] = {}
        self._opening: dict[str, asyncio.Task[AsyncAgent]] = {}
        self._closed = False

    async def names(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        return await asyncio.to_thread(self.store.campaigns)

    async def exists(self, name: str) -> bool:
        """Return whether there is a campaign of that name."""
        return await asyncio.to_thread(self.store.terms, name) is not None

    async def get(self, name: str, **terms: Any) -> AsyncAgent:
        """Return the agent of a campaign; with terms, create it or check that it has them."""
        if self._closed:
            raise StoreError("the service is stopping; ask again when it has started anew")
        if terms:
            await self.warm.wait()
            await asyncio.to_thread(self._agent, name, terms)
        if name in self._agents:
            return self._agents[name]
        await self.warm.wait()
        if name not in self._opening:
            self._opening[name] = asyncio.create_task(self._open_agent(name))
        return await asyncio.shield(self._opening[name])

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

    async def _open_agent(self, name: str) -> AsyncAgent:
        try:
            agent = await asyncio.to_thread(self._agent, name, {})
            self._agents[name] = AsyncAgent(
                agent, threads=self._threads, on_batch=lambda size: self._on_batch(name, size)
            )
            return self._agents[name]
        finally:  # also of a failed opening: the next caller tries again
            del self._opening[name]

    def _agent(self, name: str, terms: dict[str, Any]) -> Agent:
        return Agent.open(self.store, name=name, **terms)
