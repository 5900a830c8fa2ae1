"""Process identity: refuses objects that were opened before a fork."""

from __future__ import annotations

import os

from almoner.errors import StoreError

__all__ = ["Process", "forked"]


class Process:
    """The process that opened an object, to check before any connection is used.

    In a forked child a connection is still the parent's.
    """

    __slots__ = ("_id",)

    def __init__(self) -> None:
        self._id = os.getpid()

    def is_current(self) -> bool:
        """Return whether this is the process that opened the object."""
        return os.getpid() == self._id

    def check(self) -> None:
        """Refuse a forked child."""
        if os.getpid() != self._id:
            raise forked()


def forked() -> StoreError:
    """Return the error of a store that is used in a forked child."""
    return StoreError(
        "the store was opened before this process was forked; open it in the process that uses it"
    )
