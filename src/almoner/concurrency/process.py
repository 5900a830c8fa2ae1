"""Process identity: refuses objects that were opened before a fork."""

from __future__ import annotations

import os

from almoner.errors import StoreError

__all__ = ["Process"]


class Process:
    """The process that opened something, to be asked before any lock or connection is touched.

    In a forked child a lock may have been copied while another thread held it, so that nobody
    releases it there; a connection is still the parent's.
    """

    __slots__ = ("_id",)

    def __init__(self) -> None:
        self._id = os.getpid()

    def is_current(self) -> bool:
        """Return whether this is the process that opened it."""
        return os.getpid() == self._id

    def check(self) -> None:
        """Refuse a forked child."""
        if os.getpid() != self._id:
            raise StoreError(
                "the store was opened before this process was forked; open it in the process that "
                "uses it"
            )
