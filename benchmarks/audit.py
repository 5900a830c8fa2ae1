"""An audit of a long log, beside reading its rows and doing nothing with them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from almoner.live.audit import audit
from almoner.live.state.snapshot import write_snapshot
from almoner.store import open_store
from benchmarks.agent import new_campaign
from benchmarks.measure import best_of
from benchmarks.table import Row, duration

__all__ = ["verifying"]

LOG, BATCH = 100_000, 500


def verifying() -> list[Row]:
    """Return the time of an audit where events have checksums of their own, and share them."""
    with new_campaign("memory:") as agent:
        for _ in range(LOG // (2 * BATCH)):
            decisions = agent.decide_many(["context 3", "context 7"] * (BATCH // 2))
            agent.reward_many({decision.id: decision.id % 2 for decision in decisions})
        events, terms = [*agent.events()], agent.store.terms("spring") or ""
        snapshot = agent.look(write_snapshot)
    rows = []
    for group, what in ((1, "with a checksum each"), (BATCH, "written together")):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "campaigns.db"
            with closing(open_store(f"sqlite:///{path}")) as store:
                store.create("spring", terms)
                with store.writing("spring") as writer:
                    for start in range(0, len(events), group):
                        writer.append(events[start : start + group])
                    writer.save_snapshot(snapshot)
                verified = best_of(partial(audit, store, "spring"))
            read = best_of(partial(_read, path))
        rows.append(
            Row(
                what=f"audit of {len(events):,} events {what}",
                figure=duration(verified),
                remark=f"{duration(verified / len(events))} an event, CPU time: "
                f"{verified / read:.1f}× what sqlite3 takes to read the rows",
            )
        )
    return rows


def _read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for _ in connection.execute("SELECT * FROM almoner_events ORDER BY campaign, seq"):
            pass
