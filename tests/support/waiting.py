"""Wait for a condition, with a limit that only a defect exceeds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

PATIENCE = 120.0
"""Seconds after which a condition counts as never true, also on a machine with other work."""


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition is true; fail and say ``what`` did not happen otherwise."""
    for _ in _attempts(condition, what):
        time.sleep(0.002)


async def wait_until_async(condition: Callable[[], object], what: str) -> None:
    """Wait as `wait_until` does, while the event loop runs."""
    for _ in _attempts(condition, what):
        await asyncio.sleep(0.002)


def _attempts(condition: Callable[[], object], what: str) -> Iterator[None]:
    """Yield until the condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"did not happen within {PATIENCE:g} s: {what}")
        yield
