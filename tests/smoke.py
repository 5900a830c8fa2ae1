"""Smoke test of an installed wheel, outside pytest: `make dist` runs it in a clean environment."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import almoner as al

PROGRAM = str(Path(sys.executable).with_name("almoner"))
SIMULATE = [
    "simulate",
    "scenario:paper-two",
    "--policy",
    "thrifty",
    "--horizon",
    "200",
    "--runs",
    "5",
]
PATIENCE = 120  # seconds: the first request compiles the kernels


def run(*arguments: str) -> str:
    """Return the output of an almoner command."""
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def check_agent(folder: str) -> None:
    """Decide, reward and resume on SQLite."""
    url = f"sqlite:///{folder}/shop.db"
    terms: dict[str, Any] = {
        "contexts": ["new"],
        "actions": {"coupon": 5.0},
        "horizon": 10,
        "budget": 20.0,
    }
    with al.Agent.open(url, name="spring", **terms) as agent:
        decision = agent.decide("new", key="visit-1")
        agent.reward(decision.id, 1.0)
    with al.Agent.open(url, name="spring") as agent:
        assert agent.decide("new", key="visit-1") == decision
    assert "spring" in run("ledger", "verify", url)


def check_service(folder: str) -> None:
    """Serve a store, and ask for its health."""
    command = [PROGRAM, "serve", "--store", f"sqlite:///{folder}/served.db", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            url = next(word for word in service.stdout.readline().split() if "http://" in word)
            with urllib.request.urlopen(f"{url.rstrip('.,')}/health", timeout=PATIENCE) as answer:  # noqa: S310
                assert answer.status == 200, json.load(answer)
        finally:
            service.terminate()


def main() -> None:
    """Run all checks."""
    assert "src" not in Path(al.__file__).parts, f"not the installed wheel: {al.__file__}"
    started = time.monotonic()
    print(run("--version").strip())
    assert "thrifty" in run(*SIMULATE)
    with tempfile.TemporaryDirectory() as folder:
        check_agent(folder)
        check_service(folder)
    print(f"simulated, decided on SQLite and served in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
