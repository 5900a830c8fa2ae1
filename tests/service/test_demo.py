"""The demonstration fills a campaign at once, and ends with its horizon."""

from __future__ import annotations

import asyncio

import pytest
from starlette.testclient import TestClient
from support.waiting import wait_until

from almoner.live.audit import audit
from almoner.service import demo
from almoner.service.agents import AgentPool
from almoner.service.app import create_app
from almoner.service.demo import NAME, RATES, SHARES, TERMS, run_demo
from almoner.store.memory import MemoryStore


def test_the_figures_belong_together() -> None:
    assert sum(SHARES) == pytest.approx(1)
    assert len(SHARES) == len(RATES) == len(TERMS["contexts"]) == 4
    assert {len(row) for row in RATES} == {len(TERMS["actions"])} == {3}


def test_the_page_has_something_to_show() -> None:
    with TestClient(create_app(MemoryStore(), demo=True)) as client:
        path = f"/api/campaigns/{NAME}/report"
        wait_until(lambda: client.get(path).status_code == 200, "the campaign is created")
        wait_until(lambda: client.get(path).json()["rewarded"] >= 5, "rewards arrive")
        assert client.get(path).json()["served"] > 5


def shorten(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    for name, value in changes.items():
        monkeypatch.setattr(demo, name, value)


def test_it_goes_on_where_it_was_and_ends_with_its_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    shorten(
        monkeypatch,
        TERMS={**TERMS, "horizon": 300, "budget": 300},
        RUSH=20_000.0,
        TICK=0.001,
        REACTION_SECONDS=0.01,
        NEVER_SHOWN=0.2,
    )

    async def watched(seconds: float) -> None:
        agents = AgentPool(store)
        agents.warm.set()
        task = asyncio.create_task(run_demo(agents))
        await asyncio.wait([task], timeout=seconds)
        ended = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await agents.close()
        assert ended or seconds < 1

    asyncio.run(watched(0.005))
    asyncio.run(watched(60))
    balance = audit(store, NAME)
    assert balance.decisions >= 300
    kinds = {event.kind for event in store.events(NAME)}
    assert {"decided", "settled", "rewarded", "cancelled"} <= kinds
