"""Target of an export: standard output, a pipe, or a file that only a complete one replaces."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from almoner.errors import InvalidInput

__all__ = ["STDOUT", "opened"]

STDOUT = "-"
"""The path that stands for standard output."""

SQLITE = b"SQLite format 3\0"
"""First bytes of every SQLite file."""

LOGS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a target for writing.

    A file is written beside its place and moved there at the end: an export that fails or is
    interrupted leaves the file of an earlier one as it was. A database is refused.
    """
    if str(path) == STDOUT:
        yield sys.stdout.buffer
        return
    if Path(path).exists() and not Path(path).is_file():  # a pipe, or a device
        with Path(path).open("wb") as file:
            yield file
        return
    target = Path(path).resolve()  # a link stays one
    _refuse_database(path, target)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with _created(beside, path) as file:
            if target.exists():
                os.chmod(file.fileno(), target.stat().st_mode)
            yield file
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _created(beside: Path, path: str | Path) -> BinaryIO:
    """Create the file to write; errors name the path that the caller gave."""
    try:
        return beside.open("xb")
    except OSError as error:
        error.filename = str(path)
        raise


def _refuse_database(path: str | Path, target: Path) -> None:
    """Refuse the file of a store and the logs beside it: the budget could be spent again."""
    for ending in ("", *LOGS):
        database = Path(str(target).removesuffix(ending))
        if str(target).endswith(ending) and _is_sqlite(database):
            raise InvalidInput(
                f"the file to write must not be a database or a part of one, got {str(path)!r}; "
                "name another file"
            )


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except FileNotFoundError:
        return False
