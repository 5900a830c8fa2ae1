"""Benchmark of the service: decisions over HTTP, durable in SQLite, against a constant response.

``python -m benchmarks.service``. One server process and one process of clients at a time, measured
alternately; the best of several counts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.table import Row, duration, show, within

__all__ = ["over_http"]

CLIENTS, SECONDS, REPEATS = 64, 4.0, 3
BATCH, BATCH_CLIENTS = 1_000, 4
SHARE_BAR, P99_BAR, BATCH_BAR = 0.5, 0.050, 20_000

CONTEXTS = ["new", "returning", "loyal", "lapsed"]
TERMS = {
    "name": "speed",
    "contexts": CONTEXTS,
    "actions": {"shipping": 1.5, "coupon": 3, "discount": 6},
    "horizon": 10_000_000,
    "budget": 15_000_000,
    "seed": 1,
}
DECISIONS = "/api/campaigns/speed/decisions"


def over_http() -> list[Row]:
    """Return decisions per second, single and in batches, and percentiles of their latency."""
    ones = [{"path": DECISIONS, "body": {"context": context}} for context in CONTEXTS]
    batch = {"path": f"{DECISIONS}/batch", "body": {"contexts": CONTEXTS * (BATCH // 4)}}
    constant = {"path": "/constant", "body": {"context": "new"}}
    with TemporaryDirectory() as folder, _service(Path(folder)) as ours, _constant() as other:
        _post(ours, "/api/campaigns", TERMS)
        singles, plain, batches = [], [], []
        for _ in range(REPEATS):
            plain.append(_load(other, CLIENTS, [constant]))
            singles.append(_load(ours, CLIENTS, ones))
            batches.append(_load(ours, BATCH_CLIENTS, [batch]))
    best, bare = max(singles, key=_rate), max(plain, key=_rate)
    many = BATCH * max(map(_rate, batches))
    share = best["rate"] / bare["rate"]
    return [
        Row(
            what="the framework's constant over HTTP",
            figure=f"{bare['rate']:,.0f}/s",
            remark=f"median {duration(bare['p50'])}, 99 % {duration(bare['p99'])}",
        ),
        Row(
            what="decisions over HTTP",
            figure=f"{best['rate']:,.0f}/s",
            bar=f"≥ {SHARE_BAR:.0%} of that",
            met=share >= SHARE_BAR,
            remark=f"{share:.0%}; durable in SQLite, {CLIENTS} clients, one worker",
        ),
        within(
            what="decisions over HTTP, 99 %",
            seconds=min(single["p99"] for single in singles),
            bar=P99_BAR,
            remark=f"median {duration(best['p50'])}",
        ),
        Row(
            what="decisions over HTTP in batches",
            figure=f"{many:,.0f}/s",
            bar=f"≥ {BATCH_BAR:,}/s",
            met=many >= BATCH_BAR,
            remark=f"{BATCH:,} at a time, {BATCH_CLIENTS} clients",
        ),
    ]


def _rate(result: dict[str, float]) -> float:
    return result["rate"]


def _load(url: str, clients: int, requests: list[dict[str, Any]]) -> dict[str, float]:
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "benchmarks.load", port, str(clients), str(SECONDS)]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@contextmanager
def _service(folder: Path) -> Iterator[str]:
    program = str(Path(sys.executable).with_name("almoner"))
    store = f"sqlite:///{folder / 'campaigns.db'}"
    with _started([program, "serve", "--store", store, "--port", "0", "--rate", "1e9"]) as url:
        while True:
            try:
                urlopen(f"{url}/ready", timeout=60).close()  # noqa: S310
                break
            except OSError:  # an error status is one too
                time.sleep(0.2)
        yield url


def _constant() -> Any:
    return _started([sys.executable, "-m", "benchmarks.constant"])


@contextmanager
def _started(command: list[str]) -> Iterator[str]:
    """Start a server, yield the address that it prints, and stop it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stdout.readline() if server.stdout else "")
            if address is None:
                raise RuntimeError(f"{command[0]} has not started")
            yield address[0]
        finally:
            server.terminate()


def _post(url: str, path: str, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    request = Request(url + path, json.dumps(body).encode(), headers)  # noqa: S310
    urlopen(request, timeout=60).close()  # noqa: S310


def main() -> None:
    show([over_http()])


if __name__ == "__main__":
    main()
