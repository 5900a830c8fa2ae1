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

from support.agents import factory, memory, postgres_database  # noqa: E402

__all__ = ["factory", "memory", "postgres_database"]

settings.register_profile("almoner", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("fast", settings.get_profile("almoner"), max_examples=20)
settings.load_profile("almoner")


SLOW = (
    "../README.md ../docs docs experiments plots service live/test_forks.py "
    "live/transactions/test_group_commit.py live/rewards/test_late_rewards.py "
    "live/policy/test_memo_free.py live/policy/test_planning.py live/test_state_machine.py "
    "live/transactions/test_together.py "
    "simulation/test_optimum.py simulation/test_oracle.py simulation/test_regret_statistics.py "
    "simulation/test_sizes.py simulation/test_unequal_costs.py store/test_pool.py "
    "simulation/rows/test_row_invariants.py simulation/rows/test_row_quality.py "
    "simulation/rows/test_simulate_rows.py "
    "live/test_lift.py live/test_weekly_campaigns.py "
    "test_similar_projects.py"
)
MARKERS = {"durability": "crash"} | dict.fromkeys(SLOW.split(), "slow")
"""Markers of all tests in a folder or file."""

FOLDERS = {(TESTS / folder).resolve(): marker for folder, marker in MARKERS.items()}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out folders and files that ``-m`` excludes: their imports take seconds."""
    marker = FOLDERS.get(collection_path)
    return True if marker and f"not {marker}" in config.getoption("markexpr") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their folder, and those that need a browser or PostgreSQL."""
    for item in items:
        for folder in FOLDERS.keys() & {item.path, *item.path.parents}:
            item.add_marker(FOLDERS[folder])
        fixtures = getattr(item, "fixturenames", ())
        if "browser" in fixtures:
            item.add_marker("browser")
        if "postgres" in item.nodeid or "postgres_database" in fixtures:
            item.add_marker("postgres")
