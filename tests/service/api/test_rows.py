"""Campaigns on rows over HTTP and on the page, compared with the library."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import almoner as al
from almoner.service.app import create_app
from almoner.store import open_store

TERMS: dict[str, Any] = {
    "name": "day",
    "actions": {"cheap": 1.0, "strong": {"cost": 3, "reserve": 5}},
    "horizon": 40,
    "budget": 60,
    "seed": 2,
}
PATH = "/api/campaigns/day"


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"))) as client:
        yield client


def twin(**terms: Any) -> al.Agent:
    """Return an agent on the same campaign in another store."""
    actions = {"cheap": 1.0, "strong": al.Action(cost=3, reserve=5)}
    return al.Agent.open("memory:", **{**TERMS, "actions": actions, **terms})


@pytest.mark.parametrize(
    "kind", [{"scores": True}, {"features": ["x", "y"]}], ids=["scores", "features"]
)
def test_a_campaign_on_rows_over_http_is_that_of_the_library(
    client: httpx.Client, kind: dict[str, Any]
) -> None:
    created = client.post("/api/campaigns", json={**TERMS, **kind})
    assert created.status_code == 201, created.text
    assert created.json()["scores"] == ("scores" in kind)
    agent, draw, name = twin(**kind), random.Random(4), next(iter(kind))  # noqa: S311
    keys = ("cheap", "strong", "skip") if name == "scores" else ("x", "y")
    for number in range(30):
        row = {key: draw.random() for key in keys}
        costs = {"strong": round(draw.uniform(1, 6), 2)}
        body: dict[str, Any] = {name: row, "costs": costs, "key": f"k{number}"}
        answer = client.post(f"{PATH}/decisions", json=body)
        assert answer.status_code == 200, answer.text
        wanted = agent.decide(**body)
        assert al.Decision(**answer.json()) == wanted
        client.post(f"{PATH}/decisions/{wanted.id}/reward", json={"value": 1})
        agent.reward(wanted.id, 1)
    batch: dict[str, Any] = {name: [row, row], "costs": [None, costs]}
    several = client.post(f"{PATH}/decisions/batch", json=batch).json()["decisions"]
    assert [al.Decision(**each) for each in several] == agent.decide_many(**batch)
    report = client.get(f"{PATH}/report").json()
    assert report["price"] == agent.report().price
    assert (report["rows"]["value_taken"] is None) == (name == "features")
    page = client.get("/campaigns/day").text
    assert "Price over time" in page
    assert ("Value taken" in page) == (name == "scores")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "decide needs the scores of the arrival"),
        ({"scores": {"cheap": 1}}, "scores lack the action 'strong'"),
        ({"scores": {"cheap": "1", "strong": 1}}, "scores"),
        ({"features": {"x": 1}}, "decide needs the scores"),
    ],
)
def test_bad_rows_are_refused_with_a_sentence(
    client: httpx.Client, body: dict[str, Any], message: str
) -> None:
    client.post("/api/campaigns", json={**TERMS, "scores": True})
    refused = client.post(f"{PATH}/decisions", json=body)
    assert refused.status_code in (400, 422)
    assert message in refused.json()["message"]


def test_a_campaign_needs_contexts_or_rows(client: httpx.Client) -> None:
    refused = client.post("/api/campaigns", json=TERMS)
    assert refused.status_code in (400, 422)
    assert "contexts" in refused.json()["message"]
