"""Servers in processes of their own: start, wait, measure their CPU time, stop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

__all__ = ["Server", "serving", "started", "wait_until_ready"]


@dataclass(frozen=True)
class Server:
    """A server that runs: its address and its process."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Return the CPU seconds of the process so far; NaN where there is no /proc."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return float("nan")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def serving(store: str) -> list[str]:
    """Return the command of the service on a store, at a free port, without a limit of its rate."""
    program = str(Path(sys.executable).with_name("almoner"))
    return [program, "serve", "--store", store, "--port", "0", "--rate", "1e9"]


@contextmanager
def started(command: list[str], *, env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start a server, yield it once it has printed its address, and stop it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline() if process.stdout else "")
            if address is None:
                raise RuntimeError(f"{command[0]} has not started")
            yield Server(address[0], process.pid)
        finally:
            process.terminate()


def wait_until_ready(server: Server) -> None:
    """Wait until the service has its kernels."""
    while True:
        try:
            urlopen(f"{server.url}/ready", timeout=60).close()  # noqa: S310
            return
        except OSError:  # an error status is one too
            time.sleep(0.1)
