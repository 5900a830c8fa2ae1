"""Load generator for HTTP: clients on raw sockets, one request in flight each.

``python -m benchmarks.load PORT CLIENTS SECONDS`` reads requests from standard input, a JSON object
with a path and a body per line, and prints responses per second and percentiles of their latency.
With 0 seconds, every request is sent once.
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


class LoadClient(asyncio.Protocol):
    """One connection that sends the next request after each response."""

    def __init__(self, requests: Iterator[bytes], latencies: list[float], end: float) -> None:
        self._requests, self._latencies, self._end = requests, latencies, end
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._send()

    def data_received(self, data: bytes) -> None:
        self._response += data
        head, blank, body = self._response.partition(b"\r\n\r\n")
        if not blank:
            return
        length = LENGTH.search(head)  # 204 No Content has none
        if len(body) < (int(length[1]) if length else 0):
            return
        if not head.startswith(b"HTTP/1.1 20"):
            self.done.set_exception(RuntimeError(self._response[:500].decode()))
            return
        now = time.perf_counter()
        self._latencies.append(now - self._sent)
        if now < self._end:
            self._send()
        else:
            self.done.set_result(None)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("the service has hung up"))

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._response = b""
        self._sent = time.perf_counter()
        self._transport.write(request)


async def load(port: int, clients: int, seconds: float, requests: list[bytes]) -> dict[str, float]:
    """Send requests for some seconds, or each once; return rate, number, percentiles of latency."""
    latencies: list[float] = []
    coming = itertools.cycle(requests) if seconds else iter(requests)
    end = time.perf_counter() + (seconds or float("inf"))
    start = time.perf_counter()
    loop = asyncio.get_running_loop()
    connections = [
        await loop.create_connection(lambda: LoadClient(coming, latencies, end), "127.0.0.1", port)
        for _ in range(clients)
    ]
    await asyncio.gather(*(client.done for _, client in connections))
    elapsed = time.perf_counter() - start
    latencies.sort()
    return {
        "rate": len(latencies) / elapsed,
        "number": len(latencies),
        "p50": latencies[len(latencies) // 2],
        "p99": latencies[len(latencies) * 99 // 100],
    }


def raw(path: str, body: str) -> bytes:
    """Return the bytes of an HTTP request."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def main() -> None:
    port, clients, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    entries = [json.loads(line) for line in sys.stdin]
    requests = [raw(entry["path"], json.dumps(entry["body"])) for entry in entries]
    print(json.dumps(uvloop.run(load(port, clients, seconds, requests))))


if __name__ == "__main__":
    main()
