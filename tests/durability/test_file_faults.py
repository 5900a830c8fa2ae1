"""SQLite under a fault at every write, sync, truncation, creation and removal of a file.

Every fault strikes the same workload, from the creation of the store to its last close. The log
that remains has every acknowledged step, at most the one in flight beyond that, and the steps after
it give the same answers as without the fault.
"""

from __future__ import annotations

from pathlib import Path

from support.file_faults import inject

PROCESSES = 2


def test_a_kill_at_every_call_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    outcome = inject(tmp_path, "kills", parts=PROCESSES)
    assert outcome.failures == []
    assert outcome.injected["kill before"] > 300
    assert outcome.injected["kill halfway"] > 250


def test_an_io_error_at_every_call_is_reported_and_passes(tmp_path: Path) -> None:
    outcome = inject(tmp_path, "errors", parts=PROCESSES)
    assert outcome.failures == []
    assert outcome.injected["EIO"] > 300
    assert outcome.injected["ENOSPC"] > 250
    assert outcome.injected["short write"] > 250


def test_a_loss_of_power_takes_back_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    outcome = inject(tmp_path, "power", parts=PROCESSES)
    assert outcome.failures == []
    assert outcome.injected["power loss"] > 200


def test_acknowledging_before_the_commit_is_detected(tmp_path: Path) -> None:
    outcome = inject(tmp_path, "kills", hasty=True)
    assert "0 events after 2 steps" in outcome.failures[0]


def test_a_disk_that_ignores_syncs_is_detected(tmp_path: Path) -> None:
    outcome = inject(tmp_path, "power", volatile=True)
    assert "events after" in outcome.failures[0]
