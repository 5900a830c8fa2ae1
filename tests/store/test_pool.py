"""Connections to a server: how many there are, who waits for whom, and for how long."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Barrier, Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support.agents import TERMS, assert_sentence
from support.interrupts import elsewhere
from support.waiting import wait_until

from almoner import Agent, StoreError
from almoner.store import open_store, postgres


def observer(url: str) -> psycopg.Connection[Any]:
    """Connect to a database beside a store; `connections` does not count this."""
    return psycopg.connect(url, application_name="observer", autocommit=True)


@contextmanager
def locked(url: str, name: str) -> Iterator[None]:
    """Have a transaction of another client lock a campaign."""
    with observer(url) as other, other.transaction(force_rollback=True):
        other.execute("SELECT 1 FROM almoner_campaigns WHERE name = %s FOR UPDATE", (name,))
        yield


def connections(url: str) -> int:
    """Count the sessions of a store; the server takes a moment to end those of observers."""
    sessions = "datname = current_database() AND application_name <> 'observer'"
    with observer(url) as other:
        query = f"SELECT count(*) FROM pg_stat_activity WHERE {sessions}"  # noqa: S608
        (count,) = other.execute(query).fetchone() or (0,)
    return int(count)


def test_a_locked_campaign_holds_up_no_other(postgres_database: str) -> None:
    url = postgres_database
    store = open_store(url)
    first = Agent.open(store, name="first", **TERMS)
    others = [Agent.open(store, name=f"other {n}", **TERMS) for n in range(10)]
    with locked(url, "first"):
        waiting = [Thread(target=first.decide, args=("new",)) for _ in range(3)]
        writers = [Thread(target=write, args=(store, "first")) for _ in range(3)]
        for thread in (*waiting, *writers):
            thread.start()
        for agent in others:
            assert elsewhere(lambda: agent.decide("new").id) == agent.first_id + 1  # noqa: B023
        assert len(elsewhere(store.campaigns)) == 11
    for thread in (*waiting, *writers):
        thread.join(60)
    assert first.ledger.reserved == 3_000_000
    assert connections(url) <= 3, "one is held up, and one does all the rest"
    store.close()


def write(store: Any, name: str) -> None:
    with store.writing(name) as writer:
        writer.snapshot()


def test_there_are_no_more_connections_than_allowed(
    monkeypatch: pytest.MonkeyPatch, postgres_database: str
) -> None:
    """Five campaigns at once on three connections: two of them wait, and nobody for ever."""
    monkeypatch.setattr(postgres, "CONNECTIONS", 3)
    url = postgres_database
    store: Any = open_store(url)
    inside, go_on, counts = [Event() for _ in range(5)], Event(), list[int]()

    def work(number: int) -> None:
        with store.writing(f"{number}"):
            inside[number].set()
            assert go_on.wait(60)

    for number in range(5):
        store.create(f"{number}", "terms")
    threads = [Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    wait_until(lambda: sum(event.is_set() for event in inside) == 3, "three transactions begin")
    counts.append(connections(url))
    go_on.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert all(event.is_set() for event in inside)
    assert [*counts, connections(url)] == [3, 3]
    store.close()
    wait_until(lambda: not connections(url), "the store's sessions end")


def test_sessions_that_the_server_has_ended_are_replaced_without_an_error(
    monkeypatch: pytest.MonkeyPatch, postgres_database: str
) -> None:
    """All connections of the pool: none of them is found out by a call that fails, much later."""
    url = postgres_database
    store: Any = open_store(url)
    agents = [Agent.open(store, name=f"{n}", **TERMS) for n in range(3)]
    for _ in range(2):
        assert write_at_once(store, 3) == 3
        assert len(store.campaigns()) == 3
        assert connections(url) == 4, "three to write, and one to read"
        end_sessions(url)
    for _ in range(2):
        end_sessions(url)
        assert [agent.decide("new", key="visit 1").id - agent.first_id for agent in agents] == [
            1
        ] * 3
        assert len(store.campaigns()) == 3
    with pytest.raises(StoreError, match="terminat"), store.writing("0"):
        end_sessions(url)  # earlier settings are lost with the session
    agents[0].decide("new", key="visit 1")
    end_sessions(url)
    connect, tried = postgres._ImpatientConnection.connect, list[str]()

    def refuse(conninfo: str, **options: Any) -> Any:
        tried.append(conninfo)
        raise psycopg.OperationalError("the server is starting up")

    monkeypatch.setattr(postgres._ImpatientConnection, "connect", refuse)
    with pytest.raises(StoreError, match="starting up"):
        agents[0].decide("new")
    assert len(tried) == 1, "it tries once more, and no longer"
    monkeypatch.setattr(postgres._ImpatientConnection, "connect", connect)
    assert agents[0].decide("new").id == 2
    store.close()


def end_sessions(url: str) -> None:
    """End all other sessions of a database, as a server does that is restarted."""
    others = "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with observer(url) as admin:
        admin.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity {others}")  # noqa: S608


def write_at_once(store: Any, campaigns: int) -> int:
    """Have transactions on so many campaigns at once; return how many were committed."""
    together, done = Barrier(campaigns), list[int]()

    def work(number: int) -> None:
        with store.writing(f"{number}"):
            together.wait(60)
        done.append(number)

    threads = [Thread(target=work, args=(number,)) for number in range(campaigns)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return len(done)


def test_limits_of_time_are_set_unless_the_url_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def connect(conninfo: str, **options: Any) -> Any:
        given.append(conninfo)
        raise psycopg.OperationalError("no")

    monkeypatch.setattr(postgres._ImpatientConnection, "connect", connect)
    database = postgres.PostgresDatabase("postgresql://h/d?connect_timeout=3&keepalives_idle=5")
    uses: list[Callable[[], Any]] = [
        database.transaction().__enter__,
        lambda: next(database.stream("x")),
    ]
    for use in uses:
        with pytest.raises(StoreError, match="no"):
            use()
    wanted = {"connect_timeout": "3", "keepalives_idle": "5", "host": "h", "dbname": "d"}
    for one in map(conninfo_to_dict, given):
        assert {k: str(v) for k, v in one.items()} == {**postgres.LIMITS, **wanted}
    assert len(given) == 2


def test_a_server_that_accepts_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(StoreError, match="timeout") as raised:
            open_store(f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=2")
    assert_sentence(raised.value)


class Proxy:
    """Forwards bytes to a server's socket until it is told to swallow them."""

    def __init__(self, address: str) -> None:
        self._address, self.swallows = address, False
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._address)
            for pair in ((client, server), (server, client)):
                Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with source, suppress(OSError):  # the other direction has ended
            while data := source.recv(65536):
                if not self.swallows:  # else the kernel has acknowledged it, and that is all
                    target.sendall(data)

    def close(self) -> None:
        self._server.close()


def test_a_connection_that_swallows_everything_is_given_up_and_replaced(
    monkeypatch: pytest.MonkeyPatch, postgres_database: str
) -> None:
    """A decision and a report fail in bounded time, and work again later."""
    monkeypatch.setattr(postgres, "SILENCE", 0.5)
    parts = urlsplit(postgres_database)
    query = parse_qs(parts.query)
    if "host" not in query:
        pytest.fail("the test server listens on a socket in a folder")
    proxy = Proxy(f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}")
    through = f"postgresql://postgres@127.0.0.1:{proxy.port}{parts.path}?sslmode=disable"
    agent = Agent.open(through, name="spring", **TERMS)
    agent.decide("new", key="first")
    for ask in (lambda: agent.decide("new", key="k"), agent.report):
        proxy.swallows = True
        with pytest.raises(StoreError, match=r"no answer from the server|timeout") as raised:
            elsewhere(ask)
        assert_sentence(raised.value)
        proxy.swallows = False
        assert agent.decide("new", key="first").id == 1
    assert agent.decide("new", key="k").id == 2
    agent.close()
    proxy.close()
