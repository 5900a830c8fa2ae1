"""``almoner serve`` as a process: start, shared stores, shutdown."""

from __future__ import annotations

import itertools
import socket
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from support.live_service import SPRING, Process
from support.service_clients import RetryingClients, check_nothing_is_lost
from support.waiting import PATIENCE, wait_until

from almoner.cli import main
from almoner.service.demo import NAME

MANY = 10_000


def serve(*options: str) -> str:
    """Return the error message of a command that does not start."""
    result = CliRunner().invoke(main, ["serve", *options])
    assert result.exit_code == 2, result.output
    return result.output


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104
def test_without_keys_it_refuses_to_listen_elsewhere(tmp_path: Path, host: str) -> None:
    message = serve("--store", f"sqlite:///{tmp_path / 'a.db'}", "--host", host)
    assert "host must be a loopback address as long as there is no key" in message
    assert "almoner keys create" in message


def test_revoked_keys_do_not_count(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'a.db'}"
    for command in (["create", "web", "--right", "decide"], ["revoke", "web"]):
        assert CliRunner().invoke(main, ["keys", *command, "--store", store]).exit_code == 0
    assert "loopback" in serve("--store", store, "--host", "0.0.0.0")  # noqa: S104


def test_any_loopback_address_is_answered_at(tmp_path: Path) -> None:
    with Process(f"sqlite:///{tmp_path / 'shop.db'}", "--host", "127.0.0.2") as service:
        assert service.url.startswith("http://127.0.0.2:")
        assert httpx.get(service.url, timeout=PATIENCE).status_code == 200


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        message = serve("--store", f"sqlite:///{tmp_path / 'a.db'}", "--port", port)
    assert f"cannot listen on 127.0.0.1 port {port}" in message
    assert "give another --port" in message


def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no folder" in serve("--store", f"sqlite:///{tmp_path / 'no' / 'a.db'}")
    assert "a store must be a URL" in serve("--store", "campaigns.db")


def under_way(path: Path) -> bool:
    """Return whether a transaction is writing to a store."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def test_a_stop_signal_finishes_what_was_asked(tmp_path: Path) -> None:
    """The signal comes during the transaction of a large batch."""
    path = tmp_path / "a.db"
    answers: list[httpx.Response] = []
    with (
        Process(f"sqlite:///{path}") as service,
        httpx.Client(base_url=service.url, timeout=PATIENCE) as client,
    ):
        terms = {**SPRING, "horizon": 10**6, "budget": 10**6}
        assert client.post("/api/campaigns", json=terms).status_code == 201
        batch = {"contexts": ["new"] * MANY}

        def ask() -> None:
            answers.append(
                client.post("/api/campaigns/spring/decisions/batch", json=batch, timeout=120)
            )

        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: under_way(path) or not asking.is_alive(), "the transaction begins")
        status, logged = service.stop()
        asking.join()
    assert (status, logged) == (0, "")
    assert answers[0].status_code == 200
    assert len(answers[0].json()["decisions"]) == MANY
    with Process(f"sqlite:///{path}") as again:
        shown = httpx.get(f"{again.url}/api/campaigns/spring", timeout=PATIENCE).json()
        assert shown["arrivals"] == MANY


def demo_arrivals(url: str, seen: int) -> int:
    """Return the arrivals of the demonstration once there are more than were seen."""

    def arrivals() -> int:
        answer = httpx.get(f"{url}/api/campaigns/{NAME}", timeout=PATIENCE)
        return 0 if answer.status_code == 404 else int(answer.json()["arrivals"])

    wait_until(lambda: arrivals() > seen, "visitors arrive")
    return arrivals()


def test_the_demonstration_stops_too_and_goes_on_later(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'a.db'}"
    seen = 0
    for _ in range(2):
        with Process(store, "--demo") as service:
            seen = demo_arrivals(service.url, seen)
            assert service.stop() == (0, "")


def test_several_processes_share_a_campaign_on_postgresql(postgres_database: str) -> None:
    store = postgres_database
    with Process(store) as one, Process(store) as other:
        turns = itertools.cycle([one.url, other.url])
        clients = RetryingClients("spring", lambda: next(turns))
        terms = {**SPRING, "budget": 300.0}
        for url in (one.url, other.url):
            assert httpx.post(f"{url}/api/campaigns", json=terms, timeout=PATIENCE).is_success
        with clients.running(6):
            clients.wait_for(400)
        visit = {"context": "new", "key": "both"}
        path = "/api/campaigns/spring/decisions"
        answers = [
            httpx.post(f"{url}{path}", json=visit, timeout=PATIENCE).json()
            for url in (one.url, other.url)
        ]
        assert answers[0] == answers[1]
        clients.decided["both"] = answers[0]
        views = [
            httpx.get(f"{url}/api/campaigns/spring", timeout=PATIENCE).json()
            for url in (one.url, other.url)
        ]
        assert views[0] == views[1]
        assert views[0]["arrivals"] == len(clients.decided)
    balance = check_nothing_is_lost(store, "spring", clients)
    assert balance.spent + balance.reserved <= balance.budget
