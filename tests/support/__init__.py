"""Test helpers: stores, servers, clients, workloads, fault injection and example problems."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = str(Path(__file__).parents[1])


def program(module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``main`` of a module of this package in another process."""
    start = f"import sys; sys.path.insert(0, {TESTS!r}); from support.{module} import main; main()"
    return [sys.executable, "-c", start, *arguments]
