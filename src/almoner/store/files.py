"""Identity of an SQLite file: notices that it was deleted, replaced or linked while it is open.

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
    """The file of a store, by the path that it has without symbolic links.

    SQLite names the write-ahead log after the path. Two names for one file would be two logs. A
    reader spends nothing, so that a file with two names, as backups often are, can be read.
    """

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self._given, self._read_only = path, read_only
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as reason:  # links in a circle, a null byte
            raise self._unusable(reason) from reason
        self._name, self._log_name = str(self.path), f"{self.path}-wal"
        self._refusal = ""
        self._identity = self._look(self._name)

    def check(self) -> None:
        """Refuse the file if it is not the one that was there first."""
        self._refuse_again()
        found = self._look(self._name)
        if self._identity is None:
            self._identity = found
        elif found != self._identity:
            self._replaced(self._given, found)

    def check_log(self, known: Identity | None) -> Identity | None:
        """Refuse a write-ahead log that is not the one known; return the one that is there."""
        self._refuse_again()
        found = self._look(self._log_name)
        if known is not None and found != known:
            self._replaced(self._log_name, found)
        return found

    def _look(self, name: str) -> Identity | None:
        try:
            found = os.stat(name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as reason:  # below a file, too long a name, no right to look
            raise self._unusable(reason) from reason
        if found.st_nlink > 1 and not self._read_only:  # once it has one name again, all is well
            raise StoreError(
                f"the store {name!r} has {found.st_nlink} names (hard links), and processes that "
                "use different ones would each spend the whole budget; remove the other names, or "
                "make a copy of the file and open that"
            )
        return found.st_dev, found.st_ino

    def _unusable(self, reason: Exception) -> StoreError:
        said = getattr(reason, "strerror", None) or str(reason).splitlines()[0]
        shown = self._given if len(self._given) <= SHOWN else f"{self._given[: SHOWN - 3]}..."
        return StoreError(f"the store {shown!r} cannot be opened: {said}; check the path")

    def _replaced(self, name: str, found: Identity | None) -> None:
        how = "was deleted" if found is None else "was replaced by another file"
        self._refuse(
            f"the store {name!r} {how} while it was open; stop all processes that use it, put the "
            "right file in place, and open it again"
        )

    def _refuse(self, reason: str) -> None:
        """Refuse the file from now on: another log may be in place the next time."""
        self._refusal = reason
        self._refuse_again()

    def _refuse_again(self) -> None:
        if self._refusal:
            raise StoreError(self._refusal)
