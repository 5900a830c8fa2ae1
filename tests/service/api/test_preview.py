"""The preview of a campaign is refused for the same reasons as its creation, in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING

import almoner as al
from almoner.live.terms.terms import Terms
from almoner.service.app import create_app
from almoner.service.auth.api_keys import create_key
from almoner.store import Store, open_store

REFUSED: dict[str, dict[str, Any]] = {
    "a slash in the name": {"name": "spring/summer"},
    "a name of two lines": {"name": "spring\nsummer"},
    "a folder as a name": {"name": ".."},
    "a name that is too long": {"name": "s" * 201},
    "an empty name": {"name": ""},
    "a name in use on other terms": {"name": "spring", "budget": 3000},
    "a name in use with another seed": {"name": "spring", "seed": 7},
    "no context": {"contexts": []},
    "an action called skip": {"actions": {"skip": 1}},
    "a reserve below the cost": {"actions": {"call": {"cost": 3, "reserve": 2}}},
    "an amount between two units": {"unit": 3},
    "a unit out of reach": {"unit": 1e-20},
    "an unknown policy": {"policy": "thrify"},
    "a policy that needs knowledge": {"policy": "alp"},
    "a policy for two contexts of one cost": {"policy": "ucb_pb"},
    "new contexts with known defaults": {
        "new_contexts": True,
        "default_rewards": {"new": 0.1, "returning": 0.2},
    },
    "a closing time without its day": {"horizon": {"at": "soon", "arrivals": 10}},
    "a closing time in the past": {"horizon": {"at": "2001-01-01T00:00:00Z", "arrivals": 10}},
    "a forecast of next to nobody": {"horizon": {"at": "2099-01-01T00:00:00Z", "arrivals": 1e-305}},
    "a budget that is no number": {"budget": "2000"},
    "a field that is not known": {"budgets": 2000},
}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
        yield client


@pytest.mark.parametrize("changes", REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_start_cannot_be_previewed(
    client: httpx.Client, changes: dict[str, Any]
) -> None:
    body = {**SPRING, "name": "summer", **changes}
    started = client.post("/api/campaigns", json=body)
    previewed = client.post("/api/plan", json=body)
    assert started.status_code >= 400
    assert (previewed.status_code, previewed.json()) == (started.status_code, started.json())


@pytest.mark.parametrize("name", ["spring", "summer", "."])
def test_what_can_be_previewed_can_start_and_nothing_is_kept_of_a_preview(
    client: httpx.Client, store: Store, name: str
) -> None:
    body = {**SPRING, "name": name}
    previewed = client.post("/api/plan", json=body)
    assert store.campaigns() == ["spring"]
    started = client.post("/api/campaigns", json=body)
    assert previewed.is_success == started.is_success == (name != ".")


def test_a_plan_needs_no_name(client: httpx.Client) -> None:
    body = {term: value for term, value in SPRING.items() if term != "name"}
    assert client.post("/api/plan", json=body).status_code == 200
    assert client.post("/api/plan", json={**body, "name": None}).status_code == 200


def test_agreed_terms_are_those_of_the_agent(store: Store) -> None:
    from almoner.live.opening import agreed_terms

    terms: dict[str, Any] = {
        term: SPRING[term] for term in ("contexts", "horizon", "budget", "seed")
    }
    terms["actions"] = {"coupon": 5.0}
    thought, exists = agreed_terms(store, "autumn", terms)
    assert not exists
    assert store.campaigns() == []
    assert al.Agent.open(store, name="autumn", **terms).terms == thought
    assert agreed_terms(store, "autumn", {}) == (thought, True)


def page(store: Store, key: str, path: str) -> str:
    with TestClient(create_app(store)) as client:
        client.post("/sign-in", data={"key": key})
        return str(client.get(path).text)


def test_who_may_only_decide_is_told_so_instead_of_shown_a_form(store: Store) -> None:
    deciding = create_key(store, "shop", right="decide")
    administering = create_key(store, "ops", right="administer")
    refused = page(store, deciding, "/new")
    assert "You are signed in with a key that may decide, and may not create campaigns." in refused
    assert "almoner keys create NAME --right administer" in refused
    assert "new-campaign" not in refused
    assert "create.mjs" not in refused
    offered = page(store, administering, "/new")
    assert 'id="new-campaign"' in offered
    assert "may not create" not in offered


def test_pages_offer_only_what_the_right_permits(store: Store) -> None:
    deciding = create_key(store, "shop", right="decide")
    assert "To create one takes a key with the right to administer." in page(store, deciding, "/")
    al.Agent.open(store, name="a", contexts=["x"], actions={"y": 1}, horizon=9, budget=9)
    assert "to pause or close a campaign" in page(store, deciding, "/campaigns/a")
    assert 'class="button primary" href="/new"' not in page(store, deciding, "/")
    administering = create_key(store, "ops", right="administer")
    assert "takes the right to administer" not in page(store, administering, "/campaigns/a")


def test_the_costs_of_a_context_are_looked_up_once(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every action they took seconds, in which other requests waited."""
    calls = {"costs_in": 0, "reserves_in": 0}
    for name in calls:
        look_up = getattr(Terms, name)

        def counted(terms: Terms, context: str, name: str = name, look_up: Any = look_up) -> Any:
            calls[name] += 1
            return look_up(terms, context)

        monkeypatch.setattr(Terms, name, counted)
    contexts = [f"c{number}" for number in range(10)]
    costs = {f"a{number}": number + 1 for number in range(300)}
    guess = {"contexts": contexts, "actions": costs, "horizon": 100, "budget": 500}
    plan = client.post("/api/plan", json=guess).json()
    assert [action["cost"] for action in plan["contexts"][9]["actions"]] == [*costs.values()]
    assert max(calls.values()) <= 5 * len(contexts)
