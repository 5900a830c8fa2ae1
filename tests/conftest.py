"""Settings of all tests: hypothesis, compiled kernels of parallel workers, and markers by kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    # Numba's cache is not safe for two processes that compile different types of one function.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(TESTS.parent / "build" / "kernels" / worker))

from support.agents import factory, memory  # noqa: E402

__all__ = ["factory", "memory"]

settings.register_profile("almoner", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("almoner")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser or PostgreSQL, and those that kill processes."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "browser" in fixtures:
            item.add_marker("browser")
        if "postgres" in item.nodeid:
            item.add_marker("postgres")
        if item.path.is_relative_to(TESTS / "durability"):
            item.add_marker("crash")
