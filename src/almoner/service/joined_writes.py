"""Transport that joins two writes in a row: the head and the body of a response in one packet.

uvicorn writes them one after the other, and uvloop sends each write at once. That takes two system
calls, and wakes the client twice.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["JoinedWrites"]


class JoinedWrites:
    """A transport that delays a write until the next one, or the end of the loop's iteration."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._delayed = b""
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send the delayed data and these, or delay these."""
        if self._delayed:
            data, self._delayed = self._delayed + data, b""
            self._transport.write(data)
        elif data:
            self._delayed = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Send the delayed data, and close the connection."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Send the delayed data, and no more."""
        self._flush()
        self._transport.write_eof()

    def _flush(self) -> None:
        if self._delayed and not self.is_closing():
            data, self._delayed = self._delayed, b""
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
