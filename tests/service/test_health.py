"""Health, readiness and figures for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event as Gate

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from support.live_service import SPRING
from support.waiting import wait_until

from almoner.errors import StoreError
from almoner.service import background, health
from almoner.service.app import create_app
from almoner.store import open_store
from almoner.store.memory import MemoryStore


class Trying(MemoryStore):
    """A store that can fail, or wait for a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.fails, self.gate = False, Gate()
        self.gate.set()

    def campaigns(self) -> list[str]:
        self.gate.wait()
        if self.fails:
            raise StoreError("the disk is full")
        return super().campaigns()


def ready(client: httpx.Client) -> httpx.Response:
    """Wait until the kernels are warm; return the response of ``/ready``."""
    wait_until(lambda: "kernels" not in client.get("/ready").text, "the kernels are warm")
    return client.get("/ready")


def test_it_is_ready_only_once_the_kernels_are_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(background, "warm_up", gate.wait)
    with TestClient(create_app(MemoryStore())) as client:
        assert client.get("/health").json() == {"status": "ok"}
        cold = client.get("/ready")
        assert (cold.status_code, cold.json()["error"]) == (503, "not_ready")
        assert "kernels" in cold.json()["message"]
        gate.set()
        assert ready(client).json() == {"status": "ready"}


@pytest.mark.parametrize("slow", [False, True])
def test_kernels_that_take_longer_than_to_load_are_mentioned(
    monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    gate, mentioned = Gate(), Gate()
    monkeypatch.setattr(background, "warm_up", gate.wait)
    monkeypatch.setattr(background, "LOADING_SECONDS", 0.01 if slow else 60.0)
    with TestClient(create_app(MemoryStore(), when_slow=mentioned.set)) as client:
        if slow:
            assert mentioned.wait(60)
        gate.set()
        ready(client)
        assert mentioned.is_set() == slow


def test_it_is_ready_only_while_the_store_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Trying()
    monkeypatch.setattr(health, "KNOWN_READY", 0.0)
    with TestClient(create_app(store)) as client:
        assert ready(client).status_code == 200
        store.fails = True
        assert client.get("/ready").status_code == 503
        assert "the disk is full" in client.get("/ready").json()["message"]
        store.fails = False
        store.gate.clear()
        monkeypatch.setattr(health, "PATIENCE", 0.05)
        slow = client.get("/ready")
        store.gate.set()
        assert slow.status_code == 503
        assert "has not answered" in slow.json()["message"]
        assert client.get("/health").status_code == 200, "the process lives all the same"


def test_a_warm_up_that_fails_is_logged_and_never_ready(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(background, "warm_up", broken)
    with TestClient(create_app(MemoryStore())) as client:
        wait_until(lambda: "no compiler here" in caplog.text, "the failure is logged")
        assert client.get("/ready").status_code == 503


@pytest.fixture
def spring() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"))) as client:
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
        yield client


def figures(client: httpx.Client) -> dict[tuple[str, ...], float]:
    """Return all metrics by name and label values, in the order of the labels' names."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_decisions_requests_transactions_and_money_are_counted(spring: httpx.Client) -> None:
    path = "/api/campaigns/spring/decisions"
    made = [spring.post(path, json={"context": "new"}).json() for _ in range(5)]
    batch = spring.post(f"{path}/batch", json={"contexts": ["new"] * 3}).json()["decisions"]
    spring.post(path, json={"context": "nobody"})
    metrics = figures(spring)
    served = sum(decision["action"] is not None for decision in made + batch)
    skipped = metrics.get(("almoner_decisions_total", "spring", "policy"), 0)
    assert metrics["almoner_decisions_total", "spring", "served"] == served
    assert served + skipped == 8
    route = "/api/campaigns/{name}/decisions"
    assert metrics["almoner_request_seconds_count", "POST", route, "200"] == 5
    assert metrics["almoner_request_seconds_count", "POST", route, "422"] == 1
    assert metrics["almoner_transaction_callers_count", "spring"] >= 7
    shown = spring.get("/api/campaigns/spring").json()
    for part in ("spent", "reserved", "left"):
        assert metrics["almoner_money", "spring", part] == shown[part]


def test_reading_a_campaign_takes_no_transaction(spring: httpx.Client) -> None:
    series = "almoner_transaction_callers_count", "spring"
    for path in ("/api/campaigns/spring", "/api/campaigns/spring/report", "/campaigns/spring"):
        assert spring.get(path).status_code == 200
    assert series not in figures(spring)
    spring.post("/api/campaigns/spring/decisions", json={"context": "new"})
    assert figures(spring)[series] == 1


def test_a_decision_that_is_asked_for_again_is_counted_once(spring: httpx.Client) -> None:
    path = "/api/campaigns/spring/decisions"
    for _ in range(3):
        spring.post(path, json={"context": "new", "key": "a"})
    for keys in (["a", "b", "b"], ["b", "c", None], ["a", "b", "c"]):
        spring.post(f"{path}/batch", json={"contexts": ["new"] * 3, "keys": keys})
    counted = sum(
        value for (name, *_), value in figures(spring).items() if name == "almoner_decisions_total"
    )
    assert counted == 4, "a, b, c, and one without a key"


def test_requests_without_access_are_counted_too() -> None:
    app = create_app(open_store("memory:"), locked=True)
    with TestClient(app) as client:
        client.get("/api/campaigns")
        counted = app.services.metrics.registry.get_sample_value(
            "almoner_request_seconds_count",
            {"method": "GET", "route": "/api/campaigns", "status": "401"},
        )
        assert counted == 1


def test_many_requests_ask_the_store_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs a key for ``/ready``, and no rate limits it."""
    monkeypatch.setattr(health, "KNOWN_READY", 60.0)
    store = Trying()
    with TestClient(create_app(store)) as client:
        assert ready(client).status_code == 200
        store.fails = True
        assert {client.get("/ready").status_code for _ in range(20)} == {200}


@pytest.mark.parametrize("path", ["/api/campaigns/spring", "/campaigns/spring"])
def test_kernels_that_cannot_be_compiled_leave_no_caller_waiting(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def fail() -> None:
        raise OSError("no space left for the cache")

    monkeypatch.setattr(background, "warm_up", fail)
    with TestClient(create_app(open_store("memory:"))) as client:
        for answer in (client.get(path), client.get("/ready")):
            assert answer.status_code == 503
            assert "The kernels could not be compiled" in answer.text
