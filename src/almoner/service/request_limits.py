"""Limits of HTTP requests: bytes, headers and time.

uvicorn's protocol reads heads of any length, waits for the rest of a request for ever, and copies a
long header again with each piece of it. These limits apply before any code of the service runs.
"""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from typing import NoReturn

from almoner.service.connection_limits import CountedProtocol, error_response

__all__ = ["BODY_LIMIT", "BoundedProtocol", "bounded_by"]

BODY_LIMIT = 2_000_000
"""Bytes of a body: room for the largest batch with keys."""

HEAD_LIMIT = 32_768
"""Bytes of the request line and the headers: browsers send up to 4 kB for each cookie."""

HEADERS_LIMIT = 100
"""Headers of a request, trailers included; browsers send about 20."""

MESSAGE_LIMIT = 2 * BODY_LIMIT
"""Bytes of a whole request as it is sent: a body in chunks has a line for each of them."""


class _Phase(Enum):
    """The part of a request that is being received."""

    BETWEEN = auto()
    HEAD = auto()
    BODY = auto()


class _Refusal(Exception):
    """Raised in a callback of the parser, which stops there."""


class BoundedProtocol(CountedProtocol):
    """One connection. Deadlines are for a whole head or body: slow bytes do not extend them."""

    head_seconds = 10.0
    body_seconds = 30.0
    stall_seconds = 30.0
    """Time for a client to read the bytes waiting in the transport's buffer."""
    linger_seconds = 5.0
    """Time to read and discard after a rejection: closed at once, the socket would be reset, and
    the client would lose the response."""

    _phase = _Phase.BETWEEN
    _refusal: tuple[str, str] | None = None
    _body = _size = _received = 0
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, if the connection is accepted."""
        super().connection_made(transport)
        if not self._refused:
            self._deadline = self.loop.call_later(self.head_seconds, self._expire)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        self._cancel_deadline()
        self._cancel_stalled()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the bytes that have arrived, and reject the request once it is too long."""
        if self._refused:
            return
        self._received = len(data)
        super().data_received(data)
        self._size += len(data)
        if self._refused:
            return
        if self._phase is _Phase.BETWEEN:
            self._await_request()
            return
        if self._phase is _Phase.HEAD and self._size > HEAD_LIMIT:
            self._refuse("headers_too_large", _TOO_LONG)
        elif self._size > MESSAGE_LIMIT:
            self._refuse("too_large", _TOO_LARGE)
        elif self._deadline is None:
            head = self._phase is _Phase.HEAD
            seconds = self.head_seconds if head else self.body_seconds
            self._deadline = self.loop.call_later(seconds, self._expire)

    def on_message_begin(self) -> None:
        """Begin to count a request, without the bytes of an earlier one in the same packet."""
        self._phase = _Phase.HEAD
        self._body = 0
        self._size = -self._received
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Hand the request to the application, if its head is within the limits."""
        self._check_head()
        if self.parser.should_upgrade() and self._has_body():
            self._stop(
                "malformed", "a request with a body must have no Upgrade header; leave it out"
            )
        super().on_headers_complete()  # which rejects a malformed URL
        self._phase = _Phase.BODY
        if self._deadline is not None:
            self._cancel_deadline()

    def on_body(self, body: bytes) -> None:
        """Count and pass on a piece of the body."""
        self._body += len(body)
        if self._body > BODY_LIMIT:
            self._stop("too_large", _TOO_LARGE)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Check the trailers of a complete request, and stop its deadline."""
        self._check_head()
        self._phase = _Phase.BETWEEN
        if self._deadline is not None:
            self._cancel_deadline()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, or limit the time to read on a closing connection."""
        super().on_response_complete()
        self._watch_closing()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that is not used."""
        super().timeout_keep_alive_handler()
        self._watch_closing()

    def pause_writing(self) -> None:
        """Give the client limited time to read."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Stop the timer: the client has read."""
        if not self._refused:
            self._cancel_stalled()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Reject a request that the parser or a limit does not accept."""
        self._refuse(
            *(self._refusal or ("malformed", "the request is not HTTP as the service knows it"))
        )

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: a client must expect the connection to stay on HTTP/1.1."""

    def _has_body(self) -> bool:
        """Return whether a body follows, which the parser would read as another protocol."""
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b" 0"))
            for name, value in self.headers
        )

    def _await_request(self) -> None:
        """Time out a client that sends only empty lines, which the parser skips."""
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self._deadline is None and self.timeout_keep_alive_task is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._expire)

    def _check_head(self) -> None:
        if len(self.headers) > HEADERS_LIMIT:
            self._stop("headers_too_large", f"a request must have at most {HEADERS_LIMIT} headers")
        here = self._size < 0  # the request began with the bytes that arrived last
        if not here or self._received > HEAD_LIMIT:
            lengths = (len(name) + len(value) for name, value in self.headers)
            if len(self.url) + sum(lengths) > HEAD_LIMIT:
                self._stop("headers_too_large", _TOO_LONG)

    def _stop(self, code: str, message: str) -> NoReturn:
        """Stop the parser, which calls `send_400_response`."""
        self._refusal = code, message
        raise _Refusal

    def _expire(self) -> None:
        self._deadline = None
        if self.flow.read_paused:  # the service is slow, not the client
            self._deadline = self.loop.call_later(self.body_seconds, self._expire)
        elif self._phase is _Phase.BETWEEN:
            self.transport.close()
            self._watch_closing()
        else:
            head = self._phase is _Phase.HEAD
            part, seconds = ("headers", self.head_seconds) if head else ("body", self.body_seconds)
            self._refuse(
                "too_slow", f"the {part} must arrive within {seconds:g} s; send it at once"
            )

    def _refuse(self, code: str, message: str) -> None:
        """Send an error, unless another response is pending or has begun; then close."""
        self._refused = True
        self._cancel_deadline()
        unanswered = self.cycle is not None and not self.cycle.response_complete
        if unanswered and (self._phase is not _Phase.BODY or self.pipeline):
            self.transport.abort()  # the error would look like the response to an earlier request
            return
        begun = self._phase is _Phase.BODY and self.cycle.response_started
        if unanswered:  # the application sees a disconnect
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if not begun:
            self.transport.write(error_response(code, message))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._cancel_stalled()
        self._stalled = self.loop.call_later(self.linger_seconds, self.transport.abort)

    def _watch_closing(self) -> None:
        if self.transport.is_closing():
            self._watch_reader()

    def _watch_reader(self) -> None:
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.stall_seconds, self.transport.abort)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cancel_stalled(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def bounded_by(connections: int) -> type[BoundedProtocol]:
    """Return the protocol for a number of connections, three quarters of them from one address."""

    class Protocol(BoundedProtocol):
        most_connections, most_of_one_address = connections, -(-3 * connections // 4)

    return Protocol


_TOO_LARGE = f"the body must be at most {BODY_LIMIT:,} bytes; split it"
_TOO_LONG = f"the address and the headers must be at most {HEAD_LIMIT:,} bytes; shorten them"
