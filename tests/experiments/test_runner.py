"""A sweep that was killed, interrupted or torn resumes to the rows of an uninterrupted run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import almoner as al
from almoner.experiments.runner import _run, key_of, run_tasks
from almoner.experiments.sweep import Sweep, run_sweep

SETTINGS = {
    "problems": ["scenario:paper-two"],
    "policies": ["ucb_alp", "alp", "thrifty"],
    "horizons": [500, 1000, 2000],
    "ratios": [0.39, 0.41],
    "runs": 200,
}
SWEEP = Sweep.from_dict(SETTINGS)

PROGRAM = """
import json, os, signal, sys, threading, time
from almoner.experiments.sweep import Sweep, run_sweep
folder, jobs, more, delay, settings = (json.loads(argument) for argument in sys.argv[1:])
calls = []

def kill_oneself(done, total):
    calls.append(done)
    if len(calls) == 1 + more:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
    if len(calls) == 4 + more:  # long before the end of the sweep
        time.sleep(600)

if __name__ == "__main__":
    run_sweep(Sweep.from_dict(settings), folder, jobs=jobs, progress=kill_oneself)
"""
"""Runs a sweep, and kills itself so many seconds after so many more cells were finished."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return rows.csv of one uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole")
    run_sweep(SWEEP, folder, jobs=1)
    return (folder / "rows.csv").read_bytes()


def run_until_killed(folder: Path, jobs: int, *, more: int, delay: float) -> None:
    """Run a sweep in a process until it has killed itself."""
    arguments = map(json.dumps, (str(folder), jobs, more, delay, SETTINGS))
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=False, capture_output=True, text=True
    )
    assert process.returncode == -signal.SIGKILL, process.stderr


@pytest.mark.slow
def test_a_killed_sweep_resumes(tmp_path: Path, whole: bytes) -> None:
    chance = random.Random(5)  # noqa: S311
    cells = tmp_path / "cells"
    for jobs in (2, 1, 1):
        before = {file.name: file.stat().st_mtime_ns for file in cells.glob("*.json")}
        run_until_killed(tmp_path, jobs, more=chance.randint(0, 3), delay=chance.uniform(0, 0.03))
        assert not (tmp_path / "rows.csv").exists()
        after = {file.name: file.stat().st_mtime_ns for file in cells.glob("*.json")}
        assert before.items() <= after.items()  # nothing finished is lost or done again
    done = len(list(cells.glob("*.json")))
    assert 0 < done < len(SWEEP.cells())
    calls: list[int] = []
    run_sweep(SWEEP, tmp_path, jobs=1, progress=lambda count, _: calls.append(count))
    assert calls == list(range(done, len(SWEEP.cells()) + 1))
    assert (tmp_path / "rows.csv").read_bytes() == whole


def test_an_interrupt_keeps_finished_cells(tmp_path: Path, whole: bytes) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(SWEEP, tmp_path, jobs=1, progress=interrupt)
    assert len(list((tmp_path / "cells").glob("*.json"))) == 7
    run_sweep(SWEEP, tmp_path, jobs=1)
    assert (tmp_path / "rows.csv").read_bytes() == whole


