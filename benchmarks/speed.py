"""All benchmarks of speed: ``python -m benchmarks.speed``, or with the names of some sections.

Tables are printed; rows go to ``docs/speed``, and the page ``docs/speed.md`` is made from them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import (
    agent,
    audit,
    commits,
    exact,
    growing_log,
    live_rows,
    many_contexts,
    reference_rounds,
    rounds,
    row_rounds,
    service,
    startup,
    viewers,
)
from benchmarks.growth.computing import computing, live
from benchmarks.growth.series import as_rows
from benchmarks.growth.simulating import simulating
from benchmarks.machine import describe_machine
from benchmarks.speed_page import PAGE, rewrite
from benchmarks.speed_rows import SECTIONS, write_growth, write_machine, write_section
from benchmarks.table import Row, show

MEASURES: Mapping[str, Sequence[Callable[[], list[Row]]]] = {
    "ucb_alp": [reference_rounds.ucb_alp],
    "recipes": [rounds.other_recipes, rounds.unequal_costs, many_contexts.many_contexts],
    "lanes": [rounds.in_lanes],
    "rows": [row_rounds.on_scores, row_rounds.on_features, live_rows.deciding_on_rows],
    "exact": [exact.oracle, exact.allocation],
    "agent": [agent.deciding, agent.admitting],
    "logs": [growing_log.opening, audit.verifying],
    "stores": [commits.sqlite, commits.postgres, viewers.viewers],
    "http": [service.over_http],
    "startup": [startup.compilation, startup.starting],
}
"""Functions that measure the rows of each section of the page."""

GROWTH = "growth"


def measure(names: Sequence[str]) -> None:
    """Measure sections; print each as soon as it is done, and write its rows and the page."""
    for name in names:
        print(f"\n{SECTIONS.get(name, 'Growth')}", flush=True)
        if name == GROWTH:
            points = [*simulating(), *computing(), *live()]
            write_growth(points)
            show([as_rows(points)])
        else:
            parts: list[Any] = [part() for part in MEASURES[name]]
            write_section(name, [row for part in parts for row in part])
            show(parts)
        write_machine(describe_machine())
        PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"rows are in docs/speed, tables in {PAGE.name}")


def main() -> None:
    known = [*MEASURES, GROWTH]
    asked = sys.argv[1:] or known
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"sections are {', '.join(known)}, got {', '.join(unknown)}")
    measure(asked)


if __name__ == "__main__":
    main()
