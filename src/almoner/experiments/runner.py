"""Runner of tasks in parallel processes or on a dask cluster; finished tasks are kept in files.

The file of a finished task is named by a hash of its settings and written atomically, so that a
killed run resumes, and changed settings are computed anew. It holds the fingerprint of the code
too: tasks finished by other code are computed again.
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
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from almoner import checks
from almoner.errors import InvalidInput
from almoner.experiments.fingerprint import fingerprint
from almoner.experiments.rows import Columns, Row, write_atomically

__all__ = [
    "Finished",
    "Progress",
    "Task",
    "key_of",
    "load_finished",
    "run_tasks",
    "save_finished",
]

log = logging.getLogger("almoner")

Progress = Callable[[int, int], object]
"""Called with the number of finished tasks, and of all tasks."""


class Task(Protocol):
    """A unit of work: settings in JSON types, and rows that depend on nothing else.

    ``weight`` is the estimated work, and ``kind`` names the kernels that it runs.
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
    """The rows of a finished task, and the fingerprint of the sources that computed them."""

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

    Tasks finished by other sources of almoner run again; a warning is logged with their number.

    Parameters
    ----------
    tasks
        The tasks; results have their order, and equal tasks run once.
    folder
        Folder of finished tasks. After an interrupt it holds every task that was finished, and the
        same call resumes from there.
    jobs
        Number of processes; one per core if left out, and no other process if 1.
    dask
        Address of a dask scheduler to run the tasks on instead.
    progress
        Called at the start and after each task.
    """
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    if jobs is not None:
        checks.whole("jobs", jobs)
    folder = Path(folder)
    wanted = {key_of(task): task for task in tasks}
    saved = {key: each for key, task in wanted.items() if (each := load_finished(task, folder))}
    done = {key: each.rows for key, each in saved.items() if each.sources == fingerprint()}
    if len(done) < len(saved):
        log.warning(
            "%s of %s finished tasks in %s were made by other sources of almoner than these, and "
            "are made again; to keep them, stop now and choose another folder",
            f"{len(saved) - len(done):,}",
            f"{len(saved):,}",
            folder,
        )
    phases = _phases({key: task for key, task in wanted.items() if key not in done})
    report: Progress = progress or (lambda done, total: None)
    report(len(done), len(wanted))
    with _workers(dask):
        folder.mkdir(parents=True, exist_ok=True)
        # Batches of one, returned as each is finished: a kill loses the fewest tasks.
        workers = Parallel(
            n_jobs=-1 if jobs is None else jobs, batch_size=1, return_as="generator_unordered"
        )
        finished = chain.from_iterable(
            workers(delayed(_run)(key, wanted[key], os.getpid(), fingerprint()) for key in keys)
            for keys in phases
        )
        for key, rows in finished:
            save_finished(wanted[key], rows, folder)
            done[key] = rows
            report(len(done), len(wanted))
    return [done[key_of(task)] for task in tasks]


def _phases(tasks: Mapping[str, Task]) -> tuple[list[str], list[str]]:
    """Divide keys: a short task of each kind, and then, once these are done, the longest first.

    With a cold cache, processes then compile different kernels at the same time, and later load
    each other's from the disk; and at the end no core is left with a long task.
    """
    longest = sorted(tasks, key=lambda key: (-tasks[key].weight, key))
    shortest = {tasks[key].kind: key for key in longest}
    first = [key for _, key in sorted(shortest.items())]
    return first, [key for key in longest if key not in first]


def _run(key: str, task: Task, caller: int, sources: str) -> tuple[str, list[Row]]:
    if fingerprint() != sources:
        raise InvalidInput(
            "workers must run the same sources of almoner as the process that hands them tasks; "
            "install the same on all, or leave the code alone while it runs, and start again"
        )
    if os.getppid() == caller and WATCHDOG not in {each.name for each in threading.enumerate()}:
        watchdog = threading.Thread(
            target=_exit_with_parent, args=[caller], name=WATCHDOG, daemon=True
        )
        watchdog.start()
    return key, task.run()


WATCHDOG = "exit with the parent process"


def _exit_with_parent(caller: int) -> None:
    """End this worker process soon after its parent was killed.

    By default workers finish their tasks and then wait five minutes for more.
    """
    while os.getppid() == caller:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def _workers(address: str | None) -> Iterator[None]:
    """Run joblib on local processes, or on the dask scheduler at an address."""
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
    """Return the hash of a task's settings, which names its file."""
    text = json.dumps(task.settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def save_finished(task: Task, rows: list[Row], folder: Path) -> None:
    """Write the file of a finished task: settings, fingerprint of the sources, rows."""
    table = {"settings": task.settings, "sources": fingerprint(), "rows": rows}
    text = json.dumps(table, indent=1, ensure_ascii=False)
    write_atomically(folder / f"{key_of(task)}.json", text + "\n")


def load_finished(task: Task, folder: Path) -> Finished | None:
    """Read the file of a finished task, of whatever sources; None if there is none.

    A torn file, or one with other settings or columns, counts as missing.
    """
    try:
        content = json.loads((folder / f"{key_of(task)}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("settings") != task.settings:
        return None
    rows, columns = content.get("rows"), list(task.columns)
    sound = (
        isinstance(rows, list)
        and rows
        and all(isinstance(row, dict) and list(row) == columns for row in rows)
    )
    return Finished(content["rows"], str(content.get("sources"))) if sound else None