def test_torn_and_foreign_files_are_computed_again(tmp_path: Path, whole: bytes) -> None:
    run_sweep(SWEEP, tmp_path, jobs=1)
    first, second, third, fourth, fifth, *_ = SWEEP.cells()
    cells = tmp_path / "cells"
    text = (cells / f"{key_of(first)}.json").read_text()
    (cells / f"{key_of(first)}.json").write_text(text[: len(text) // 2])  # torn
    (cells / f"{key_of(second)}.json").write_text(text)  # another cell's
    (cells / f"{key_of(third)}.json").write_text('{"settings": null, "rows": []}')
    (cells / f"{key_of(fourth)}.json").unlink()
    content = json.loads((cells / f"{key_of(fifth)}.json").read_text())
    del content["rows"][0]["benchmark"]  # of an older version, with other columns
    (cells / f"{key_of(fifth)}.json").write_text(json.dumps(content))
    (cells / "notes.txt").write_text("not ours")
    (cells / f"{key_of(first)}.json.123.tmp").write_text("half a li")
    calls: list[int] = []
    run_sweep(SWEEP, tmp_path, jobs=1, progress=lambda done, _: calls.append(done))
    assert calls == [13, 14, 15, 16, 17, 18]
    assert (tmp_path / "rows.csv").read_bytes() == whole


def test_tasks_of_other_sources_run_again_with_a_warning(
    tmp_path: Path, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    run_sweep(SWEEP, tmp_path, jobs=1)
    assert not caplog.messages
    for index, cell in enumerate(SWEEP.cells()[:5]):
        path = tmp_path / "cells" / f"{key_of(cell)}.json"
        content = json.loads(path.read_text())
        content["sources"] = "0123456789abcdef"
        if index == 0:
            del content["sources"]  # made before sources were noted
        for row in content["rows"]:
            row["regret_mean"] += 1.0
        path.write_text(json.dumps(content))
    calls: list[int] = []
    run_sweep(SWEEP, tmp_path, jobs=1, progress=lambda done, _: calls.append(done))
    assert calls == [13, 14, 15, 16, 17, 18]
    assert (tmp_path / "rows.csv").read_bytes() == whole
    assert caplog.messages == [
        f"5 of 18 finished tasks in {tmp_path / 'cells'} were made by other sources of almoner "
        "than these, and are made again; to keep them, stop now and choose another folder"
    ]
    run_sweep(SWEEP, tmp_path, jobs=1)
    assert len(caplog.messages) == 1


def test_a_worker_with_other_sources_refuses_to_run() -> None:
    """As on a cluster where another almoner is installed; none of its rows are mixed with ours."""
    with pytest.raises(al.InvalidInput, match="workers must run the same sources of almoner"):
        _run("key", SWEEP.cells()[0], os.getpid(), "0123456789abcdef")


def test_rows_are_the_same_in_parallel_and_on_a_cluster(tmp_path: Path, whole: bytes) -> None:
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        run_sweep(SWEEP, tmp_path, dask=cluster.scheduler_address)
    assert (tmp_path / "rows.csv").read_bytes() == whole


def test_one_short_cell_of_each_kind_comes_first(tmp_path: Path) -> None:
    cells = Sweep.from_dict(
        {
            "problems": ["scenario:paper-two", "scenario:heterogeneous"],
            "policies": ["alp", "ucb_alp"],
            "horizons": [20, 50, 30],
            "ratios": [0.4],
            "runs": 2,
        }
    ).cells()
    done: list[tuple[str, int]] = []
    by_file = {key_of(cell): cell for cell in cells}

    def tell(count: int, total: int) -> None:
        for file in (tmp_path / "cells").glob("*.json"):
            cell = by_file.pop(file.stem, None)
            if cell is not None:
                done.append((cell.kind, cell.problem.horizon))

    run_tasks(cells, tmp_path / "cells", jobs=1, progress=tell)
    kinds = ["exact", "exact, unequal", "simulated", "unequal"]
    assert done[:4] == [(kind, 20) for kind in kinds]
    assert len(done) == 12


def test_equal_tasks_run_once(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    cell = SWEEP.cells()[0]
    results = run_tasks([cell, cell], tmp_path, jobs=1, progress=lambda *call: calls.append(call))
    assert results[0] == results[1]
    assert calls == [(0, 1), (1, 1)]


def test_without_dask_a_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(al.InvalidInput, match=r"pip install 'almoner\[dask\]'"):
        run_tasks(SWEEP.cells(), tmp_path, dask="tcp://127.0.0.1:8786")


def test_an_unreachable_scheduler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(al.InvalidInput, match="dask must be the address of a running scheduler"):
        run_tasks(SWEEP.cells(), tmp_path, dask="nonsense")
