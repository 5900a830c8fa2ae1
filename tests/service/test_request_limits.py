"""Limits of connections: bytes, headers, time, number; raw sockets against a server on loopback."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from support.live_service import SPRING, in_thread
from support.waiting import PATIENCE, wait_until

from almoner.service.auth.cookies import cookies_in
from almoner.service.request_limits import (
    BODY_LIMIT,
    HEAD_LIMIT,
    HEADERS_LIMIT,
    BoundedProtocol,
)

DECIDE = "/api/campaigns/spring/decisions"
POST = f"POST {DECIDE} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n".encode()
GET = b"GET /api/campaigns HTTP/1.1\r\nHost: 127.0.0.1\r\n"


class Quick(BoundedProtocol):
    """A protocol with short deadlines that counts closed connections."""

    head_seconds = body_seconds = stall_seconds = 0.3
    ended = threading.Semaphore(0)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.ended.release()


class Small(BoundedProtocol):
    """A protocol for few connections."""

    most_connections, most_of_one_address = 8, 4


@pytest.fixture(scope="module")
def patient() -> Iterator[str]:
    yield from _serving(BoundedProtocol)


@pytest.fixture(scope="module")
def quick() -> Iterator[str]:
    yield from _serving(Quick)


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    yield from _serving(Small)


def _serving(protocol: type[BoundedProtocol]) -> Iterator[str]:
    with in_thread(http=protocol) as url:
        assert httpx.post(f"{url}/api/campaigns", json=SPRING, timeout=PATIENCE).status_code == 201
        yield url


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as connection:
        yield connection


def answer(connection: socket.socket) -> tuple[int, Any]:
    """Read until the connection closes; return the status and the JSON of the last response."""
    data = b""
    with suppress(ConnectionResetError):  # it was closed before all that was sent to it arrived
        while piece := connection.recv(65536):
            data += piece
    head, _, body = data.rpartition(b"\r\n\r\n")
    last = head[head.rindex(b"HTTP/1.1 ") :]
    return int(last.split()[1]), json.loads(body)


def sent(url: str, *pieces: bytes) -> tuple[int, Any]:
    with connected(url) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return answer(connection)


LONG = b"x" * HEAD_LIMIT
HEADS = {
    "a long header": [GET + b"A: " + LONG + b"\r\n\r\n"],
    "a long header and a short one": [GET + b"A: " + LONG, b"\r\nB: 1\r\n\r\n"],
    "a long header in pieces": [GET + b"A: ", *[b"x" * 4096] * 100],
    "many headers that fit together": [GET + b"A: 1\r\n" * HEADERS_LIMIT + b"\r\n"],
    "a long name": [GET + LONG + b": 1\r\n\r\n"],
    "a long address": [b"GET /" + LONG + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    "a long address in pieces": [b"GET /", *[b"x" * 4096] * 100],
    "a long query": [b"GET /?" + LONG + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    "a long credential": [GET + b"Authorization: Bearer " + LONG + b"\r\n\r\n"],
}


@pytest.mark.parametrize("pieces", HEADS.values(), ids=HEADS)
def test_a_head_beyond_the_limits_is_refused(patient: str, pieces: list[bytes]) -> None:
    status, body = sent(patient, *pieces)
    assert status == 431
    assert body["error"] == "headers_too_large"
    assert " at most " in body["message"]


def test_trailers_count_as_headers(patient: str) -> None:
    body = b'{"context": "new"}'
    head = POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(body), body)
    assert sent(patient, head + b"A: " + LONG + b"\r\n\r\n")[0] == 431
    assert sent(patient, head + b"A: 1\r\n" * HEADERS_LIMIT + b"\r\n")[0] == 431


def test_what_a_browser_sends_is_within_the_limits(patient: str) -> None:
    cookies = b"; ".join(b"c%d=" % number + b"y" * 3000 for number in range(9))
    more = b"".join(b"X-%d: z\r\n" % number for number in range(90))
    head = GET + more + b"Cookie: " + cookies + b"\r\nConnection: close\r\n\r\n"
    status, body = sent(patient, head)
    assert (status, body["campaigns"][0]["name"]) == (200, "spring")


def test_a_body_beyond_the_limit_is_refused_however_it_is_sent(patient: str) -> None:
    large = b"x" * (BODY_LIMIT + 1)
    status, body = sent(patient, POST + b"Content-Length: %d\r\n\r\n" % len(large), large)
    assert (status, body["error"]) == (413, "too_large")
    chunk = b"%x\r\n%s\r\n" % (len(large), large)
    assert sent(patient, POST + b"Transfer-Encoding: chunked\r\n\r\n", chunk)[0] == 413
    tiny = b"1;%s\r\nx\r\n" % (b"e" * 1000)  # a kilobyte for each byte of the body
    assert sent(patient, POST + b"Transfer-Encoding: chunked\r\n\r\n", tiny * 4_500)[0] == 413


def test_what_is_not_http_is_refused_in_the_one_form(patient: str) -> None:
    status, body = sent(patient, b"EHLO mail.example.org\r\n\r\n")
    assert (status, body["error"]) == (400, "malformed")


def test_a_cookie_of_backslashes_is_read_in_linear_time(patient: str) -> None:
    """http.cookies would take five seconds for 24 kB, hours for a megabyte."""
    assert cookies_in(b'a="' + b"\\" * 2_000_000 + b'"; b=1')["b"] == "1"
    for name in (b"almoner_key", b"a"):
        head = b'Cookie: %s="%s"\r\nConnection: close\r\n\r\n' % (name, b"\\" * 24_000)
        assert sent(patient, GET + head)[0] == 200


@pytest.mark.parametrize(
    ("start", "what"),
    [(GET, "headers"), (POST + b"Content-Length: 1000\r\n\r\n", "body")],
    ids=["head", "body"],
)
def test_bytes_that_drip_do_not_extend_a_deadline(quick: str, start: bytes, what: str) -> None:
    with connected(quick) as connection:
        connection.sendall(start)
        connection.settimeout(0.02)
        for _ in range(900):
            try:
                connection.sendall(b"x")
                if connection.recv(1, socket.MSG_PEEK):
                    break
            except TimeoutError:
                continue
        connection.settimeout(PATIENCE)
        status, body = answer(connection)
    assert (status, body["error"]) == (408, "too_slow")
    assert body["message"] == f"the {what} must arrive within 0.3 s; send it at once"


def test_a_connection_without_a_request_is_closed(quick: str) -> None:
    with connected(quick) as connection:
        assert connection.recv(1) == b""


def test_a_second_request_that_stops_is_timed_out_too(quick: str) -> None:
    with connected(quick) as connection:
        connection.sendall(GET + b"\r\n" + GET)
        status, _ = answer(connection)
    assert status == 408


def test_a_client_that_does_not_read_is_disconnected(quick: str) -> None:
    """Answers of 50 kB, many in a row, to a client with a small buffer that reads none of them."""
    while Quick.ended.acquire(blocking=False):
        pass
    where = urlsplit(quick)
    request = b"GET /static/vendor/uplot/uPlot.iife.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((where.hostname, where.port))
        connection.sendall(request * 400)  # 20 MB, more than all buffers of a loopback
        assert Quick.ended.acquire(timeout=PATIENCE)


def test_too_many_connections_of_one_address_are_refused_until_some_are_closed(small: str) -> None:
    held = [httpx.Client(base_url=small, timeout=PATIENCE) for _ in range(4)]
    for client in held:
        assert client.get("/health").status_code == 200
    status, body = sent(small)
    assert status == 503
    assert body["message"].startswith("there must be at most 8 connections, and 4 from one address")
    for client in held:
        client.close()
    request = GET + b"Connection: close\r\n\r\n"
    wait_until(lambda: sent(small, request)[0] == 200, "a connection is accepted")


def test_too_many_connections_in_all_are_refused(small: str) -> None:
    """Of several addresses, none of which has too many: all of 127.0.0.0/8 is this machine."""
    where = urlsplit(small)

    def statuses() -> list[int]:
        with ExitStack() as stack:
            connections = [
                stack.enter_context(
                    socket.create_connection(
                        (where.hostname, where.port), PATIENCE, (f"127.0.0.{2 + number // 4}", 0)
                    )
                )
                for number in range(9)
            ]
            return [status(connection) for connection in connections]

    def status(connection: socket.socket) -> int:
        connection.sendall(GET + b"\r\n")
        return int(connection.recv(65536).split()[1])

    # Connections of earlier tests may not be closed yet.
    wait_until(lambda: statuses() == [200] * 8 + [503], "the ninth connection is refused")


def test_the_service_offers_no_other_protocol(patient: str) -> None:
    upgrade = b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    head = GET + upgrade + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    with connected(patient) as connection:
        connection.sendall(head)
        assert connection.recv(12) == b"HTTP/1.1 200"


ANSWERED = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize("pieces", [1, 30])
def test_empty_lines_do_not_keep_a_connection(quick: str, pieces: int) -> None:
    """The parser skips empty lines, which must not extend the deadline of a request."""
    with connected(quick) as connection:
        connection.sendall(ANSWERED)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        try:
            for _ in range(pieces):
                connection.sendall(b"\r\n")
                time.sleep(0.02)
            assert connection.recv(1) == b""
        except ConnectionError:
            pass  # closed while the lines were being sent


@pytest.mark.parametrize(
    "body", [b"Content-Length: 2\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n"]
)
def test_a_body_is_not_taken_for_another_protocol(patient: str, body: bytes) -> None:
    """Nor is the error sent as the response to the next request."""
    upgrade = POST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n" + body
    status, error = sent(patient, upgrade + b"POST /api/campaigns/spring/pause HTTP/1.1\r\n\r\n")
    assert status == 400
    assert "must have no Upgrade header" in error["message"]


def test_an_upgrade_without_a_body_is_ignored(patient: str) -> None:
    with connected(patient) as connection:
        connection.sendall(GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("before", [b"", ANSWERED])
@pytest.mark.parametrize("target", [b"http://[", b"http://:80:90/", b"http:///x", b"a:443"])
def test_an_address_that_is_none_is_refused(patient: str, before: bytes, target: bytes) -> None:
    method = b"CONNECT" if target == b"a:443" else b"GET"
    with connected(patient) as connection:
        if before:
            connection.sendall(before)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(method + b" " + target + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        status, error = answer(connection)
    assert status == 400
    assert error["error"] == "malformed"


@pytest.mark.parametrize("path", ["/", "/health", "/api/campaigns"])
def test_head_is_answered_as_get_without_the_body(patient: str, path: str) -> None:
    asked, only_head = (
        httpx.get(patient + path, timeout=PATIENCE),
        httpx.head(patient + path, timeout=PATIENCE),
    )
    assert (only_head.status_code, only_head.content) == (asked.status_code, b"")
    assert only_head.headers["content-type"] == asked.headers["content-type"]


def test_after_all_that_the_service_is_well(patient: str, quick: str, small: str) -> None:
    for url in (patient, quick, small):
        assert httpx.get(f"{url}/ready", timeout=PATIENCE).status_code == 200
