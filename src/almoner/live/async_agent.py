"""AsyncAgent: a live campaign for callers on an event loop, who share transactions.

While one transaction is on its way to the disk, in a thread, those who ask meanwhile wait; the next
one takes them all along (group commit). Nobody is answered before it is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from almoner.concurrency.process import Process
from almoner.errors import StoreError
from almoner.live.agent import Agent, closed
from almoner.live.campaign import Campaign
from almoner.live.commands import (
    Cancel,
    Decide,
    Look,
    Reward,
    Settle,
    Switch,
    arrivals,
    rewards,
)
from almoner.live.decision import Decision, Settlement
from almoner.live.report import Report
from almoner.live.transaction import Request
from almoner.store import Store
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["AsyncAgent"]

Result = TypeVar("Result")
Waiting = tuple[Sequence[Request], "asyncio.Future[list[Any]]"]


class AsyncAgent:
    """A live campaign to be awaited; `AsyncAgent.open` creates or resumes one.

    Its methods are those of `Agent`, to which it leaves all the work. A caller who is cancelled
    takes nothing back of a transaction that has begun: asked again with the same key, it gets the
    same decision.

    Parameters
    ----------
    agent
        The campaign; it is closed along with this.
    threads
        Where transactions are carried out; a thread of its own if left out.
    on_batch
        Is told how many callers share each transaction.

    Examples
    --------
    >>> async def visits() -> list[Decision]:
    ...     async with await AsyncAgent.open(
    ...         "memory:", name="spring", contexts=["new"], actions={"coupon": 5.0}, horizon=3,
    ...         budget=15) as agent:
    ...         return await asyncio.gather(*[agent.decide("new") for _ in range(3)])
    >>> [decision.budget_left for decision in asyncio.run(visits())]
    [10.0, 5.0, 0.0]
    """

    def __init__(
        self,
        agent: Agent,
        *,
        threads: Executor | None = None,
        on_batch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self.agent, self.name, self.terms = agent, agent.name, agent.terms
        self._loop = asyncio.get_running_loop()
        self._threads = threads or ThreadPoolExecutor(1, thread_name_prefix="almoner")
        self._lent = threads is not None
        self._on_batch = on_batch
        self._queue: list[Waiting] = []
        self._batch: list[Waiting] = []
        self._flight: Future[None] | None = None
        self._process = Process()
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str | Store,
        *,
        name: str,
        clock: Callable[[], float] = time.time,
        **terms: Any,
    ) -> AsyncAgent:
        """Create a campaign, or resume it, with the parameters of `Agent.open`."""
        return cls(await asyncio.to_thread(Agent.open, url, name=name, clock=clock, **terms))

    async def decide(
        self, context: str, available: Iterable[str] | None = None, key: str | None = None
    ) -> Decision:
        """Decide what to do for one arrival, and hold the money for it."""
        (decision,) = await self.ask(Decide(context, available, key))
        return decision  # type: ignore[no-any-return]

    async def decide_many(
        self,
        contexts: Iterable[str],
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order: all of them or none."""
        return await self.ask(*arrivals(contexts, available, keys))

    async def settle(self, id: int, *, cost: Any) -> Settlement:  # noqa: A002
        """Replace what is held for an action by what it cost; the rest can be spent again."""
        (settlement,) = await self.ask(Settle(id, cost))
        return settlement  # type: ignore[no-any-return]

    async def reward(self, id: int, value: float) -> None:  # noqa: A002
        """Say what an action or a skip has brought, a number from 0 to 1; it may come late."""
        await self.ask(Reward(id, value))

    async def reward_many(self, values: Mapping[int, float]) -> None:
        """Say what several actions have brought, by id: all of it or none."""
        await self.ask(*rewards(values))

    async def cancel(self, id: int) -> Settlement:  # noqa: A002
        """Take back an action that never happened, and refund what is held for it."""
        (settlement,) = await self.ask(Cancel(id))
        return settlement  # type: ignore[no-any-return]

    async def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        await self.ask(Switch(PAUSED))

    async def resume(self) -> None:
        """Go on after a pause."""
        await self.ask(Switch(RESUMED))

    async def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still taken."""
        await self.ask(Switch(CLOSED))

    async def look(self, read: Callable[[Campaign], Result]) -> Result:
        """Return what ``read`` says of the campaign, brought up to date and held still for it."""
        (found,) = await self.ask(Look(read))
        return found  # type: ignore[no-any-return]

    async def report(self) -> Report:
        """Return how the campaign is doing: money, arrivals, and each action in each context."""
        self._process.check()
        return await asyncio.to_thread(self.agent.report)

    async def ask(self, *requests: Request) -> list[Any]:
        """Return the answers to a caller's requests: all are done or none."""
        self._process.check()
        if self._closed:
            raise closed(self.name)
        if asyncio.get_running_loop() is not self._loop:
            raise StoreError(
                f"this AsyncAgent of campaign {self.name!r} belongs to another event loop; "
                "open one on each loop"
            )
        answer: asyncio.Future[list[Any]] = self._loop.create_future()
        self._queue.append((requests, answer))
        if not self._in_flight():
            # Not at once: whoever else is heard in this round of the event loop comes along.
            self._loop.call_soon(self._send_off)
        return await answer

    async def finish(self) -> None:
        """Wait until everything asked is answered."""
        self._process.check()
        while self._queue or self._in_flight():  # somebody may ask again before this is woken
            if self._flight is not None and self._in_flight():
                await asyncio.wait([asyncio.wrap_future(self._flight)])
            else:
                self._send_off()

    async def close(self) -> None:
        """Answer what was asked and let go of the store; the campaign stays there."""
        if not self._process.is_current():  # threads and store are the parent's
            return
        self._closed = True
        if not self._loop.is_closed():
            await self.finish()
        await asyncio.to_thread(self.agent.close)
        if not self._lent:
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def _in_flight(self) -> bool:
        """Return whether a transaction is being carried out.

        The thread says so, not a flag, which an interrupted callback would never reset.
        """
        return self._flight is not None and not self._flight.done()

    def _send_off(self) -> None:
        """Have all who wait served in one transaction; after an interrupt, once more."""
        try:
            self._submit()
        except BaseException:
            self._loop.call_soon(self._send_off)
            raise

    def _submit(self) -> None:
        """Begin a transaction for all who wait, but for those who have gone meanwhile."""
        if not self._queue or self._in_flight():
            return
        count = len(self._queue)
        batch = [waiting for waiting in self._queue if not waiting[1].done()]
        if not batch:
            del self._queue[:count]
            return
        try:
            self._batch, self._flight = batch, self._threads.submit(self._work, batch)
            del self._queue[:count]  # not before: an interrupt would leave them waiting for ever
        except BaseException as error:
            self._queue = []
            self._hand_out(batch, [error] * len(batch))
            if not isinstance(error, RuntimeError):  # whoever lent the threads has stopped them
                raise
            return
        self._on_batch(len(batch))

    def _work(self, batch: list[Waiting]) -> None:
        """Carry out a batch in one transaction; runs in a thread."""
        try:
            answers = self.agent.ask_all([requests for requests, _ in batch])
        except BaseException as error:  # nobody must be left waiting for ever
            answers = [error] * len(batch)
        with suppress(RuntimeError):  # the loop is closed: there is nobody left to be told
            # Twice, as the first may be interrupted before its first statement.
            self._loop.call_soon_threadsafe(self._hand_out, batch, answers)
            self._loop.call_soon_threadsafe(self._hand_out, batch, answers)

    def _hand_out(self, batch: list[Waiting], answers: list[Any]) -> None:
        """Answer the callers of a batch; after an interrupt, those who have no answer yet."""
        try:
            self._answer(batch, answers)
        except BaseException:
            self._loop.call_soon(self._hand_out, batch, answers)
            raise

    def _answer(self, batch: list[Waiting], answers: list[Any]) -> None:
        for (_, answer), found in zip(batch, answers, strict=True):
            if answer.done():  # the caller has gone; what was done stays done
                continue
            if isinstance(found, StopIteration):  # which no future takes
                answer.set_exception(RuntimeError(f"a request raised {found!r}"))
            elif isinstance(found, BaseException):
                answer.set_exception(found)
            else:
                answer.set_result(found)
        if self._batch is batch:  # its thread is about to end
            self._flight = None
        self._send_off()
