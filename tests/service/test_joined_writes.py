"""JoinedWrites: which writes are sent together, and when a delayed one is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from almoner.service.joined_writes import JoinedWrites


class FakeTransport:
    """Records what is sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def write_eof(self) -> None:
        self.sent.append("eof")

    def close(self) -> None:
        self.sent.append("close")

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.sent.append("pause")


def sent(*calls: Callable[[Any], None] | None) -> list[Any]:
    """Return what is sent by calls on the transport; None waits for an iteration of the loop."""
    fake = FakeTransport()

    async def main() -> None:
        transport = JoinedWrites(fake, asyncio.get_running_loop())  # type: ignore[arg-type]
        for call in calls:
            if call is None:
                await asyncio.sleep(0)
            else:
                call(transport)
        await asyncio.sleep(0)

    asyncio.run(main())
    return fake.sent


def write(data: bytes) -> Callable[[Any], None]:
    return lambda transport: transport.write(data)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([write(b"head"), write(b"body")], [b"headbody"]),
        ([write(b"head"), write(b"")], [b"head"]),
        ([write(b"head"), None, write(b"body")], [b"head", b"body"]),
        ([write(b"a"), write(b"b"), write(b"c"), write(b"d")], [b"ab", b"cd"]),
        ([write(b"head"), lambda it: it.close()], [b"head", "close"]),
        ([write(b"head"), lambda it: it.write_eof()], [b"head", "eof"]),
        ([lambda it: it.pause_reading()], ["pause"]),
    ],
)
def test_two_writes_in_a_row_are_sent_together(
    calls: list[Callable[[Any], None] | None], expected: list[Any]
) -> None:
    assert sent(*calls) == expected


def test_nothing_is_sent_on_a_connection_that_is_closing() -> None:
    fake = FakeTransport()

    async def main() -> None:
        JoinedWrites(fake, asyncio.get_running_loop()).write(b"late")  # type: ignore[arg-type]
        fake.closing = True
        await asyncio.sleep(0)

    asyncio.run(main())
    assert fake.sent == []
