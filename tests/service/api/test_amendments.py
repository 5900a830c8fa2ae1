"""Amendments over HTTP: what is refused, by whom they are made, and beside decisions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import in_thread

import almoner as al
from almoner.live.audit import audit
from almoner.service.app import create_app
from almoner.service.auth.access import ADMINISTER, DECIDE
from almoner.service.auth.api_keys import create_key
from almoner.store import Store, open_store

PATH = "/api/campaigns/week"
TERMS: dict[str, Any] = {
    "name": "week",
    "contexts": ["new", "old"],
    "actions": {"coupon": {"cost": 1, "reserve": 5, "expires": "7 days"}, "mail": 0.5},
    "horizon": 1_000,
    "budget": 400,
    "seed": 1,
}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=TERMS).status_code == 201
        client.post(f"{PATH}/decisions/batch", json={"contexts": ["new", "old"] * 10})
        yield client


REFUSED: list[tuple[dict[str, Any], int]] = [
    ({}, 422),
    ({"note": "nothing else"}, 422),
    ({"budget": 1}, 422),
    ({"budget": -1}, 400),
    ({"horizon": 5}, 422),
    ({"closes": "2027-01-01T00:00Z"}, 422),
    ({"arrivals": 500}, 422),
    ({"stop": ["letter"]}, 422),
    ({"stop": ["coupon", "mail"]}, 422),
    ({"stop": ["mail"], "restart": ["mail"]}, 422),
    ({"add": {"mail": 1}}, 422),
    ({"add": {"letter": {"cost": 5, "reserve": 1}}}, 422),
    ({"costs": {"letter": 1}}, 422),
    ({"budget": 500, "note": "a\x00b"}, 422),
    ({"budget": 500, "note": "x" * 1_001}, 400),
    ({"budget": 500, "by": "somebody else"}, 400),
    ({"budget": 500, "context": "new"}, 400),
]


@pytest.mark.parametrize(("changes", "status"), REFUSED)
def test_a_preview_is_refused_as_the_change_would_be(
    client: httpx.Client, changes: dict[str, Any], status: int
) -> None:
    before = client.get(PATH).json()
    previewed = client.post(f"{PATH}/amendments/preview", json=changes)
    made = client.patch(PATH, json=changes)
    assert (previewed.status_code, made.status_code) == (status, status)
    assert previewed.json() == made.json()
    assert client.get(PATH).json() == before
    assert client.get(f"{PATH}/report").json()["amendments"] == []


def test_a_closed_campaign_has_no_preview_either(client: httpx.Client) -> None:
    client.post(f"{PATH}/close")
    previewed = client.post(f"{PATH}/amendments/preview", json={"budget": 500})
    assert (previewed.status_code, previewed.json()["error"]) == (409, "conflict")
    assert previewed.json() == client.patch(PATH, json={"budget": 500}).json()


def test_the_log_says_who_and_why_and_a_key_to_decide_changes_nothing(store: Store) -> None:
    keys = {name: create_key(store, name, right=right) for name, right in RIGHTS.items()}
    headers = {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}
    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=TERMS, headers=headers["ops"]).is_success
        change = {"budget": 500, "note": "from the boss"}
        assert client.patch(PATH, json=change, headers=headers["shop"]).status_code == 403
        assert client.patch(PATH, json=change).status_code == 401
        assert client.patch(PATH, json=change, headers=headers["ops"]).status_code == 200
        assert client.patch(PATH, json=change, headers=headers["ops"]).status_code == 200, "again"
        report = client.get(f"{PATH}/report", headers=headers["shop"]).json()
    [amendment] = report["amendments"]
    assert (amendment["by"], amendment["note"]) == ("ops", "from the boss")
    assert amendment["changes"] == ["budget 400 → 500"]


RIGHTS = {"ops": ADMINISTER, "shop": DECIDE}


@pytest.mark.slow
def test_decisions_and_amendments_at_the_same_time_stay_within_the_budget(store: Store) -> None:
    def decide(number: int) -> int:
        body = {"context": "new", "key": f"visit-{number // 2}"}  # each twice
        return httpx.post(f"{url}{PATH}/decisions", json=body, timeout=60).json()["id"]  # type: ignore[no-any-return]

    def change(number: int) -> int:
        actions = {"stop": ["mail"]} if number % 2 else {"restart": ["mail"]}
        body = {"budget": 400 + number, **actions}
        return httpx.patch(f"{url}{PATH}", json=body, timeout=60).status_code

    with in_thread(store) as url, ThreadPoolExecutor(8) as pool:
        assert httpx.post(f"{url}/api/campaigns", json=TERMS, timeout=60).is_success
        decisions = pool.map(decide, range(160))
        assert {*pool.map(change, range(20))} == {200}
        assert len({*decisions}) == 80
    agent = al.Agent.open(store, name="week")
    assert agent.report().arrivals == 80
    assert audit(store, "week").decisions == 80
