"""Every operation of the API, compared with the library."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING

import almoner as al
from almoner.live.audit import audit
from almoner.live.export import COLUMNS
from almoner.service.app import create_app
from almoner.store import Store, open_store

PATH = "/api/campaigns/spring"
TERMS: dict[str, Any] = {
    "name": "spring",
    "contexts": SPRING["contexts"],
    "actions": {"coupon": 5.0, "call": al.Action(cost=2.0, reserve=3.0)},
    "horizon": 1000,
    "budget": 2000,
    "seed": 1,
}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        yield client


@pytest.fixture
def spring(client: httpx.Client) -> httpx.Client:
    assert client.post("/api/campaigns", json=SPRING).status_code == 201
    return client


def decide(client: httpx.Client, context: str = "new", **more: Any) -> dict[str, Any]:
    answer = client.post(f"{PATH}/decisions", json={"context": context, **more})
    assert answer.status_code == 200, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def served(client: httpx.Client) -> dict[str, Any]:
    """A decision that is not a skip."""
    while True:
        decision = decide(client)
        if decision["action"] is not None:
            return decision


def test_a_campaign_over_http_is_the_campaign_of_the_library(spring: httpx.Client) -> None:
    twin = al.Agent.open("memory:", **TERMS)
    for number in range(60):
        context = "new" if number % 3 else "returning"
        decision, wanted = decide(spring, context), twin.decide(context)
        assert al.Decision(**decision) == wanted
        if wanted.action is not None:
            bill = 1.25 if wanted.action == "call" else 5.0
            answer = spring.post(f"{PATH}/decisions/{wanted.id}/settle", json={"cost": bill})
            assert al.Settlement(**answer.json()) == twin.settle(wanted.id, cost=bill)
            value = number % 2
            answer = spring.post(f"{PATH}/decisions/{wanted.id}/reward", json={"value": value})
            assert (answer.status_code, answer.content) == (204, b"")
            twin.reward(wanted.id, value)
    assert spring.get(PATH).json()["spent"] == twin.terms.unit.amount(twin.ledger.spent)


def test_a_new_campaign_is_shown_with_its_terms(client: httpx.Client) -> None:
    answer = client.post("/api/campaigns", json=SPRING)
    assert answer.status_code == 201
    shown = answer.json()
    assert shown["contexts"] == ["new", "returning"]
    costs = {name: (row["cost"], row["reserve"]) for name, row in shown["actions"].items()}
    assert costs == {"coupon": (5.0, 5.0), "call": (2.0, 3.0)}
    assert not any(row["stopped"] or row["expires"] for row in shown["actions"].values())
    assert (shown["horizon"], shown["budget"], shown["seed"]) == (1000, 2000.0, 1)
    assert (shown["status"], shown["spent"], shown["left"]) == ("running", 0.0, 2000.0)
    assert client.get(PATH).json() == shown


def test_creating_twice_on_the_same_terms_changes_nothing(spring: httpx.Client) -> None:
    served(spring)
    again = spring.post("/api/campaigns", json=SPRING)
    assert again.status_code == 200
    assert again.json()["arrivals"] > 0


def test_other_terms_are_a_conflict_that_is_named(spring: httpx.Client) -> None:
    answer = spring.post("/api/campaigns", json={**SPRING, "budget": 3000})
    assert answer.status_code == 409
    assert answer.json()["error"] == "different_terms"
    assert answer.json()["message"] == (
        "campaign 'spring' was opened with budget=2000, got budget=3000; send its own terms, or "
        "choose another name"
    )


@pytest.mark.parametrize("policy", [{}, {"policy": "thrifty"}], ids=["left out", "by name"])
def test_a_campaign_of_the_former_default_is_created_again_and_goes_on(
    client: httpx.Client, policy: dict[str, str]
) -> None:
    assert client.post("/api/campaigns", json={**SPRING, "policy": "wilson_eager"}).is_success
    again = client.post("/api/campaigns", json={**SPRING, **policy})
    assert again.status_code == 200
    assert again.json()["policy"] == al.wilson_eager().to_dict()
    other = client.post("/api/campaigns", json={**SPRING, "policy": "greedy"})
    assert (other.status_code, other.json()["error"]) == (409, "different_terms")


def test_a_report_has_what_is_borrowed_where_something_is(spring: httpx.Client) -> None:
    def pairs() -> list[dict[str, Any]]:
        contexts = spring.get(f"{PATH}/report").json()["contexts"]
        return [pair for context in contexts for pair in context["actions"]]

    decision = served(spring)
    assert {(pair["pooled"], pair["borrowed"]) for pair in pairs()} == {(None, None)}
    spring.post(f"{PATH}/decisions/{decision['id']}/reward", json={"value": 1})
    for pair in pairs():
        assert 0 < pair["pooled"] < 1
        assert pair["borrowed"] > 0


def test_every_kind_of_terms_can_be_written(client: httpx.Client) -> None:
    body = {
        "name": "Frühling 2030 – nord",
        "contexts": ["a", "b"],
        "actions": {
            "x": {"cost": {"a": 1, "b": 2}, "reserve": {"a": 2, "b": 2}},
            "y": 0.5,
        },
        "horizon": {
            "at": "2099-01-01T00:00:00+01:00",
            "opens": "2026-01-01T00:00:00Z",
            "arrivals": 1e6,
            "profile": [["2050-01-01T00:00:00Z", 0.25]],
            "trust": None,
        },
        "budget": 1000.25,
        "policy": al.kl_ucb_rounded().to_dict(),
        "unit": 0.25,
        "default_rewards": {"a": 0.5, "b": 0.1},
        "new_contexts": False,
    }
    answer = client.post("/api/campaigns", json=body)
    assert answer.status_code == 201, answer.text
    shown = client.get("/api/campaigns/Fr%C3%BChling%202030%20%E2%80%93%20nord").json()
    assert shown["name"] == body["name"]
    assert shown["closes"] == "2099-01-01T00:00:00+01:00"
    assert shown["actions"]["x"]["cost"] == {"a": 1.0, "b": 2.0}
    assert shown["policy"]["rewards"]["kind"] == "KLUCB"
    report = client.get("/api/campaigns/Fr%C3%BChling%202030%20%E2%80%93%20nord/report")
    assert report.json()["policy"] == "kl_ucb_rounded"


def test_the_default_policy_may_be_given_a_caution(client: httpx.Client) -> None:
    body = {**SPRING, "name": "cautious", "policy": "thrifty(caution=2)"}
    created = client.post("/api/campaigns", json=body)
    assert created.json()["policy"] == al.thrifty(caution=2).to_dict()
    report = client.get("/api/campaigns/cautious/report")
    assert report.json()["policy"] == "thrifty(caution=2)"
    other = client.post("/api/campaigns", json={**body, "policy": "thrifty"})
    assert other.status_code == 409
    assert "policy=thrifty(caution=2), got policy=thrifty;" in other.json()["message"]
    refused = client.post("/api/campaigns", json={**body, "policy": "thrifty(caution=11)"})
    assert refused.status_code == 422
    assert "caution must be between 0 and 10" in refused.json()["message"]


def test_new_contexts_are_learned_where_that_was_agreed(client: httpx.Client) -> None:
    client.post("/api/campaigns", json={**SPRING, "new_contexts": True})
    assert decide(client, "someone else")["context"] == "someone else"
    assert client.get(PATH).json()["contexts"] == ["new", "returning", "someone else"]


def test_the_same_key_is_the_same_decision(spring: httpx.Client) -> None:
    first = decide(spring, key="visit-81")
    assert decide(spring, key="visit-81") == first
    answer = spring.post(f"{PATH}/decisions", json={"context": "returning", "key": "visit-81"})
    assert answer.status_code == 409


def test_an_arrival_without_a_context_is_refused_where_contexts_are_named(
    spring: httpx.Client,
) -> None:
    answer = spring.post(f"{PATH}/decisions", json={"key": "a"})
    assert answer.status_code == 422
    assert "context must be one of new, returning, got context=None" in answer.json()["message"]


def test_only_what_is_available_is_chosen(spring: httpx.Client) -> None:
    for _ in range(20):
        assert decide(spring, available=["call"])["action"] in {"call", None}
    nothing = decide(spring, available=[])
    assert (nothing["action"], nothing["reason"]) == (None, "unavailable")


def test_an_arrival_may_have_costs_of_its_own(spring: httpx.Client) -> None:
    taken = decide(spring, available=["call"], costs={"call": 3.25})
    assert (taken["action"], taken["reserved"]) == ("call", 3.25)
    batch = {"contexts": ["new", "new"], "available": ["call"], "costs": [{"call": 0.5}, None]}
    answer = spring.post(f"{PATH}/decisions/batch", json=batch).json()
    assert answer["decisions"][0]["reserved"] == 3
    log = spring.get(f"{PATH}/latest").json()["decisions"]
    logged = [row["own_costs"] for row in reversed(log)]
    assert logged == ['{"call": 3.25}', '{"call": 0.5}', None]
    for costs, message in (
        ({"call": -1}, "of at least 0"),
        ({"visit": 1}, "an action with a cost must be one of"),
        ([1], "costs"),
        ({"call": "much"}, "a number"),
    ):
        refused = spring.post(f"{PATH}/decisions", json={"context": "new", "costs": costs})
        assert refused.status_code in (400, 422)
        assert message in refused.json()["message"]


def test_a_batch_is_decided_in_its_order(spring: httpx.Client) -> None:
    contexts = ["new", "returning", "new"]
    body = {"contexts": contexts, "keys": ["a", None, "b"]}
    decisions = spring.post(f"{PATH}/decisions/batch", json=body).json()["decisions"]
    assert [decision["context"] for decision in decisions] == contexts
    assert decide(spring, key="b") == decisions[2]
    empty = spring.post(f"{PATH}/decisions/batch", json={"contexts": []})
    assert empty.json() == {"decisions": []}


def test_rewards_in_a_batch_are_learned_all_or_none(spring: httpx.Client) -> None:
    made = [decide(spring)["id"] for _ in range(3)]
    values = [{"id": identity, "value": 0.25 * number} for number, identity in enumerate(made, 1)]
    for _ in range(2):  # to say it again is to say it once
        answer = spring.post(f"{PATH}/rewards", json={"rewards": values})
        assert (answer.status_code, answer.content) == (204, b"")
    report = spring.get(f"{PATH}/report").json()
    assert (report["rewarded"], report["reward"]) == (3, 0.25 + 0.5 + 0.75)
    late = decide(spring)["id"]
    for mistake, status in [((made[0], 1), 409), ((late, 0.5), 409), ((99, 1), 404)]:
        batch = [{"id": late, "value": 0}, {"id": mistake[0], "value": mistake[1]}]
        assert spring.post(f"{PATH}/rewards", json={"rewards": batch}).status_code == status
    assert spring.get(f"{PATH}/report").json()["rewarded"] == 3, "nothing of a refused batch"
    assert spring.post(f"{PATH}/rewards", json={"rewards": []}).status_code == 204


def test_a_cancelled_action_is_refunded(spring: httpx.Client) -> None:
    decision = served(spring)
    before = spring.get(PATH).json()["left"]
    answer = spring.post(f"{PATH}/decisions/{decision['id']}/cancel")
    assert answer.json()["refunded"] == decision["reserved"]
    assert spring.get(PATH).json()["left"] == before + decision["reserved"]
    again = spring.post(f"{PATH}/decisions/{decision['id']}/cancel")
    assert again.json() == answer.json()
    late = spring.post(f"{PATH}/decisions/{decision['id']}/reward", json={"value": 1})
    assert (late.status_code, late.json()["error"]) == (409, "conflict")


def test_pause_resume_close(spring: httpx.Client) -> None:
    assert spring.post(f"{PATH}/pause").json() == {"name": "spring", "status": "paused"}
    assert decide(spring)["reason"] == "paused"
    assert spring.post(f"{PATH}/resume").json()["status"] == "running"
    assert decide(spring)["reason"] != "paused"
    assert spring.post(f"{PATH}/close").json()["status"] == "closed"
    assert decide(spring)["reason"] == "closed"
    assert spring.post(f"{PATH}/resume").status_code == 409
    assert spring.post(f"{PATH}/close").status_code == 200


def test_the_report_is_that_of_the_library(spring: httpx.Client) -> None:
    decision = served(spring)
    spring.post(f"{PATH}/decisions/{decision['id']}/reward", json={"value": 1})
    report = spring.get(f"{PATH}/report").json()
    assert (report["name"], report["rewarded"], report["reward"]) == ("spring", 1, 1.0)
    assert report["spent"] + report["reserved"] + report["left"] == report["budget"]
    actions = report["contexts"][0]["actions"]
    tried = next(entry for entry in actions if entry["action"] == decision["action"])
    assert tried["low"] < tried["mean"] == 1.0


def test_the_curve_is_in_amounts_and_times(spring: httpx.Client) -> None:
    for _ in range(10):
        decide(spring)
    points = spring.get(f"{PATH}/curve").json()["points"]
    assert [point["arrivals"] for point in points] == list(range(1, 11))
    shown = spring.get(PATH).json()
    assert points[-1]["reserved"] == shown["reserved"] < 100
    assert datetime.fromisoformat(points[0]["at"]).tzinfo is not None


def test_the_latest_decisions_come_newest_first(spring: httpx.Client) -> None:
    made = [decide(spring)["id"] for _ in range(30)]
    for identity in made:
        spring.post(f"{PATH}/decisions/{identity}/reward", json={"value": 0.5})
    newest = spring.get(f"{PATH}/latest").json()["decisions"]
    assert [row["decision"] for row in newest] == made[:-21:-1]
    assert {row["reward"] for row in newest} == {0.5}
    few = spring.get(f"{PATH}/latest", params={"limit": 3}).json()["decisions"]
    assert few == newest[:3]
    many = spring.get(f"{PATH}/latest", params={"limit": 200}).json()["decisions"]
    assert [row["decision"] for row in many] == made[::-1]


def test_the_log_is_streamed_as_csv_and_as_json_lines(spring: httpx.Client) -> None:
    batch = {"contexts": ["new", "returning"] * 1000}
    made = spring.post(f"{PATH}/decisions/batch", json=batch).json()["decisions"]
    answer = spring.get(f"{PATH}/log")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == list(COLUMNS)
    answer = spring.get(f"{PATH}/log", params={"format": "jsonl"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    for export in (rows, lines):
        assert [int(row["decision"]) for row in export] == [entry["id"] for entry in made]
        assert [row["action"] for row in export] == [entry["action"] or "skip" for entry in made]


def test_all_campaigns_are_listed_oldest_first(spring: httpx.Client) -> None:
    spring.post("/api/campaigns", json={**SPRING, "name": "autumn"})
    listed = spring.get("/api/campaigns").json()["campaigns"]
    assert [entry["name"] for entry in listed] == ["spring", "autumn"]
    assert listed[0]["left"] == 2000.0


@pytest.mark.parametrize("path", ["", "/report", "/curve", "/latest", "/log", "/log?format=jsonl"])
def test_an_unknown_campaign_is_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(f"{PATH}{path}")
    assert (answer.status_code, answer.json()["error"]) == (404, "unknown_campaign")
    assert client.post(f"{PATH}/decisions", json={"context": "new"}).status_code == 404


def test_a_plan_is_what_the_optimum_would_do(client: httpx.Client) -> None:
    """Worked by hand in lp.py: 40 % always served, a sixth of the others."""
    guess = {
        "contexts": ["a", "b"],
        "actions": {"x": 1},
        "horizon": 100,
        "budget": 50,
        "context_probs": {"a": 0.4, "b": 0.6},
        "reward_means": {"a": {"x": 0.8}, "b": {"x": 0.4}},
    }
    plan = client.post("/api/plan", json=guess).json()
    assert plan["value"] == pytest.approx(0.36)
    assert plan["total"] == pytest.approx(36)
    assert plan["spend"] == pytest.approx(50)
    assert plan["price"] == pytest.approx(0.4)
    assert plan["boundaries"] == pytest.approx([0.4, 1.0])
    assert [context["served"] for context in plan["contexts"]] == pytest.approx([1, 1 / 6])
    assert client.get("/api/campaigns").json() == {"campaigns": []}


def test_a_plan_with_a_guess_of_what_skipping_brings(client: httpx.Client) -> None:
    """An action brings 0.4 more than a skip for a, 0.1 more for b: a comes first.

    0.4 × 0.8 + 0.6 × (1/6 × 0.4 + 5/6 × 0.3) = 0.51.
    """
    guess = {
        "contexts": ["a", "b"],
        "actions": {"x": 1},
        "horizon": 100,
        "budget": 50,
        "default_rewards": "learned",
        "context_probs": {"a": 0.4, "b": 0.6},
        "reward_means": {"a": {"x": 0.8}, "b": {"x": 0.4}},
        "default_means": {"a": 0.4, "b": 0.3},
    }
    plan = client.post("/api/plan", json=guess).json()
    assert plan["value"] == pytest.approx(0.51)
    assert plan["price"] == pytest.approx(0.1)
    assert [context["served"] for context in plan["contexts"]] == pytest.approx([1, 1 / 6])
    worse = {**guess, "default_means": {"a": 0.9, "b": 0.3}}
    plan = client.post("/api/plan", json=worse).json()
    assert [context["served"] for context in plan["contexts"]] == pytest.approx([0, 5 / 6])


@pytest.mark.parametrize(
    ("guesses", "complaint"),
    [
        (
            {"default_means": {"new": 0.5}, "default_rewards": "learned"},
            "lacks the key 'returning'",
        ),
        ({"default_means": {"new": 0.5, "returning": 0.5}}, "default_rewards='learned'"),
        ({"context_probs": {"new": 0.5, "returning": 0.6}}, "must sum to 1"),
        ({"context_probs": {"new": 1}}, "lacks the key 'returning'"),
        ({"reward_means": {"new": {"coupon": 1, "call": 0.5}}}, "lacks the key 'returning'"),
        ({"reward_means": {"new": {"coupon": 1}, "returning": {}}}, "lacks the key 'call'"),
    ],
)
def test_guesses_must_be_complete(
    client: httpx.Client, guesses: dict[str, Any], complaint: str
) -> None:
    answer = client.post("/api/plan", json={**SPRING, **guesses})
    assert answer.status_code == 422
    assert complaint in answer.json()["message"]


def test_the_ledger_over_http_is_sound(spring: httpx.Client, store: Store) -> None:
    spring.post(f"{PATH}/decisions/batch", json={"contexts": ["new"] * 500})
    balance = audit(store, "spring")
    assert balance.decisions == 500
    assert balance.reserved + balance.spent <= balance.budget


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("log?formt=jsonl", "the query has the unknown key 'formt'; did you mean 'format'?"),
        ("latest?lmit=5", "the query has the unknown key 'lmit'; did you mean 'limit'?"),
        ("latest?limit=0", "limit must be a whole number from 1 to 200, got limit=0"),
    ],
)
def test_queries_are_checked_as_strictly_as_bodies(
    spring: httpx.Client, query: str, message: str
) -> None:
    answer = spring.get(f"/api/campaigns/spring/{query}")
    assert (answer.status_code, answer.json()["message"]) == (400, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"budget": 10**400},
            "budget must be at most 1.8e+308, got a number of about 400 digits",
        ),
        (
            {"policy": {**al.thrifty().to_dict(), "rewards": {"kind": "Wilson", "z": 1}}},
            "Wilson has the unknown key 'z'; it takes none",
        ),
    ],
)
def test_messages_name_a_rule_that_is_broken(
    client: httpx.Client, changes: dict[str, Any], message: str
) -> None:
    answer = client.post("/api/campaigns", json={**SPRING, **changes})
    assert answer.json()["message"] == message
