"""Benchmark of the service: decisions over HTTP, durable in SQLite, against a constant response.

``python -m benchmarks.service``. One server process and one process of clients at a time, measured
alternately; the best of several counts.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.servers import Server, serving, started, wait_until_ready
from benchmarks.table import Row, duration, show, within

__all__ = ["over_http"]

CLIENTS, SECONDS, REPEATS = 64, 4.0, 3
BATCH, BATCH_CLIENTS = 1_000, 4
SHARE_BAR, P99_BAR, BATCH_BAR = 0.5, 0.050, 20_000
CPU_BAR = 75e-6
"""CPU seconds of the server for a request: a decision, or a reward."""

REWARDS = 20_000

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
        _post(ours.url, "/api/campaigns", TERMS)
        singles, plain, batches, rewards = [], [], [], []
        for _ in range(REPEATS):
            plain.append(_load(other, CLIENTS, [constant]))
            singles.append(_load(ours, CLIENTS, ones))
            rewards.append(_load(ours, CLIENTS, _rewards(ours.url), seconds=0))
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
        *_cpu_rows(plain, {"decision": singles, "reward": rewards}),
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


def _cpu_rows(
    plain: list[dict[str, float]], requests: dict[str, list[dict[str, float]]]
) -> list[Row]:
    """Return the CPU time of the server for each kind of request, beside that of a constant."""
    constant = min(each["cpu"] for each in plain)
    if math.isnan(constant):
        print("CPU times of the server are left out: this system has no /proc.")
        return []
    rows = []
    for name, loads in requests.items():
        best = min(each["cpu"] for each in loads)
        rows.append(
            within(
                what=f"CPU time of the server, a {name}",
                seconds=best,
                bar=CPU_BAR,
                remark=f"{best / constant:.1f} times that of the constant, {duration(constant)}",
            )
        )
    return rows


def _rewards(url: str) -> list[dict[str, Any]]:
    """Decide in batches, and return the requests that reward the decisions with an action."""
    requests: list[dict[str, Any]] = []
    while len(requests) < REWARDS:
        made = _post(url, f"{DECISIONS}/batch", {"contexts": CONTEXTS * (BATCH // 4)})
        requests += [
            {"path": f"{DECISIONS}/{decision['id']}/reward", "body": {"value": 1}}
            for decision in made["decisions"]
            if decision["action"] is not None
        ]
    return requests


def _load(
    server: Server, clients: int, requests: list[dict[str, Any]], *, seconds: float = SECONDS
) -> dict[str, float]:
    """Return what the clients measured, and the CPU seconds of the server for a request."""
    port = server.url.rpartition(":")[2]
    command = [sys.executable, "-m", "benchmarks.load", port, str(clients), str(seconds)]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    before = server.cpu()
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return {**result, "cpu": (server.cpu() - before) / result["number"]}


@contextmanager
def _service(folder: Path) -> Iterator[Server]:
    store = f"sqlite:///{folder / 'campaigns.db'}"
    with started(serving(store)) as server:
        wait_until_ready(server)
        yield server


def _constant() -> AbstractContextManager[Server]:
    return started([sys.executable, "-m", "benchmarks.constant"])


def _post(url: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    request = Request(url + path, json.dumps(body).encode(), headers)  # noqa: S310
    with urlopen(request, timeout=60) as response:  # noqa: S310
        return json.load(response)


def main() -> None:
    show([over_http()])


if __name__ == "__main__":
    main()
