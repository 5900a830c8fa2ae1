"""All benchmarks in one table: ``python -m benchmarks.speed``."""

from __future__ import annotations

from benchmarks import (
    agent,
    audit,
    commits,
    exact,
    live_rows,
    rounds,
    row_rounds,
    service,
    startup,
    viewers,
)
from benchmarks.table import show


def main() -> None:
    show(
        [
            rounds.ucb_alp(),
            rounds.other_recipes(),
            rounds.unequal_costs(),
            rounds.in_lanes(),
            rounds.many_contexts(),
            row_rounds.on_scores(),
            row_rounds.on_features(),
            live_rows.deciding_on_rows(),
            exact.oracle(),
            exact.allocation(),
            agent.deciding(),
            agent.admitting(),
            agent.opening(),
            audit.verifying(),
            commits.sqlite(),
            commits.postgres(),
            viewers.viewers(),
            service.over_http(),
            startup.compilation(),
            startup.starting(),
        ]
    )


if __name__ == "__main__":
    main()
