"""Exports over HTTP: separate threads, a few at a time, slow and gone clients."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import httpx
import pytest
from support.live_service import SPRING, in_thread
from support.long_logs import append_decisions
from support.waiting import PATIENCE, wait_until

from almoner.errors import StoreError
from almoner.live.export.rows import PAGE
from almoner.service import app as application
from almoner.service.export_pool import LIMIT, ExportPool
from almoner.service.request_limits import BoundedProtocol
from almoner.store.events import Event
from almoner.store.memory import MemoryStore

LOG = "/api/campaigns/spring/log?format=jsonl"
PAGES = 60


class Gated(MemoryStore):
    """A store that counts the pages read of it, and reads none while its gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.pages, self.broken = threading.Event(), 0, False
        self.exports = ExportPool()
        self.gate.set()

    def outcomes(self, name: str, *, after: int, through: int, last: int) -> list[Event]:
        assert self.gate.wait(PATIENCE)
        self.pages += 1
        if self.broken and after:
            raise StoreError("the disk is gone")
        return super().outcomes(name, after=after, through=through, last=last)


class Quick(BoundedProtocol):
    """A protocol that does not wait long for a client to read."""

    stall_seconds = 1.0


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Gated, httpx.Client]]:
    store = Gated()
    with (
        mock.patch.object(application, "ExportPool", return_value=store.exports),
        in_thread(store, http=Quick) as url,
        httpx.Client(base_url=url, timeout=PATIENCE) as client,
    ):
        contexts = ["returning", "new"]
        actions = {"mail": 1.0, "coupon": 5.0}
        terms = {**SPRING, "contexts": contexts, "actions": actions}
        assert client.post("/api/campaigns", json=terms).status_code == 201
        append_decisions(store, "spring", PAGES * PAGE // 2)
        yield store, client


@pytest.fixture
def logged() -> Iterator[list[logging.LogRecord]]:
    """Return the log records of the service and the server."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign, assignment]
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "almoner.service", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    yield records
    for logger in loggers:
        logger.removeHandler(handler)


def asked(client: httpx.Client, *, buffer: int | None = None) -> socket.socket:
    """Request an export and read nothing of it."""
    where = urlsplit(str(client.base_url))
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    if buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.connect((where.hostname, where.port))
    connection.sendall(f"GET {LOG} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection


def whole(client: httpx.Client) -> httpx.Response:
    """Return an export, retried while too many others are in progress."""
    answers: list[httpx.Response] = []

    def export() -> bool:
        answers[:] = [client.get(LOG)]
        return answers[0].status_code == 200

    wait_until(export, "an export is answered")
    return answers[0]


def test_an_export_is_whole(served: tuple[Gated, httpx.Client]) -> None:
    _, client = served
    assert len(whole(client).text.splitlines()) == PAGES * PAGE // 2


def test_exports_wait_in_threads_of_their_own_and_too_many_are_refused(
    served: tuple[Gated, httpx.Client],
) -> None:
    store, client = served
    store.gate.clear()
    waiting = [asked(client) for _ in range(LIMIT)]
    wait_until(lambda: store.exports.in_progress == LIMIT, "the exports begin")
    refused = client.get(LOG)
    others = [client.get(path).status_code for path in ("/ready", "/api/campaigns", "/docs")]
    store.gate.set()
    assert others == [200] * 3, "nothing else waits"
    assert refused.json() == {
        "error": "not_ready",
        "message": "4 exports are under way, as many as there may be; ask again in a moment",
    }
    assert refused.headers["retry-after"] == "30"
    for connection in waiting:
        connection.close()
    assert len(whole(client).text.splitlines()) == PAGES * PAGE // 2


def test_an_export_stops_when_its_client_goes_and_leaves_no_traceback(
    served: tuple[Gated, httpx.Client], logged: list[logging.LogRecord]
) -> None:
    store, client = served
    for early in (True, False):
        store.pages = 0
        for _ in range(12):
            connection = asked(client)
            if not early:
                connection.recv(1000)
            connection.close()
        whole(client)
        assert store.pages < 2 * PAGES, "of twelve exports hardly more than the whole one is read"
    assert not logged


def test_a_client_that_does_not_read_gives_its_place_up(
    served: tuple[Gated, httpx.Client], logged: list[logging.LogRecord]
) -> None:
    _, client = served
    stalled = [asked(client, buffer=4096) for _ in range(LIMIT)]
    assert whole(client).status_code == 200
    for connection in stalled:
        connection.close()
    assert not logged


def test_an_export_that_fails_half_way_is_cut_off_and_logged_in_a_line(
    served: tuple[Gated, httpx.Client], logged: list[logging.LogRecord]
) -> None:
    store, client = served
    whole(client)
    store.broken = True
    try:
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(LOG)
    finally:
        store.broken = False
    assert [record.getMessage() for record in logged] == [
        "/api/campaigns/spring/log was cut off: the disk is gone",
        "ASGI callable returned without completing response.",
    ]
    assert not any(record.exc_info for record in logged)


def test_an_export_that_cannot_begin_is_refused(
    served: tuple[Gated, httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, client = served

    def fails(name: str) -> Any:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(store, "last", fails)
    answer = client.get(LOG)
    assert (answer.status_code, answer.json()["message"]) == (503, "the disk is gone")


def test_the_head_of_an_export_is_answered_without_reading_the_log(
    served: tuple[Gated, httpx.Client],
) -> None:
    store, client = served
    wait_until(lambda: store.exports.in_progress == 0, "earlier exports have ended")
    pages = store.pages
    answer = client.head(LOG)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert store.pages == pages
