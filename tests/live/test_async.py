"""AsyncAgent: the methods of `Agent`, for callers on one event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from support.agents import (
    TERMS,
    AgentFactory,
    FailingTransactions,
    observable_state,
    replayed_state,
)
from support.waiting import PATIENCE

import almoner as al

Result = TypeVar("Result")


def awaited(
    factory: AgentFactory, work: Callable[[al.AsyncAgent], Awaitable[Result]], **terms: Any
) -> Result:
    """Run ``work`` with an agent on an event loop."""

    async def main() -> Result:
        opened = al.AsyncAgent.open(factory.url, **{"name": factory.name, **TERMS, **terms})
        async with await opened as agent:
            return await work(agent)

    return asyncio.run(main())


def test_it_does_what_an_agent_does(factory: AgentFactory) -> None:
    async def work(agent: al.AsyncAgent) -> tuple[Any, ...]:
        mail = await agent.decide("new", ["mail"], "visit-1")
        again = await agent.decide("new", key="visit-1")
        coupon, other = await agent.decide_many(["returning", "new"], ["coupon"], ["a", "b"])
        bill = await agent.settle(mail.id, cost=0.5)
        await agent.reward(mail.id, 1.0)
        await agent.reward_many({coupon.id: 0.25})
        refund = await agent.cancel(other.id)
        await agent.pause()
        away = await agent.decide("new")
        await agent.resume()
        await agent.end()
        left = await agent.look(lambda campaign: campaign.ledger.left)
        return (mail, again, coupon, bill, refund, away, left, agent.name, agent.terms)

    mail, again, coupon, bill, refund, away, left, name, terms = awaited(factory, work)
    agent = factory.open()
    assert (name, terms) == (agent.name, agent.terms)
    assert mail == again
    assert (mail.action, coupon.action, away.reason) == ("mail", "coupon", "paused")
    assert (bill.refunded, refund.refunded, agent.status) == (0.5, 5.0, "closed")
    assert left == agent.ledger.left == 54_500_000
    assert observable_state(agent) == replayed_state(agent)


def test_it_has_the_methods_of_an_agent() -> None:
    """Both agents have the same method names and parameters."""
    for name in (
        "open",
        "decide",
        "decide_many",
        "settle",
        "reward",
        "reward_many",
        "cancel",
        "look",
        "report",
        "final_report",
        "open_decisions",
        "preview_amendment",
        "amend",
        "forget",
        "pause",
        "resume",
        "end",
    ):
        ours, theirs = (
            [*inspect.signature(getattr(kind, name)).parameters]
            for kind in (al.AsyncAgent, al.Agent)
        )
        assert ours == theirs


def test_many_at_once_share_transactions_and_never_overspend(factory: AgentFactory) -> None:
    async def visit(agent: al.AsyncAgent, number: int) -> al.Decision:
        decision = await agent.decide(("new", "returning")[number % 2])
        if decision.action is not None:
            await agent.reward(decision.id, number % 3 / 2)
        return decision

    async def work(agent: al.AsyncAgent) -> list[al.Decision]:
        return await asyncio.gather(*[visit(agent, number) for number in range(200)])

    decisions = awaited(factory, work, horizon=200)
    assert [decision.id for decision in decisions] == list(range(1, 201))  # in one transaction
    agent = factory.open()
    assert 0 <= agent.ledger.left < 1_000_000
    assert observable_state(agent) == replayed_state(agent)


def test_mistakes_and_failures_reach_their_callers(factory: AgentFactory) -> None:
    async def work(agent: al.AsyncAgent) -> list[Any]:
        calls = [agent.decide("nobody"), agent.decide("new"), agent.settle(99, cost=1)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(al.InvalidInput, match="keys must hold 2 keys"):
            await agent.decide_many(["new", "new"], keys=["one"])
        with pytest.raises(al.InvalidInput, match="rewards must be a table"):
            await agent.reward_many([1])  # type: ignore[arg-type]
        FailingTransactions(agent.agent.store).left = 1
        with pytest.raises(al.StoreError, match="the disk is full"):
            await agent.decide("new")
        return results

    unknown, decision, missing = awaited(factory, work)
    assert isinstance(unknown, al.InvalidInput)
    assert isinstance(missing, al.UnknownDecision)
    assert (decision.id, factory.open().ledger.left) == (1, 59_000_000)


def test_closing_answers_what_was_asked_before(factory: AgentFactory) -> None:
    async def main() -> list[al.Decision]:
        agent = await al.AsyncAgent.open(factory.url, **{"name": factory.name, **TERMS})
        calls = [asyncio.create_task(agent.decide("new")) for _ in range(7)]
        await asyncio.sleep(0)
        await agent.close()
        return [task.result() for task in calls]

    assert [decision.id for decision in asyncio.run(main())] == [1, 2, 3, 4, 5, 6, 7]


def test_what_cannot_be_opened_says_so(factory: AgentFactory) -> None:
    with pytest.raises(al.UnknownCampaign, match="give contexts, actions, horizon, budget"):
        asyncio.run(al.AsyncAgent.open(factory.url, name=factory.name))


def test_once_closed_it_says_so(factory: AgentFactory) -> None:
    async def main() -> None:
        agent = await al.AsyncAgent.open(factory.url, **{"name": factory.name, **TERMS})
        await agent.close()
        await agent.close()
        for ask in (agent.decide("new"), agent.look(lambda campaign: campaign.seq)):
            with pytest.raises(al.StoreError, match="is closed; open it again"):
                await asyncio.wait_for(ask, PATIENCE)

    asyncio.run(main())
    closed = factory.open()
    closed.close()
    with pytest.raises(al.StoreError, match="is closed; open it again"):
        closed.decide("new")


def test_it_belongs_to_the_loop_it_was_opened_on(factory: AgentFactory) -> None:
    async def opened() -> al.AsyncAgent:
        return await al.AsyncAgent.open(factory.url, **{"name": factory.name, **TERMS})

    async def close(agent: al.AsyncAgent) -> None:
        with pytest.raises(al.StoreError, match="another event loop; open one on each loop"):
            await agent.decide("new")
        await asyncio.wait_for(agent.close(), PATIENCE)

    asyncio.run(close(asyncio.run(opened())))
    assert factory.open().ledger.reserved == 0


def test_who_leaves_before_a_transaction_begins_is_not_charged(factory: AgentFactory) -> None:
    async def work(agent: al.AsyncAgent) -> list[Any]:
        calls = [asyncio.create_task(agent.decide("new")) for _ in range(3)]
        await asyncio.sleep(0)
        calls[1].cancel()
        return await asyncio.gather(*calls, return_exceptions=True)

    first, gone, last = awaited(factory, work)
    assert isinstance(gone, asyncio.CancelledError)
    assert [first.id, last.id] == [1, 2]
    assert len([*factory.open().events()]) == 2


def test_whatever_goes_wrong_nobody_waits_for_ever(memory: AgentFactory) -> None:
    def fails(campaign: object) -> None:
        raise StopIteration

    def complains(size: int) -> None:
        raise ZeroDivisionError

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        threads = ThreadPoolExecutor(1)
        agent = al.AsyncAgent(memory.create(), threads=threads, on_batch=complains)
        async with asyncio.timeout(PATIENCE):
            calls = [agent.look(fails), agent.decide("new"), agent.decide("new")]
            failed, one, two = await asyncio.gather(*calls, return_exceptions=True)
            assert isinstance(failed, RuntimeError)
            assert [one.id, two.id] == [1, 2]  # type: ignore[union-attr]
            threads.shutdown()
            with pytest.raises(RuntimeError, match="shutdown"):
                await agent.decide("new")
            await agent.close()

    asyncio.run(main())


def test_closing_does_not_wait_for_those_who_ask_again_and_again(factory: AgentFactory) -> None:
    async def main() -> list[BaseException | None]:
        async def insist(agent: al.AsyncAgent) -> None:
            while True:
                await agent.decide("new")

        agent = await al.AsyncAgent.open(factory.url, **{"name": factory.name, **TERMS})
        tasks = [asyncio.create_task(insist(agent)) for _ in range(5)]
        await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE):
            await agent.close()
            return await asyncio.gather(*tasks, return_exceptions=True)

    assert {type(error) for error in asyncio.run(main())} == {al.StoreError}
