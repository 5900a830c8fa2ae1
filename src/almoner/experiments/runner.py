"""Tasks: run many, side by side or on a cluster, and never one twice.

A finished task is a file, named by a hash of its settings and written in one step. So whatever was
killed goes on where it stopped, and settings that changed never meet old numbers. Nor does code
that changed: the file says which sources made it, and what other sources made is made again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from almoner import checks
from almoner.errors import InvalidInput
from almoner.experiments.fingerprint import fingerprint
from almoner.experiments.rows import Columns, Row, write_atomically

__all__ = ["Finished", "Progress", "Task", "keep", "kept", "key_of", "run_tasks"]

log = logging.getLogger("almoner")

Progress = Callable[[int, int], object]
"""Called with how many are done, and how many there are."""


class Task(Protocol):
    """Settings that can be hashed, and rows that follow from them alone.

    ``weight`` is roughly how long it takes, and ``kind`` tells apart what different kernels run.
    """

    @property
    def columns(self) -> Columns: ...  # noqa: D102
    @property
    def weight(self) -> float: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102
    def run(self) -> list[Row]: ...  # noqa: D102


class Finished(NamedTuple):
    """What came of a task, and the fingerprint of the sources that it came of."""

    rows: list[Row]
    sources: str


def run_tasks(
    tasks: Sequence[Task],
    folder: str | Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[list[Row]]:
    """Return the rows of every task, running only those whose file is not in the folder.

    Files that other sources of almoner have made are made again, and the log says how many.

    Parameters
    ----------
    tasks
        What to run; the answer has their order, and equal ones run once.
    folder
        Where finished tasks are kept. Interrupted at any moment, it holds every task that was
        finished, and the same call goes on from there.
    jobs
        How many run at once; all cores if left out, and without other processes if 1.
    dask
        Address of a dask scheduler to run them on instead.
    progress
        Called at the start and after each task.
    """
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    if jobs is not None:
        checks.whole("jobs", jobs)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {key_of(task): task for task in tasks}
    found = {key: each for key, task in wanted.items() if (each := kept(task, folder)) is not None}
    done = {key: each.rows for key, each in found.items() if each.sources == fingerprint()}
    if len(done) < len(found):
        log.warning(
            "%s of %s finished tasks in %s were made by other sources of almoner than these, and "
            "are made again; to keep them, stop now and choose another folder",
            f"{len(found) - len(done):,}",
            f"{len(found):,}",
            folder,
        )
    missing = _order({key: task for key, task in wanted.items() if key not in done})
    tell: Progress = progress or (lambda done, total: None)
    tell(len(done), len(wanted))
    with _workers(dask):
        # One task at a time, handed over as each is done: the fewest are lost when killed.
        finished = Parallel(
            n_jobs=-1 if jobs is None else jobs, batch_size=1, return_as="generator_unordered"
        )(delayed(_run)(key, wanted[key], os.getpid(), fingerprint()) for key in missing)
        for key, rows in finished:
            keep(wanted[key], rows, folder)
            done[key] = rows
            tell(len(done), len(wanted))
    return [done[key_of(task)] for task in tasks]


def _order(tasks: Mapping[str, Task]) -> list[str]:
    """Put a short task of each kind first, and then the longest first.

    With nothing compiled yet, processes then compile different kernels at the same time and find
    each other's on the disk; and at the end no core is left with a long task.
    """
    longest = sorted(tasks, key=lambda key: (-tasks[key].weight, key))
    shortest = {tasks[key].kind: key for key in longest}
    first = [key for _, key in sorted(shortest.items())]
    return [*first, *(key for key in longest if key not in first)]


def _run(key: str, task: Task, caller: int, sources: str) -> tuple[str, list[Row]]:
    if fingerprint() != sources:
        raise InvalidInput(
            "workers must run the same sources of almoner as the process that hands them tasks; "
            "install the same on all, or leave the code alone while it runs, and start again"
        )
    if os.getppid() == caller and FOLLOWER not in {each.name for each in threading.enumerate()}:
        threading.Thread(target=_follow, args=[caller], name=FOLLOWER, daemon=True).start()
    return key, task.run()


FOLLOWER = "end with the caller"


def _follow(caller: int) -> None:
    """End this worker soon after the process that started it was killed.

    By themselves workers finish what they were handed and then wait five minutes for more.
    """
    while os.getppid() == caller:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def _workers(address: str | None) -> Iterator[None]:
    from joblib import parallel_config

    if address is None:
        with parallel_config(backend="loky"):
            yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput(
            "a dask address needs the package distributed, which is not installed; "
            "run: pip install 'almoner[dask]'"
        ) from None
    try:
        client = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise checks.refuse(
            "dask", "be the address of a running scheduler", address, str(error)
        ) from None
    with client, parallel_config(backend="dask"):
        yield


def key_of(task: Task) -> str:
    """Return the name of a task's file: a hash of its settings."""
    text = json.dumps(task.settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def keep(task: Task, rows: list[Row], folder: Path) -> None:
    """Keep the rows of a finished task, with its settings and its sources beside them."""
    table = {"settings": task.settings, "sources": fingerprint(), "rows": rows}
    text = json.dumps(table, indent=1, ensure_ascii=False)
    write_atomically(folder / f"{key_of(task)}.json", text + "\n")


def kept(task: Task, folder: Path) -> Finished | None:
    """Return what came of a task that is finished, whatever sources made it, or None.

    A file that is torn, or holds other settings or columns than the task has, counts as missing.
    """
    try:
        found = json.loads((folder / f"{key_of(task)}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("settings") != task.settings:
        return None
    rows, columns = found.get("rows"), list(task.columns)
    sound = (
        isinstance(rows, list)
        and rows
        and all(isinstance(row, dict) and list(row) == columns for row in rows)
    )
    return Finished(found["rows"], str(found.get("sources"))) if sound else None
