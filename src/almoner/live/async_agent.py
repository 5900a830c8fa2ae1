"""AsyncAgent: a live campaign for callers on an event loop, who share transactions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from almoner.concurrency.process import Process
from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.live.decision import Decision, Settlement
from almoner.live.reports.final_report import FinalReport
from almoner.live.reports.open_decisions import LIMIT, OpenReserve
from almoner.live.reports.report import Report
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.terms import Terms
from almoner.live.transactions.async_group_commit import AsyncGroupCommit
from almoner.live.transactions.catch_up import closed
from almoner.live.transactions.commands import Forget, Read, SetStatus, arrivals
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle, rewards
from almoner.live.transactions.transaction import Command, Decide
from almoner.store import Store
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["AsyncAgent"]

Result = TypeVar("Result")


class AsyncAgent:
    """A live campaign with awaitable methods; `AsyncAgent.open` creates or resumes one.

    Its methods work as those of `Agent`, to which it delegates. Cancelling a caller does not undo a
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
        self.agent, self.name = agent, agent.name
        self._threads = threads or ThreadPoolExecutor(1, thread_name_prefix="almoner")
        self._owns_threads = threads is None
        self._commits = AsyncGroupCommit(agent.ask_all, threads=self._threads, on_batch=on_batch)
        self._process = Process()
        self._closed = False

    @property
    def terms(self) -> Terms:
        """The terms, with all amendments so far."""
        return self.agent.terms

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
        self,
        context: str | None = None,
        available: Iterable[str] | None = None,
        key: str | None = None,
        person: str | None = None,
        costs: Mapping[str, Any] | None = None,
        scores: Mapping[Any, float] | None = None,
        features: Mapping[str, float] | None = None,
    ) -> Decision:
        """Decide for one arrival, and reserve the money of the action."""
        command = Decide(context, available, key, person, costs, scores, features)
        (decision,) = await self._submit(command)
        return decision  # type: ignore[no-any-return]

    async def decide_many(
        self,
        contexts: Iterable[str] | None = None,
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
        persons: Iterable[str | None] | None = None,
        costs: Iterable[Mapping[str, Any] | None] | None = None,
        scores: Iterable[Mapping[Any, float]] | None = None,
        features: Iterable[Mapping[str, float]] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order: all of them or none."""
        command = arrivals(contexts, available, keys, persons, costs, scores, features)
        (decisions,) = await self._submit(command)
        return decisions  # type: ignore[no-any-return]

    async def settle(
        self,
        id: int | None = None,  # noqa: A002
        *,
        cost: Any,
        key: str | None = None,
    ) -> Settlement:
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        (settlement,) = await self.ask(Settle(id, cost, key=key))
        return settlement  # type: ignore[no-any-return]

    async def reward(
        self,
        id: int | None = None,  # noqa: A002
        value: float | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Record the reward of an action or a skip, from 0 to 1 or in its range; maybe late."""
        await self._submit(Reward(id, value, key=key))

    async def reward_many(self, values: Mapping[int, float] | Mapping[str, float]) -> None:
        """Record several rewards by decision id or key: all of them or none."""
        await self.ask(*rewards(values))

    async def cancel(
        self,
        id: int | None = None,  # noqa: A002
        *,
        key: str | None = None,
    ) -> Settlement:
        """Cancel an action that never happened, and release its reserve."""
        (settlement,) = await self.ask(Cancel(id, key=key))
        return settlement  # type: ignore[no-any-return]

    async def forget(self, person: str) -> int:
        """Remove everything that can be traced to a person; return how many actions were kept."""
        (count,) = await self.ask(Forget(person))
        return count  # type: ignore[no-any-return]

    async def amend(
        self, *, note: str | None = None, by: str | None = None, **changes: Any
    ) -> None:
        """Change terms of the running campaign, with the parameters of `Agent.amend`."""
        self._process.check()
        await asyncio.to_thread(partial(self.agent.amend, note=note, by=by, **changes))

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

    async def final_report(self) -> FinalReport:
        """Return whether the campaign has worked: its lift, what that cost, and other budgets."""
        self._process.check()
        return await asyncio.to_thread(self.agent.final_report)

    async def open_decisions(
        self, older_than: Any = None, *, limit: int = LIMIT
    ) -> list[OpenReserve]:
        """Return the decisions whose reserve is not settled, as `Agent.open_decisions` does."""
        self._process.check()
        return await asyncio.to_thread(self.agent.open_decisions, older_than, limit=limit)

    async def preview_amendment(
        self, *, note: str | None = None, **changes: Any
    ) -> tuple[list[str], Report, Report]:
        """Return changes in words, and the reports of the campaign as it is and with them."""
        self._process.check()
        return await asyncio.to_thread(partial(self.agent.preview_amendment, note=note, **changes))

    async def ask(self, *commands: Command) -> list[Any]:
        """Return the answers to a caller's commands: all are carried out or none."""
        return await self._submit(*commands)

    def _submit(self, *commands: Command) -> asyncio.Future[list[Any]]:
        self._process.check()
        if self._closed:
            raise closed(self.name)
        if asyncio.get_running_loop() is not self._commits.loop:
            raise StoreError(
                f"this AsyncAgent of campaign {self.name!r} belongs to another event loop; "
                "open one on each loop"
            )
        return self._commits.submit(commands)

    async def finish(self) -> None:
        """Wait until all callers are answered."""
        self._process.check()
        await self._commits.finish()

    async def close(self) -> None:
        """Answer all callers and close the store; the campaign stays there."""
        if not self._process.is_current():  # the threads and the store are the parent's
            return
        self._closed = True
        if not self._commits.loop.is_closed():
            await self.finish()
        await asyncio.to_thread(self.agent.close)
        if self._owns_threads:
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
