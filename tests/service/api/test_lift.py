"""Persons, hold-out, exploration and the final report over HTTP, compared with the library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import in_thread

import almoner as al
from almoner.client import Client
from almoner.service.app import create_app
from almoner.store import Store, open_store

PATH = "/api/campaigns/spring"
TERMS: dict[str, Any] = {
    "name": "spring",
    "contexts": ["new"],
    "actions": {"coupon": 1.0},
    "horizon": 1_000,
    "budget": 1_000,
    "seed": 1,
    "holdout": 0.2,
    "explore": 0.1,
    "per_person": {"actions": 1, "every": "30 days"},
}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=TERMS).status_code == 201
        yield client


def test_a_campaign_is_shown_with_its_terms(client: httpx.Client, store: Store) -> None:
    view = client.get(PATH).json()
    assert (view["holdout"], view["explore"]) == (0.2, 0.1)
    assert view["per_person"] == {"actions": 1, "every": "30 days"}
    terms = al.Agent.open(store, name="spring").terms
    assert terms.per_person == (1, 30 * 86_400 * 10**6)
    assert client.post("/api/campaigns", json=TERMS).status_code == 200


def test_a_person_gets_one_action_and_is_forgotten(client: httpx.Client, store: Store) -> None:
    persons = [f"c-{number}" for number in range(30)]
    body = {"contexts": ["new"] * 60, "persons": persons * 2}
    decisions = client.post(f"{PATH}/decisions/batch", json=body).json()["decisions"]
    first = [d["action"] for d in decisions[:30]]
    second = [d["reason"] for d in decisions[30:]]
    served = [person for person, action in zip(persons, first, strict=True) if action]
    assert served
    for action, reason in zip(first, second, strict=True):
        assert action is None or reason == "person"
    visit = {"context": "new", "person": served[0]}
    assert client.post(f"{PATH}/decisions", json=visit).json()["reason"] == "person"
    answer = client.request("DELETE", f"{PATH}/persons", json={"person": served[0]})
    assert (answer.status_code, answer.json()) == (200, {"actions": 1})
    answer = client.request("DELETE", f"{PATH}/persons", json={"person": served[0]})
    assert answer.json() == {"actions": 0}
    assert len(store.persons("spring")) == sum(d["action"] is not None for d in decisions) - 1


def test_the_final_report_is_that_of_the_library(client: httpx.Client, store: Store) -> None:
    made = client.post(f"{PATH}/decisions/batch", json={"contexts": ["new"] * 300}).json()
    rewards = [{"id": d["id"], "value": float(d["action"] is not None)} for d in made["decisions"]]
    assert client.post(f"{PATH}/rewards", json={"rewards": rewards}).status_code == 204
    report = client.get(f"{PATH}/final-report").json()
    assert report == asdict(al.Agent.open(store, name="spring").final_report())
    assert report["lift"]["verdict"] == "more"
    page = client.get("/campaigns/spring").text
    assert "Does it work?" in page
    assert "With another budget" in page
    assert "more in all" in page


@pytest.mark.parametrize(
    "change",
    [
        {"holdout": 1},
        {"explore": -0.1},
        {"per_person": {"actions": 0, "every": "1 day"}},
        {"per_person": {"actions": 1, "every": "soon"}},
        {"per_person": {"actions": 1}},
    ],
)
def test_bad_terms_are_refused_in_a_sentence(client: httpx.Client, change: Any) -> None:
    answer = client.post("/api/campaigns", json={**TERMS, "name": "other", **change})
    assert answer.status_code in (400, 422)
    assert next(iter(change)) in answer.json()["message"]


@pytest.mark.parametrize("person", ["Erika" * 50, 81, "", ["Erika"]])
def test_a_bad_person_is_refused_without_being_repeated(client: httpx.Client, person: Any) -> None:
    for method, path, body in [
        ("POST", "decisions", {"context": "new", "person": person}),
        ("POST", "decisions/batch", {"contexts": ["new"], "persons": [person]}),
        ("DELETE", "persons", {"person": person}),
    ]:
        answer = client.request(method, f"{PATH}/{path}", json=body)
        assert answer.status_code in (400, 422)
        assert "person" in answer.json()["message"]
        assert "Erika" not in answer.text


def test_the_client_has_the_same_verbs(store: Store) -> None:
    with in_thread(store) as url, Client(url, campaign="autumn") as autumn:
        limit = al.PerPerson(actions=1, every="30 days")
        terms = {name: value for name, value in TERMS.items() if name != "name"}
        autumn.create(**{**terms, "holdout": 0.0, "explore": 0.0, "per_person": limit})
        assert autumn.decide("new", person="a").action == "coupon"
        assert autumn.decide("new", person="a").reason == "person"
        batch = autumn.decide_many(["new", "new"], persons=["b", "b"])
        assert [decision.reason for decision in batch] == [None, "person"]
        assert (autumn.forget("a"), autumn.forget("a")) == (1, 0)
        assert autumn.final_report()["lift"] is None


def test_the_page_shows_other_budgets_without_a_hold_out_too(client: httpx.Client) -> None:
    plain = {**TERMS, "name": "plain", "holdout": 0.0, "explore": 0.0}
    assert client.post("/api/campaigns", json=plain).status_code == 201
    path = "/api/campaigns/plain"
    assert "With another budget" not in client.get("/campaigns/plain").text
    client.post(f"{path}/decisions/batch", json={"contexts": ["new"] * 20})
    page = client.get("/campaigns/plain").text
    assert "With another budget" in page
    assert "cannot be said: nothing was held out to compare with;" in page
