"""Run the service on a loopback port: in a thread of the test, or in a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from almoner.service.app import create_app
from almoner.service.request_limits import BoundedProtocol
from almoner.service.server import server_config
from almoner.store import Store, open_store
from support.waiting import PATIENCE

SPRING = {
    "name": "spring",
    "contexts": ["new", "returning"],
    "actions": {"coupon": 5.0, "call": {"cost": 2.0, "reserve": 3.0}},
    "horizon": 1000,
    "budget": 2000,
    "seed": 1,
}


@contextmanager
def in_thread(
    store: Store | None = None,
    *,
    http: type[BoundedProtocol] = BoundedProtocol,
    **options: Any,
) -> Iterator[str]:
    """Serve a store in a thread; yield the URL once it is ready."""
    app = create_app(store or open_store("memory:"), **{"rate": 1e9, **options})
    server = uvicorn.Server(server_config(app, http))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            wait_until_ready(url)
            yield url
        finally:
            server.should_exit = True
            thread.join()


class Process:
    """``almoner serve`` in a process; ``url`` is its address."""

    def __init__(self, store: str, *options: str) -> None:
        program = str(Path(sys.executable).with_name("almoner"))
        command = [program, "serve", "--store", store, "--port", "0", "--rate", "1e9", *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        match = re.search(r"http://\S+", self._process.stdout.readline())
        if match is None:
            raise AssertionError(self._process.communicate()[1])
        self.url = match[0]

    def __enter__(self) -> Process:
        wait_until_ready(self.url)
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None:
            self.stop()

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def stop(self) -> tuple[int, str]:
        """Stop with SIGTERM, and wait; return the exit code and the log output."""
        self._process.send_signal(signal.SIGTERM)
        logged = self._process.communicate(timeout=PATIENCE)[1]
        return self._process.returncode, logged


def wait_until_ready(url: str) -> None:
    """Wait until ``/ready`` answers 200."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            answer = httpx.get(f"{url}/ready", timeout=PATIENCE)
            if answer.status_code == 200:
                return
            reason = answer.text
        except httpx.TransportError as error:
            reason = str(error)
        assert time.monotonic() < deadline, reason
        time.sleep(0.02)
