"""Threads and slots for exports of the decision log: a few clients at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from almoner.service.errors import Refused

__all__ = ["LIMIT", "ExportPool"]

THREADS = 2
"""Exports that read at a time; more would take the interpreter from other requests."""

LIMIT = 4
"""Exports in progress at a time, including those whose clients are slow to read."""

RETRY_AFTER = 30
"""Seconds after which a rejected client may try again."""


class ExportPool:
    """The exports in progress, and the threads they read in."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="export")
        self.in_progress = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Count an export while it is in progress; reject it if there are too many."""
        if self.in_progress >= LIMIT:
            raise Refused(
                "not_ready",
                f"{LIMIT} exports are under way, as many as there may be; ask again in a moment",
                Retry_After=str(RETRY_AFTER),
            )
        self.in_progress += 1
        try:
            yield
        finally:
            self.in_progress -= 1

    async def next(self, chunks: Iterator[bytes]) -> bytes | None:
        """Read the next chunk in a thread; return None at the end."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, next, chunks, None)

    def close(self) -> None:
        """Stop the threads without waiting for them."""
        self._threads.shutdown(wait=False, cancel_futures=True)
