"""Pace, default and free actions over HTTP, in the client, in the preview and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING, in_thread
from support.reports import money, report

import almoner as al
from almoner.client import Client
from almoner.live.reports.report import CapReport
from almoner.service.app import create_app
from almoner.service.web import notices
from almoner.store import open_store

PACED: dict[str, Any] = {
    **SPRING,
    "actions": {"nothing": 0, "mail": 1, "coupon": 5},
    "pace": {"day": 12, "zone": "Europe/Berlin"},
    "default": "nothing",
}


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"))) as client:
        yield client


def test_a_campaign_shows_its_pace_and_its_default(client: httpx.Client) -> None:
    made = client.post("/api/campaigns", json=PACED)
    assert made.status_code == 201
    assert made.json()["pace"] == {"day": 12.0, "zone": "Europe/Berlin"}
    assert made.json()["default"] == "nothing"
    assert made.json()["actions"]["nothing"]["cost"] == 0.0
    path = f"/api/campaigns/{PACED['name']}"
    decided = client.post(f"{path}/decisions", json={"context": "new"}).json()
    assert decided["action"] is not None
    caps = client.get(f"{path}/report").json()["caps"]
    assert (caps[0]["period"], caps[0]["cap"]) == ("day", 12.0)
    page = client.get(f"/campaigns/{PACED['name']}").text
    assert "This day" in page
    assert "In place of skipping" in page
    even = client.post("/api/campaigns", json={**PACED, "name": "even", "pace": "even"}).json()
    assert even["pace"] == "even"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pace": "fast"}, "pace"),
        ({"pace": {"day": 0}}, "pace.day"),
        ({"pace": {"month": 5}}, "month"),
        ({"pace": {}}, "amounts by period"),
        ({"pace": {"day": 5, "zone": "Berlin"}}, "the name of a time zone"),
        ({"default": "fax"}, "default must be one of"),
        ({"default": "mail", "default_rewards": "learned"}, "exclude each other"),
        ({"actions": {"mail": -1}}, "actions"),
    ],
)
def test_bad_terms_are_refused(client: httpx.Client, changes: Any, message: str) -> None:
    answer = client.post("/api/campaigns", json={**PACED, **changes})
    assert answer.status_code in (400, 422)
    assert message in answer.json()["message"]
    assert client.get("/api/campaigns").json()["campaigns"] == []


def test_the_preview_serves_everybody_with_the_default(client: httpx.Client) -> None:
    plan = client.post("/api/plan", json={**PACED, "name": None, "pace": None, "default": "mail"})
    assert [context["served"] for context in plan.json()["contexts"]] == [1.0, 1.0]
    assert plan.json()["spend"] <= plan.json()["budget"] + 1e-9


def test_the_client_takes_a_pace_as_the_agent_does() -> None:
    terms = {**{name: term for name, term in PACED.items() if name != "name"}}
    terms["pace"] = al.Pace(day=Decimal("12.5"), hour="4")
    with in_thread(open_store("memory:")) as url, Client(url, campaign="paced") as paced:
        assert paced.create(**terms)["pace"] == {"hour": 4.0, "day": 12.5, "zone": "UTC"}
        reasons = {decision.reason for decision in paced.decide_many(terms["contexts"] * 10)}
        assert reasons <= {None, "pace"}
        assert paced.report()["caps"][0]["period"] == "hour"


def cap(**changes: Any) -> CapReport:
    values = {"period": "day", "cap": 20.0, "used": 18.0, "left": 2.0, "holds_back": True}
    return CapReport(**{**values, "ends": "2026-11-17T00:00:00+01:00", **changes})


def test_notices_say_that_a_cap_is_used_up_or_holds_back() -> None:
    (full,) = notices.notices(report(caps=[cap()], blocked="pace"), 200, money)
    assert full.startswith("Nothing can be given out now: 18 of the 20 that the cap of this day")
    (held,) = notices.notices(report(caps=[cap()]), 200, money)
    assert held == (
        "The plan spends less than the budget would allow: the cap of this day (20) holds it back."
    )
    even = cap(period="even", ends=None)
    (full,) = notices.notices(report(caps=[even], blocked="pace"), 200, money)
    assert "until the line has risen" in full
    assert notices.notices(report(caps=[cap(holds_back=False)]), 200, money) == []
