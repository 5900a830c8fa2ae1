"""Rewards in money and carry-over over HTTP and by the client, compared with the library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING

import almoner as al
from almoner.service.app import create_app
from almoner.store import Store, open_store

PATH = "/api/campaigns/spring"
EUROS: dict[str, Any] = {"reward_range": [0, 350], "currency": "EUR"}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        yield client


def created(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    answer = client.post("/api/campaigns", json={**SPRING, **changes})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_rewards_in_money(client: httpx.Client) -> None:
    defaults = {"new": 1.75, "returning": 7}
    campaign = created(client, **EUROS, default_rewards=defaults)
    assert (campaign["reward_range"], campaign["currency"]) == ([0, 350], "EUR")
    assert campaign["default_rewards"] == defaults
    decision = client.post(f"{PATH}/decisions", json={"context": "new"}).json()
    url = f"{PATH}/decisions/{decision['id']}/reward"
    assert client.post(url, json={"value": 37.5}).status_code == 204
    assert client.post(url, json={"value": 37.5}).status_code == 204
    assert client.get(f"{PATH}/report").json()["reward"] == 37.5
    [row] = client.get(f"{PATH}/latest").json()["decisions"]
    assert row["reward"] == 37.5
    assert client.get(f"{PATH}/log").text.splitlines()[1].count(",37.5,") == 1
    refused = client.post(url, json={"value": 351})
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        "reward must be between 0 and 350 EUR, got reward=351.0",
    )
    [listed] = client.get("/api/campaigns").json()["campaigns"]
    assert listed["currency"] == "EUR"
    assert client.post("/api/campaigns", json={**SPRING, **EUROS}).status_code == 200


def test_a_prior_and_the_campaign_before(client: httpx.Client, store: Store) -> None:
    prior = {"means": {"new": {"coupon": 0.25}}, "weight": 40}
    created(client, prior=prior)
    agent = al.Agent.open(store, name="spring")
    assert agent.terms.inherited == {"pairs": {"new": {"coupon": [40.0, 10.0]}}}
    summer = created(client, name="summer", after="spring", memory=0.5)
    assert (summer["after"], summer["memory"], summer["inherited"]) == ("spring", 0.5, 20.0)
    again = {**SPRING, "name": "summer", "after": "spring"}
    for memory, status in ((None, 200), (0.5, 200), (0.75, 409)):
        answer = client.post("/api/campaigns", json={**again, "memory": memory})
        assert answer.status_code == status, answer.text
    report = client.get("/api/campaigns/summer/report").json()
    assert (report["inherited"], report["inherited_from"]) == (20.0, "spring")
    assert report["contexts"][0]["actions"][0]["inherited"] == 20.0


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"after": "winter"}, 404, "after must name a campaign of this store"),
        ({"memory": 0.5}, 422, "memory is the weight of the campaign that after names"),
        ({"memory": 2, "after": "a"}, 400, "memory must be"),
        ({"reward_range": [0]}, 400, "reward_range must be"),
        ({"reward_range": [5, 1]}, 422, "the low end comes first"),
        ({"reward_range": [5, 10]}, 422, "a skip brings 0"),
        ({"currency": ""}, 400, "currency must be a text of 1 to 12 characters"),
        ({"prior": {"weight": 5}}, 400, "prior lacks the key 'means'"),
        ({"prior": {"means": {"new": {"coupon": 7}}}}, 422, "must be between 0 and 1"),
        ({"prior": {"means": {"x": {"coupon": 0.7}}}}, 422, "has no context and action"),
    ],
)
def test_bad_terms(
    client: httpx.Client, changes: dict[str, Any], status: int, message: str
) -> None:
    for path in ("/api/campaigns", "/api/plan"):
        answer = client.post(path, json={**SPRING, **changes})
        assert (answer.status_code, message in answer.json()["message"]) == (status, True), (
            answer.text
        )
    assert client.get("/api/campaigns").json()["campaigns"] == []


def test_the_preview_is_the_plan_that_the_campaign_begins_with(client: httpx.Client) -> None:
    terms = {
        **EUROS,
        "budget": 700,
        "default_rewards": "learned",
        "prior": {
            "means": {
                "new": {"coupon": 30, "call": 12, "skip": 3},
                "returning": {"coupon": 80, "skip": 40},
            },
            "weight": 50,
        },
    }
    plan = client.post("/api/plan", json={**SPRING, **terms}).json()
    created(client, **terms)
    report = client.get(f"{PATH}/report").json()
    assert plan["inherited"] == report["inherited"] == 250.0
    for name in ("price", "value", "boundaries"):  # but for what pairs borrow from each other
        assert plan[name] == pytest.approx(report[name], rel=0.05), name
    for guessed, now in zip(plan["contexts"], report["contexts"], strict=True):
        for one, other in zip(guessed["actions"], now["actions"], strict=True):
            assert one["mean"] == pytest.approx(other["pooled"], rel=0.1)
            assert one["planned"] == pytest.approx(other["planned"], abs=0.02)
    assert plan["contexts"][0]["actions"][0]["mean"] == 30.0
    created(client, **terms, name="next", after="spring")
    later = {**SPRING, **terms, "name": "later", "after": "spring"}
    assert_same_plan(client, later, "next")


@pytest.mark.parametrize("more", [{}, {"reward_window": "2 days"}, {"holdout": 0.4}])
def test_after_another_campaign_the_preview_is_the_campaigns_own_plan(
    client: httpx.Client, more: dict[str, Any]
) -> None:
    """Means that few rewards know are estimates, in the preview as in the report."""
    terms = {**EUROS, "budget": 700, "default_rewards": "learned"}
    created(client, **terms)
    arrivals = client.post(f"{PATH}/decisions/batch", json={"contexts": ["new", "returning"] * 60})
    for decision in arrivals.json()["decisions"]:
        if decision["id"] % 3:
            value = 350.0 * (decision["id"] % 4 == 1)
            path = f"{PATH}/decisions/{decision['id']}/reward"
            assert client.post(path, json={"value": value}).is_success
    later = {**terms, **more, "after": "spring"}
    assert_same_plan(
        client,
        {**SPRING, **later, "name": "preview"},
        created(client, **later, name="next")["name"],
    )


def assert_same_plan(client: httpx.Client, terms: dict[str, Any], name: str) -> None:
    """Compare a preview with the report of a campaign on the same terms."""
    plan = client.post("/api/plan", json=terms).json()
    report = client.get(f"/api/campaigns/{name}/report").json()
    for figure in ("price", "value", "boundaries"):
        assert plan[figure] == pytest.approx(report[figure], rel=1e-9), figure
    for guessed, now in zip(plan["contexts"], report["contexts"], strict=True):
        for one, other in zip(guessed["actions"], now["actions"], strict=True):
            if other["pooled"] is not None:
                assert one["mean"] == pytest.approx(other["pooled"], rel=1e-9)
            assert one["planned"] == pytest.approx(other["planned"], abs=1e-9)


def test_guesses_without_weight_are_for_the_preview_only(client: httpx.Client) -> None:
    means = {"new": {"coupon": 0.75, "call": 0.25}, "returning": {"coupon": 0.125, "call": 0.125}}
    guesses = client.post("/api/plan", json={**SPRING, "reward_means": means}).json()
    prior = {"means": means, "weight": 0}
    plan = client.post("/api/plan", json={**SPRING, "prior": prior}).json()
    assert plan == guesses
    assert created(client, prior=prior)["prior"] == prior


def test_the_client_sends_them(store: Store) -> None:
    with TestClient(create_app(store)) as http:
        client = al.Client("http://testserver", campaign="spring", transport=http._transport)
        terms = {name: value for name, value in SPRING.items() if name != "name"}
        terms |= {"actions": {"coupon": 5.0}, "reward_range": (0, 350), "currency": "EUR"}
        prior = al.Prior(means={"new": {"coupon": 35.0}}, weight=20)
        assert client.create(**terms, prior=prior)["inherited"] == 20.0
        assert client.create(**terms, prior=prior)["prior"] == asdict(prior)
        client.reward(client.decide("new").id, 37.5)
        assert client.report()["reward"] == 37.5
        summer = al.Client("http://testserver", campaign="summer", transport=http._transport)
        assert summer.create(**terms, after="spring")["memory"] == 0.75
        with pytest.raises(al.UnknownCampaign, match="after must name"):
            al.Client("http://testserver", campaign="x", transport=http._transport).create(
                **terms, after="winter"
            )


def test_lift_and_preview_on_the_pages_name_the_currency(client: httpx.Client) -> None:
    created(client, **EUROS, holdout=0.3)
    made = client.post(f"{PATH}/decisions/batch", json={"contexts": ["new"] * 60}).json()
    rewards = [{"id": d["id"], "value": 200 * bool(d["action"])} for d in made["decisions"]]
    assert client.post(f"{PATH}/rewards", json={"rewards": rewards}).status_code == 204
    page = client.get("/campaigns/spring").text
    lift = page[page.index('id="lift"') : page.index("latest-title")]
    assert re.search(r"An arrival brings [\d.]+ EUR with the campaign and 0 EUR without", lift)
    cells = re.findall(r'data-label="Reward(?: of one)?">(.*)</td>', lift)
    cells += re.findall(r'data-label="Difference">([^–].*)</td>', lift)
    assert len(cells) == 2 + 6 + 5
    for cell in cells:
        assert " EUR" in cell, cell
    assert "is spent and" in (edit := client.get("/campaigns/spring/edit").text)
    assert re.search(r"[\d.]+ EUR is spent and [\d.]+ EUR reserved", edit)
    fragment = client.post("/campaigns/spring/edit/plan", json={"budget": 5_000}).text
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", fragment))
    assert facts["Budget"] == "5,000 EUR"
    assert facts["Reward to come"].endswith(" EUR")
    assert "EUR of reward per EUR of budget" in fragment
