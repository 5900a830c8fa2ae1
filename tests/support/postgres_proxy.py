"""A proxy between an agent and PostgreSQL that cuts or stalls connections at message boundaries.

It parses only the boundaries of messages, and the statements that write or commit: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread
from typing import NamedTuple

from psycopg.conninfo import conninfo_to_dict

FRONTEND, BACKEND = "frontend", "backend"
BEFORE, HALFWAY, STALL = "before", "halfway", "stall"
STALLED = 0.02
"""Seconds by which a stalled message is delayed."""


class Message(NamedTuple):
    """One message: sender, type (empty for the first of a connection), and body."""

    sender: str
    kind: str
    body: bytes

    @property
    def raw(self) -> bytes:
        """Bytes on the wire."""
        return self.kind.encode() + struct.pack("!i", len(self.body) + 4) + self.body

    @property
    def commits(self) -> bool:
        """Whether it requests or confirms a commit."""
        if self.sender == BACKEND:
            return self.kind == "C" and self.body == b"COMMIT\0"
        if self.kind == "c":  # the end of a COPY, whose query goes on with COMMIT
            return True
        return b"COMMIT" in self._query() and b"COPY" not in self._query()

    @property
    def writes(self) -> bool:
        """Whether it requests an insertion of rows."""
        return b"COPY" in self._query() or b"INSERT" in self._query()

    def _query(self) -> bytes:
        """Return the statements of a simple query, or the one to be prepared."""
        if self.sender == BACKEND or self.kind not in {"P", "Q"}:
            return b""
        return (self.body if self.kind == "Q" else self.body.partition(b"\0")[2]).upper()


@dataclass
class Fault:
    """Fault at the n-th message of a sender from now on, and the message that it struck."""

    sender: str
    number: int
    how: str
    struck: Message | None = None
    passed: int = 0
    written: bool = False
    """Whether an insertion passed before."""
    commit_asked: bool = False
    """Whether a commit of insertions passed before."""

    @property
    def at_commit(self) -> bool:
        """Whether it struck a commit of insertions, or its confirmation."""
        return self.struck is not None and self.struck.commits and self.written


class Proxy:
    """Proxy on a loopback port, for any number of connections."""

    def __init__(self, url: str) -> None:
        self._server = conninfo_to_dict(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = Lock()
        self._fault: Fault | None = None
        self._open: set[socket.socket] = set()
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The URL of the same database, by way of the proxy and unencrypted."""
        port = self._listener.getsockname()[1]
        password = f":{self._server['password']}" if self._server.get("password") else ""
        user = f"{self._server['user']}{password}"
        options = "sslmode=disable&gssencmode=disable"
        return f"postgresql://{user}@127.0.0.1:{port}/{self._server['dbname']}?{options}"

    def arm(self, fault: Fault) -> None:
        """Inject a fault once."""
        with self._lock:
            self._fault = fault

    def disarm(self) -> None:
        """Inject no fault any more."""
        with self._lock:
            self._fault = None

    def close(self) -> None:
        """Close the listener and all connections."""
        for connection in (self._listener, *self._open):
            _cut(connection)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            server = self._connect()
            for end in (client, server):
                if end.family == socket.AF_INET:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open |= {client, server}
            for direction in ((FRONTEND, client, server), (BACKEND, server, client)):
                Thread(target=self._forward, args=direction, daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._server.get("host") or "localhost"), self._server.get("port") or 5432
        if not host.startswith("/"):
            return socket.create_connection((host, int(port)))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _forward(self, sender: str, source: socket.socket, target: socket.socket) -> None:
        """Forward messages until a fault or an end of the connection, then close both sides."""
        first = sender == FRONTEND
        with suppress(OSError, EOFError):
            while True:
                kind = "" if first else _read(source, 1).decode()
                (length,) = struct.unpack("!i", _read(source, 4))
                message = Message(sender, kind, _read(source, length - 4))
                first = False
                how = self._fault_at(message)
                if how == STALL:
                    time.sleep(STALLED)
                if how == HALFWAY:
                    target.sendall(message.raw[: len(message.raw) // 2])
                if how in {BEFORE, HALFWAY}:
                    break
                target.sendall(message.raw)
        for connection in (source, target):
            _cut(connection)
            self._open.discard(connection)

    def _fault_at(self, message: Message) -> str | None:
        with self._lock:
            fault = self._fault
            if fault is None:
                return None
            fault.passed += message.sender == fault.sender
            if message.sender == fault.sender and fault.passed == fault.number:
                fault.struck, self._fault = message, None
                return fault.how
            fault.written |= message.writes
            fault.commit_asked |= message.sender == FRONTEND and message.commits and fault.written
            return None


def _read(source: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = source.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def _cut(connection: socket.socket) -> None:
    """Close a connection, and wake threads that wait on it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
