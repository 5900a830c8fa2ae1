"""AsyncClient: the verbs of `Client`, awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.live_service import in_thread

import almoner as al

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"coupon": al.Action(cost=1, reserve=2, expires="1 day"), "mail": 1},
    "horizon": 200,
    "budget": 100,
    "seed": 1,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread() as address:
        yield address


def test_it_has_the_verbs_of_the_client() -> None:
    for name, verb in vars(al.Client).items():
        if name.startswith("_") or name in ("status", "campaign"):
            continue
        ours = getattr(al.AsyncClient, name)
        assert inspect.signature(ours).parameters == inspect.signature(verb).parameters
        assert inspect.iscoroutinefunction(ours) or inspect.isasyncgenfunction(ours)


def test_it_answers_what_a_client_answers(url: str) -> None:
    async def week() -> None:
        async with al.AsyncClient(url, campaign="awaited") as campaign:
            await campaign.create(**TERMS)
            decisions = await asyncio.gather(
                *[campaign.decide("new", key=f"visit-{number}") for number in range(20)]
            )
            assert len({decision.id for decision in decisions}) == 20
            assert await campaign.decide("new", key="visit-3") == decisions[3]
            batch = await campaign.decide_many(["new", "returning"], available=["coupon"])
            own = await campaign.decide("new", ["coupon"], costs={"coupon": 0.5})
            more = await campaign.decide_many(["new"], ["coupon"], costs=[{"coupon": 0.25}])
            assert [own.reserved, more[0].reserved] == [2, 2], "its reserve"
            logged = [row["own_costs"] for row in await campaign.latest(2)]
            assert logged == ['{"coupon": 0.25}', '{"coupon": 0.5}']
            for each in (own, *more):
                await campaign.cancel(each.id)
            await campaign.reward_many({"visit-1": 1.0})
            await campaign.reward_many({batch[0].id: 0.0})
            await campaign.reward(key="visit-2", value=1.0)
            assert (await campaign.settle(batch[0].id, cost=1.5)).refunded == 0.5
            assert (await campaign.cancel(batch[1].id)).refunded == 2
            before = len(await campaign.open_decisions())
            assert before == len([each for each in decisions if each.action])
            preview = await campaign.preview_amendment(budget=150)
            assert preview["changes"] == ["budget 100 → 150"]
            assert (await campaign.amend(budget=150, note="more"))["budget"] == 150
            await campaign.pause()
            assert await campaign.status() == "paused"
            await campaign.resume()
            await campaign.end()
            assert (await campaign.show())["status"] == "closed"
            assert (await campaign.report())["arrivals"] == 24
            log = [row async for row in campaign.log()]
            assert [row["decision"] for row in await campaign.latest(2)] == [
                row["decision"] for row in log[:-3:-1]
            ]
        with pytest.raises(al.StoreError, match="the client of campaign 'awaited' is closed"):
            await campaign.show()

    asyncio.run(week())


def test_errors_are_those_of_the_library(url: str) -> None:
    async def wrong() -> None:
        async with al.AsyncClient(url, campaign="nobody") as campaign:
            with pytest.raises(al.UnknownCampaign, match="there is no campaign 'nobody'"):
                await campaign.decide("new")
            with pytest.raises(al.InvalidInput, match="give one of them"):
                await campaign.reward(value=1.0)

    asyncio.run(wrong())


def test_it_retries_while_the_service_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if len(requests) == 1:
            raise httpx.ConnectError("refused")
        if len(requests) == 2:
            return httpx.Response(503, json={"error": "not_ready", "message": "soon"})
        return httpx.Response(200, json={"status": "running"})

    monkeypatch.setattr("almoner.client.exchange.FIRST_WAIT", 0.001)

    async def patient() -> str:
        transport = httpx.MockTransport(answer)
        async with al.AsyncClient("http://x", campaign="c", transport=transport) as campaign:
            return await campaign.status()

    assert asyncio.run(patient()) == "running"
    assert len(requests) == 3
