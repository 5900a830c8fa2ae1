"""A proxy between an agent and PostgreSQL that cuts or stalls connections at message boundaries.

It knows as much of the protocol as it takes to find where messages begin and end, and which of them
commit: https://www.postgresql.org/docs/current/protocol-message-formats.html
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
"""Seconds that a stalled message is held back for."""


class Message(NamedTuple):
    """One message: who sent it, its type (none for the first of a connection), and its body."""

    sender: str
    kind: str
    body: bytes

    @property
    def raw(self) -> bytes:
        """The message as it is sent."""
        return self.kind.encode() + struct.pack("!i", len(self.body) + 4) + self.body

    @property
    def commits(self) -> bool:
        """Whether it asks for a commit, or says that there was one."""
        if self.sender == BACKEND:
            return self.kind == "C" and self.body == b"COMMIT\0"
        return self._query().startswith(b"COMMIT")

    @property
    def writes(self) -> bool:
        """Whether it asks for rows to be added."""
        return self._query().startswith((b"COPY", b"INSERT"))

    def _query(self) -> bytes:
        """Return the statement of a simple query, or of one to be prepared."""
        if self.sender == BACKEND or self.kind not in {"P", "Q"}:
            return b""
        return (self.body if self.kind == "Q" else self.body.partition(b"\0")[2]).upper()


@dataclass
class Fault:
    """What is to happen to the n-th message of a sender from now on; then, what it happened to."""

    sender: str
    number: int
    how: str
    struck: Message | None = None
    passed: int = 0
    written: bool = False
    """Whether the server was asked to add rows before."""
    commit_asked: bool = False
    """Whether the server was asked to commit them before."""

    @property
    def at_commit(self) -> bool:
        """Whether it struck a commit of rows, or the answer to one."""
        return self.struck is not None and self.struck.commits and self.written


class Proxy:
    """Listens on a port of this machine, for as many connections as are made."""

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
        """Have a fault happen once."""
        with self._lock:
            self._fault = fault

    def disarm(self) -> None:
        """Have no fault happen any more."""
        with self._lock:
            self._fault = None

    def close(self) -> None:
        """End all connections, and take no more."""
        for one in (self._listener, *self._open):
            _cut(one)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            server = self._connect()
            for one in (client, server):
                if one.family == socket.AF_INET:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open |= {client, server}
            for sender, one, other in ((FRONTEND, client, server), (BACKEND, server, client)):
                Thread(target=self._pass_on, args=(sender, one, other), daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._server.get("host") or "localhost"), self._server.get("port") or 5432
        if not host.startswith("/"):
            return socket.create_connection((host, int(port)))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _pass_on(self, sender: str, source: socket.socket, target: socket.socket) -> None:
        """Pass messages on until a fault, or an end of the connection, cuts it in both ways."""
        first = sender == FRONTEND
        with suppress(OSError, EOFError):
            while True:
                kind = "" if first else _read(source, 1).decode()
                (length,) = struct.unpack("!i", _read(source, 4))
                message = Message(sender, kind, _read(source, length - 4))
                first = False
                how = self._happens_to(message)
                if how == STALL:
                    time.sleep(STALLED)
                if how == HALFWAY:
                    target.sendall(message.raw[: len(message.raw) // 2])
                if how in {BEFORE, HALFWAY}:
                    break
                target.sendall(message.raw)
        for one in (source, target):
            _cut(one)
            self._open.discard(one)

    def _happens_to(self, message: Message) -> str | None:
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
    """End a connection, whoever is waiting on it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
