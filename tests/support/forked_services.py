"""Fork service processes from one that has imported everything, to start and kill many quickly.

Starting Python, importing numba and loading kernels takes seconds of processor time; a fork takes
milliseconds. The program forks a service for each line of standard input, prints its process id and
URL, and kills the remaining services when the input ends.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support import program


class ServiceForker:
    """Starts services on one store."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self) -> tuple[int, str]:
        """Start another service; return its process id and URL."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("start\n")
        self._process.stdin.flush()
        process, url = json.loads(self._process.stdout.readline())
        return process, url


@contextmanager
def service_forker(store: str) -> Iterator[ServiceForker]:
    """Run the forking program for a store."""
    command = program("forked_services", store)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        yield ServiceForker(process)


def main() -> None:
    """Fork a service for each line of standard input."""
    from almoner.service.server import serve
    from almoner.service.warm_up import warm_up

    warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # reap children without waiting
    started = []

    def say(sentence: str) -> None:
        url = re.search(r"http://\S+", sentence)
        print(json.dumps([os.getpid(), url[0] if url else ""]), flush=True)

    for _ in sys.stdin:
        child = os.fork()
        if not child:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(sys.argv[1], host="127.0.0.1", port=0, rate=1e9, say=say)
            os._exit(0)
        started.append(child)
    for child in started:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue
