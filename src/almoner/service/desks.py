"""Desks: the requests of many HTTP clients, gathered into few transactions.

While one transaction of a campaign is on its way to the disk, the requests that come in wait; the
next one takes them all (group commit). A client is answered once its own is durable, never before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from almoner.agent import Agent
from almoner.campaign import Campaign
from almoner.errors import StoreError
from almoner.history import Point
from almoner.report import Report, Watch
from almoner.requests import Look, Request
from almoner.store import Store

__all__ = ["Desk", "Desks"]

THREADS = 16
"""Transactions under way at a time, of different campaigns."""

Result = TypeVar("Result")
Waiting = tuple[Sequence[Request], "asyncio.Future[list[Any]]"]


class Desk:
    """One campaign in one process: a queue on the event loop, worked off in one thread at a time.

    ``threads`` are shared with other desks; ``on_batch`` is told how many callers shared each
    transaction.
    """

    def __init__(
        self, agent: Agent, *, threads: ThreadPoolExecutor, on_batch: Callable[[int], None]
    ) -> None:
        self.agent, self.name = agent, agent.name
        self._watch = Watch(agent)
        self._loop = asyncio.get_running_loop()
        self._threads = threads
        self._queue: list[Waiting] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._on_batch = on_batch

    async def ask(self, *requests: Request) -> list[Any]:
        """Return the answers to a caller's requests, all done or none, once they are durable."""
        answer: asyncio.Future[list[Any]] = self._loop.create_future()
        self._queue.append((requests, answer))
        if self._idle.is_set():
            self._idle.clear()
            # Not at once: whoever else is heard in this round of the event loop comes along.
            self._loop.call_soon(self._send_off)
        return await answer

    async def look(self, read: Callable[[Campaign], Result]) -> Result:
        """Return what ``read`` says of the campaign as it is now."""
        (found,) = await self.ask(Look(read))
        return found  # type: ignore[no-any-return]

    async def report(self) -> Report:
        """Return how the campaign is doing."""
        return await asyncio.to_thread(self._watch.report)

    async def curve(self) -> list[Point]:
        """Return points along the way; money in units."""
        return await asyncio.to_thread(self._watch.curve)

    async def finish(self) -> None:
        """Wait until everything asked is answered."""
        await self._idle.wait()

    def _send_off(self) -> None:
        batch, self._queue = self._queue, []
        self._on_batch(len(batch))
        self._threads.submit(self._work, batch)

    def _work(self, batch: list[Waiting]) -> None:
        """Carry out a batch in one transaction; runs in a thread."""
        try:
            answers = self.agent.ask_all([requests for requests, _ in batch])
        except BaseException as error:  # nobody must be left waiting for ever
            answers = [error] * len(batch)
        self._loop.call_soon_threadsafe(self._hand_out, batch, answers)

    def _hand_out(self, batch: list[Waiting], answers: list[Any]) -> None:
        if self._queue:
            self._send_off()
        else:
            self._idle.set()
        for (_, answer), found in zip(batch, answers, strict=True):
            if answer.done():  # the client has gone; what was done stays done
                continue
            if isinstance(found, BaseException):
                answer.set_exception(found)
            else:
                answer.set_result(found)


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
        self._open: dict[str, asyncio.Task[Desk]] = {}
        self._closed = False

    async def names(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        return await asyncio.to_thread(self.store.campaigns)

    async def exists(self, name: str) -> bool:
        """Return whether there is a campaign of that name."""
        return await asyncio.to_thread(self.store.terms, name) is not None

    async def desk(self, name: str, **terms: Any) -> Desk:
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

    def at_work(self) -> list[Desk]:
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

    async def _opened(self, name: str) -> Desk:
        agent = await asyncio.to_thread(self._agent, name, {})
        return Desk(agent, threads=self._threads, on_batch=lambda size: self._on_batch(name, size))

    def _agent(self, name: str, terms: dict[str, Any]) -> Agent:
        return Agent.open(self.store, name=name, **terms)


def _succeeded(task: asyncio.Task[Desk]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
