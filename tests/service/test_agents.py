"""AgentPool: callers share transactions, and each is answered after its own commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Event as Gate
from typing import Any, TypeVar

import pytest
from support.waiting import wait_until_async

from almoner.errors import Conflict, DifferentTerms, InvalidInput, StoreError, UnknownCampaign
from almoner.live.async_agent import AsyncAgent
from almoner.live.audit import audit
from almoner.live.transactions.follow_ups import Reward
from almoner.live.transactions.transaction import Decide
from almoner.service.agents import AgentPool
from almoner.store.memory import MemoryStore

TERMS: dict[str, Any] = {
    "contexts": ["a", "b"],
    "actions": {"x": 1},
    "horizon": 1000,
    "budget": 500,
    "seed": 1,
}

Result = TypeVar("Result")


class Slow(MemoryStore):
    """A store whose commits wait for a gate, and may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.begun, self.fails = Gate(), 0, False
        self.gate.set()

    def writing(self, name: str) -> Any:
        self.begun += 1
        if self.fails:
            raise StoreError("the disk is full")
        self.gate.wait()
        return super().writing(name)


def with_agent(
    work: Callable[[AsyncAgent, list[int]], Awaitable[Result]], store: MemoryStore | None = None
) -> Result:
    """Run ``work`` with an agent of a pool, and the list of its batch sizes."""

    async def main() -> Result:
        sizes: list[int] = []
        agents = AgentPool(store or MemoryStore(), on_batch=lambda name, size: sizes.append(size))
        agents.warm.set()
        try:
            return await work(await agents.get("spring", **TERMS), sizes)
        finally:
            await agents.close()

    return asyncio.run(main())


def test_of_those_who_create_a_campaign_together_one_has() -> None:
    async def main() -> None:
        agents = AgentPool(MemoryStore())
        agents.warm.set()
        asked = [agents.create(name, **TERMS) for name in ("spring", "autumn") for _ in range(5)]
        answers = await asyncio.gather(*asked)
        assert [is_new for _, is_new in answers] == [True, *[False] * 4] * 2
        assert {agent.name for agent, _ in answers} == {"spring", "autumn"}
        other = {**TERMS, "budget": 600}
        with pytest.raises(DifferentTerms):
            await agents.create("spring", **other)
        await agents.close()

    asyncio.run(main())


def test_those_who_ask_together_share_a_transaction() -> None:
    async def work(agent: AsyncAgent, sizes: list[int]) -> None:
        answers = await asyncio.gather(*[agent.ask(Decide("a")) for _ in range(50)])
        assert [decision.id for (decision,) in answers] == list(range(1, 51))
        assert sizes == [50]

    with_agent(work)


def test_those_who_come_during_a_commit_share_the_next_one() -> None:
    store = Slow()

    async def work(agent: AsyncAgent, sizes: list[int]) -> None:
        store.gate.clear()
        begun = store.begun
        first = asyncio.create_task(agent.ask(Decide("a")))
        await wait_until_async(lambda: store.begun > begun, "the first transaction begins")
        others = [asyncio.create_task(agent.ask(Decide("b"))) for _ in range(20)]
        await asyncio.sleep(0.01)
        assert not first.done(), "nobody is answered before the commit"
        assert not any(task.done() for task in others)
        store.gate.set()
        await asyncio.gather(first, *others)
        assert sizes == [1, 20]

    with_agent(work, store)


def test_one_callers_mistake_costs_the_others_nothing() -> None:
    async def work(agent: AsyncAgent, sizes: list[int]) -> list[Any]:
        asked = [
            agent.ask(Decide("a", None, "k")),
            agent.ask(Decide("nobody")),
            agent.ask(Decide("b", None, "k")),
            agent.ask(Reward(99, 1.0), Decide("a")),
            agent.ask(Decide("b"), Decide("a")),
        ]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    first, unknown, conflict, missing, both = with_agent(work)
    assert first[0].context == "a"
    assert isinstance(unknown, InvalidInput)
    assert isinstance(conflict, Conflict)
    assert isinstance(missing, LookupError)
    assert [decision.context for decision in both] == ["b", "a"]


