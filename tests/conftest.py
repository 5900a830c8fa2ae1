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


SLOW = (
    "../README.md ../docs docs experiments plots service live/test_memo_free.py "
    "live/test_state_machine.py simulation/test_optimum.py simulation/test_oracle.py "
    "simulation/test_sizes.py simulation/test_unequal_costs.py"
)
MARKERS = {"durability": "crash"} | dict.fromkeys(SLOW.split(), "slow")
"""Markers of all tests in a folder or file."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their folder, and those that need a browser or PostgreSQL."""
    folders = {(TESTS / folder).resolve(): marker for folder, marker in MARKERS.items()}
    for item in items:
        for folder in folders.keys() & {item.path, *item.path.parents}:
            item.add_marker(folders[folder])
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        if "postgres" in item.nodeid:
            item.add_marker("postgres")
