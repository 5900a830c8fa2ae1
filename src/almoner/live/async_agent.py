"""AsyncAgent: a live campaign for callers on an event loop, with group commit.

While a thread commits one transaction, callers queue for the next one, which runs the commands of
all of them. No caller is answered before its transaction is durable.
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
from almoner.live.agent import Agent
from almoner.live.campaign import Campaign
from almoner.live.catch_up import closed
from almoner.live.commands import Cancel, Read, Reward, SetStatus, Settle, arrivals, rewards
from almoner.live.decision import Decision, Settlement
from almoner.live.report import Report
from almoner.live.transaction import Command, Decide
from almoner.store import Store
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["AsyncAgent"]

Result = TypeVar("Result")
Waiting = tuple[Sequence[Command], "asyncio.Future[list[Any]]"]
"""The commands of a caller, and the future of its answers."""


class AsyncAgent:
    """A live campaign with awaitable methods; `AsyncAgent.open` creates or resumes one.

    Its methods are those of `Agent`, to which it delegates. Cancelling a caller does not undo a
    transaction that has begun: a repeated call with the same key gets the same decision.

    Parameters
    ----------
    agent
        The campaign; it is closed along with this.
    threads
        The executor of the transactions; a thread of its own if left out.
    on_batch
        Called with the number of callers of each transaction.

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
        self._owns_threads = threads is None
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
        """Decide for one arrival, and reserve the money of the action."""
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
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        (settlement,) = await self.ask(Settle(id, cost))
        return settlement  # type: ignore[no-any-return]

    async def reward(self, id: int, value: float) -> None:  # noqa: A002
        """Record the reward of an action or a skip, a number from 0 to 1; it may come late."""
        await self.ask(Reward(id, value))

    async def reward_many(self, values: Mapping[int, float]) -> None:
        """Record several rewards by decision id: all of them or none."""
        await self.ask(*rewards(values))

    async def cancel(self, id: int) -> Settlement:  # noqa: A002
        """Cancel an action that never happened, and release its reserve."""
        (settlement,) = await self.ask(Cancel(id))
        return settlement  # type: ignore[no-any-return]

    async def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        await self.ask(SetStatus(PAUSED))

    async def resume(self) -> None:
        """Resume after a pause."""
        await self.ask(SetStatus(RESUMED))

    async def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still accepted."""
        await self.ask(SetStatus(CLOSED))

    async def look(self, read: Callable[[Campaign], Result]) -> Result:
        """Return the value of ``read`` on the up-to-date campaign, within a transaction."""
        (value,) = await self.ask(Read(read))
        return value  # type: ignore[no-any-return]

    async def report(self) -> Report:
        """Return a report: money, arrivals, and each action in each context."""
        self._process.check()
        return await asyncio.to_thread(self.agent.report)

    async def ask(self, *commands: Command) -> list[Any]:
        """Return the answers to a caller's commands: all are carried out or none."""
        self._process.check()
        if self._closed:
            raise closed(self.name)
        if asyncio.get_running_loop() is not self._loop:
            raise StoreError(
                f"this AsyncAgent of campaign {self.name!r} belongs to another event loop; "
                "open one on each loop"
            )
        answer: asyncio.Future[list[Any]] = self._loop.create_future()
        self._queue.append((commands, answer))
        if not self._in_flight():
            # Not at once, so that callers of this iteration of the event loop share the batch.
            self._loop.call_soon(self._send_off)
        return await answer

    async def finish(self) -> None:
        """Wait until all callers are answered."""
        self._process.check()
        while self._queue or self._in_flight():  # callers may submit again before this is woken
            if self._flight is not None and self._in_flight():
                await asyncio.wait([asyncio.wrap_future(self._flight)])
            else:
                self._send_off()

    async def close(self) -> None:
        """Answer all callers and close the store; the campaign stays there."""
        if not self._process.is_current():  # the threads and the store are the parent's
            return
        self._closed = True
        if not self._loop.is_closed():
            await self.finish()
        await asyncio.to_thread(self.agent.close)
        if self._owns_threads:
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def _in_flight(self) -> bool:
        """Return whether a transaction is running.

        By its future, not by a flag, which an interrupted callback would never reset.
        """
        return self._flight is not None and not self._flight.done()

    def _send_off(self) -> None:
        """Start a transaction for the queue; after an interrupt, try again."""
        try:
            self._submit()
        except BaseException:
            self._loop.call_soon(self._send_off)
            raise

    def _submit(self) -> None:
        """Start a transaction for all callers in the queue who were not cancelled."""
        if not self._queue or self._in_flight():
            return
        count = len(self._queue)
        batch = [waiting for waiting in self._queue if not waiting[1].done()]
        if not batch:
            del self._queue[:count]
            return
        try:
            self._batch, self._flight = batch, self._threads.submit(self._work, batch)
            del self._queue[:count]  # only now: an interrupt must not lose callers
        except BaseException as error:
            self._queue = []
            self._hand_out(batch, [error] * len(batch))
            if not isinstance(error, RuntimeError):  # of an executor that was shut down
                raise
            return
        self._on_batch(len(batch))

    def _work(self, batch: list[Waiting]) -> None:
        """Run a batch in one transaction, in a thread of the executor."""
        try:
            answers = self.agent.ask_all([commands for commands, _ in batch])
        except BaseException as error:  # so that no caller waits for ever
            answers = [error] * len(batch)
        with suppress(RuntimeError):  # the loop is closed: no caller is left
            # Twice, as the first call may be interrupted before its first statement.
            self._loop.call_soon_threadsafe(self._hand_out, batch, answers)
            self._loop.call_soon_threadsafe(self._hand_out, batch, answers)

    def _hand_out(self, batch: list[Waiting], answers: list[Any]) -> None:
        """Answer the callers of a batch; after an interrupt, the remaining ones."""
        try:
            self._answer(batch, answers)
        except BaseException:
            self._loop.call_soon(self._hand_out, batch, answers)
            raise

    def _answer(self, batch: list[Waiting], answers: list[Any]) -> None:
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():  # cancelled; the transaction stays committed
                continue
            if isinstance(answer, StopIteration):  # which futures do not accept
                future.set_exception(RuntimeError(f"a request raised {answer!r}"))
            elif isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        if self._batch is batch:  # its thread is about to end
            self._flight = None
        self._send_off()