def test_a_failing_store_fails_all_who_shared_it_and_is_tried_again() -> None:
    store = Slow()

    async def work(agent: AsyncAgent, sizes: list[int]) -> None:
        store.fails = True
        asked = [agent.ask(Decide("a")) for _ in range(5)]
        failed = await asyncio.gather(*asked, return_exceptions=True)
        assert [str(error) for error in failed] == ["the disk is full"] * 5
        store.fails = False
        (decision,) = await agent.ask(Decide("a"))
        assert decision.id == 1

    with_agent(work, store)


def test_a_caller_who_leaves_takes_nothing_back_and_nobody_along() -> None:
    store = Slow()

    async def work(agent: AsyncAgent, sizes: list[int]) -> None:
        store.gate.clear()
        begun = store.begun
        asked = [asyncio.create_task(agent.ask(Decide("a"))) for _ in range(3)]
        await wait_until_async(lambda: store.begun > begun, "the transaction begins")
        asked[1].cancel()
        await asyncio.sleep(0)
        store.gate.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(answers[1], asyncio.CancelledError)
        assert [answers[0][0].id, answers[2][0].id] == [1, 3]  # type: ignore[index]

    with_agent(work, store)
    assert audit(store, "spring").decisions == 3


def test_closing_answers_what_was_asked_and_refuses_what_is_asked_later() -> None:
    store = Slow()

    async def main() -> None:
        agents = AgentPool(store)
        agents.warm.set()
        agent = await agents.get("spring", **TERMS)
        store.gate.clear()
        begun = store.begun
        asked = [asyncio.create_task(agent.ask(Decide("a"))) for _ in range(10)]
        await wait_until_async(lambda: store.begun > begun, "the transaction begins")
        asked += [asyncio.create_task(agent.ask(Decide("a"))) for _ in range(10)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(agents.close())
        await asyncio.sleep(0.01)
        store.gate.set()
        await closing
        assert all(task.done() for task in asked)
        with pytest.raises(StoreError, match="the service is stopping"):
            await agents.get("spring")

    asyncio.run(main())
    assert audit(store, "spring").decisions == 20


def test_a_campaign_is_opened_once_for_all_who_ask_for_it() -> None:
    store = MemoryStore()

    async def main() -> None:
        agents = AgentPool(store)
        agents.warm.set()
        await agents.get("spring", **TERMS)
        opened = await asyncio.gather(*[agents.get("spring") for _ in range(20)])
        assert len(set(map(id, opened))) == 1
        assert agents.open_agents() == [opened[0]]
        await agents.close()

    asyncio.run(main())


def test_what_could_not_be_opened_is_tried_again() -> None:
    async def main() -> None:
        agents = AgentPool(MemoryStore())
        agents.warm.set()
        with pytest.raises(UnknownCampaign):
            await agents.get("spring")
        assert agents.open_agents() == []
        await agents.get("spring", **TERMS)
        assert [agent.name for agent in agents.open_agents()] == ["spring"]
        await agents.close()

    asyncio.run(main())


def test_nothing_is_opened_before_the_kernels_are_warm() -> None:
    store = Slow()

    async def main() -> None:
        agents = AgentPool(store)
        opening = asyncio.create_task(agents.get("spring", **TERMS))
        await asyncio.sleep(0.01)
        assert not opening.done()
        assert store.begun == 0
        agents.warm.set()
        await opening
        await agents.close()

    asyncio.run(main())


def test_previews_and_pages_do_not_delay_the_store() -> None:
    """They run in the threads of `asyncio.to_thread`; readiness, keys and openings do not."""

    async def main() -> None:
        agents, gate = AgentPool(MemoryStore()), Gate()
        agents.warm.set()
        previews = [asyncio.create_task(asyncio.to_thread(gate.wait)) for _ in range(64)]
        try:
            assert await agents.names() == []
            assert (await agents.get("spring", **TERMS)).name == "spring"
        finally:
            gate.set()
            await asyncio.gather(*previews)
            await agents.close()

    asyncio.run(main())
