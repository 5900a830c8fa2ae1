"""Limit of the number of HTTP connections, in all and from one address."""

from __future__ import annotations

import asyncio

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from almoner.service.api.responses import ErrorAnswer
from almoner.service.errors import STATUS
from almoner.service.joined_writes import JoinedWrites

__all__ = ["CONNECTIONS", "CountedProtocol", "error_response"]

CONNECTIONS = 800
"""Connections at a time: below the 1,024 files that a process may commonly have open."""

RETRY_AFTER = 1
"""Seconds after which a rejected client may connect again."""


class CountedProtocol(HttpToolsProtocol):
    """One connection; ``_refused`` is whether there were too many, or it broke another limit."""

    most_connections = CONNECTIONS
    most_of_one_address = CONNECTIONS * 3 // 4
    """Less than all; but a proxy in front of the service is one address."""

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, unless there are too many."""
        super().connection_made(transport)
        self.transport = JoinedWrites(transport, self.loop)  # type: ignore[assignment]
        address = self.client and self.client[0]
        same = sum(1 for other in self.connections if _address(other) == address)
        if len(self.connections) > self.most_connections or same > self.most_of_one_address:
            self._refused = True
            self.connections.discard(self)
            message = (
                f"there must be at most {self.most_connections} connections, and "
                f"{self.most_of_one_address} from one address; close some, or ask again later"
            )
            retry = f"retry-after: {RETRY_AFTER}\r\n".encode()
            transport.write(error_response("not_ready", message, retry))
            transport.close()


def error_response(code: str, message: str, headers: bytes = b"") -> bytes:
    """Return the bytes of an error response that closes the connection."""
    body = msgspec.json.encode(ErrorAnswer(error=code, message=message))
    head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n"
    return STATUS_LINE[STATUS[code]] + head % len(body) + headers + b"\r\n" + body


def _address(connection: object) -> str | None:
    client: tuple[str, int] | None = getattr(connection, "client", None)
    return client and client[0]
