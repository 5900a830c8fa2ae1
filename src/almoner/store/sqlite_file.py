"""Identity of an SQLite file: refuses one that was deleted, replaced or linked while it is open.

A process goes on writing to the file it has opened, whatever happens to the name. Another process
that opens the name then gets another file, and both spend the whole budget.
"""

from __future__ import annotations

import os
from pathlib import Path

from almoner.errors import StoreError

__all__ = ["Identity", "StoreFile"]

Identity = tuple[int, int]
"""Device and inode."""

SHOWN = 200
"""Characters of a path that an error shows."""


class StoreFile:
    """The file of a store, by its path without symbolic links.

    SQLite names the write-ahead log after the path, so that two names of one file would have two
    logs. A reader spends nothing: it may read a file with two names, as backups often are.
    """

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self._shown_path, self._read_only = path, read_only
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as reason:  # circular links, a null byte
            raise self._unusable(reason) from reason
        self._name, self._log_name = str(self.path), f"{self.path}-wal"
        self._refusal = ""
        self._identity = self._identify(self._name)

    def check(self) -> None:
        """Refuse the file if it is not the one that was opened first."""
        self._refuse_again()
        present = self._identify(self._name)
        if self._identity is None:
            self._identity = present
        elif present != self._identity:
            self._replaced(self._shown_path, present)

    def check_log(self, expected: Identity | None) -> Identity | None:
        """Refuse a write-ahead log other than ``expected``; return the present one."""
        self._refuse_again()
        present = self._identify(self._log_name)
        if expected is not None and present != expected:
            self._replaced(self._log_name, present)
        return present

    def _identify(self, name: str) -> Identity | None:
        try:
            status = os.stat(name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as reason:  # below a file, too long a name, no permission
            raise self._unusable(reason) from reason
        if status.st_nlink > 1 and not self._read_only:  # until it has one name again
            raise StoreError(
                f"the store {name!r} has {status.st_nlink} names (hard links), and processes that "
                "use different ones would each spend the whole budget; remove the other names, or "
                "make a copy of the file and open that"
            )
        return status.st_dev, status.st_ino

    def _unusable(self, reason: Exception) -> StoreError:
        message = getattr(reason, "strerror", None) or str(reason).splitlines()[0]
        shown = (
            self._shown_path
            if len(self._shown_path) <= SHOWN
            else f"{self._shown_path[: SHOWN - 3]}..."
        )
        return StoreError(f"the store {shown!r} cannot be opened: {message}; check the path")

    def _replaced(self, name: str, present: Identity | None) -> None:
        how = "was deleted" if present is None else "was replaced by another file"
        self._refuse(
            f"the store {name!r} {how} while it was open; stop all processes that use it, put the "
            "right file in place, and open it again"
        )

    def _refuse(self, reason: str) -> None:
        """Refuse the file from now on, as another log may be in place the next time."""
        self._refusal = reason
        self._refuse_again()

    def _refuse_again(self) -> None:
        if self._refusal:
            raise StoreError(self._refusal)
