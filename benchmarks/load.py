"""A cheap load generator: clients on raw sockets that ask again as soon as they are answered.

``python -m benchmarks.load PORT CLIENTS SECONDS`` reads requests, one JSON object with a path and a
body a line, from standard input, and prints the answers per second and how long they took.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from collections.abc import Iterator

import uvloop

__all__ = ["main"]

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Client(asyncio.Protocol):
    """One connection: a request, its answer, the next request."""

    def __init__(self, requests: Iterator[bytes], took: list[float], end: float) -> None:
        self._requests, self._took, self._end = requests, took, end
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head, blank, body = self._answer.partition(b"\r\n\r\n")
        length = LENGTH.search(head) if blank else None
        if length is None or len(body) < int(length[1]):
            return
        if not head.startswith(b"HTTP/1.1 20"):
            self.done.set_exception(RuntimeError(self._answer[:500].decode()))
            return
        now = time.perf_counter()
        self._took.append(now - self._asked)
        if now < self._end:
            self._ask()
        else:
            self.done.set_result(None)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("the service has hung up"))

    def _ask(self) -> None:
        self._answer = b""
        self._asked = time.perf_counter()
        self._transport.write(next(self._requests))


async def load(port: int, clients: int, seconds: float, requests: list[bytes]) -> dict[str, float]:
    """Ask for some seconds; return what came back."""
    took: list[float] = []
    turns = itertools.cycle(requests)
    start = time.perf_counter()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(
            lambda: Client(turns, took, start + seconds), "127.0.0.1", port
        )
        for _ in range(clients)
    ]
    await asyncio.gather(*(client.done for _, client in made))
    elapsed = time.perf_counter() - start
    took.sort()
    return {
        "rate": len(took) / elapsed,
        "p50": took[len(took) // 2],
        "p99": took[len(took) * 99 // 100],
    }


def raw(path: str, body: str) -> bytes:
    """Return a request as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def main() -> None:
    port, clients, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    asked = [json.loads(line) for line in sys.stdin]
    requests = [raw(entry["path"], json.dumps(entry["body"])) for entry in asked]
    print(json.dumps(uvloop.run(load(port, clients, seconds, requests))))


if __name__ == "__main__":
    main()
