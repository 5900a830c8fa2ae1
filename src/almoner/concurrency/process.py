"""Process identity: refuses objects that were opened before a fork.

Processes are told apart by the number of forks between them and the first one. It is counted after
each fork in the child: to ask the system for the id of the process takes longer than a lock.
"""

from __future__ import annotations

import os

from almoner.errors import StoreError

__all__ = ["Process", "fork_count", "forked"]

fork_count = 0
"""Forks between the process that has imported this module and the present one."""


def _count_fork() -> None:
    global fork_count  # noqa: PLW0603
    fork_count += 1


os.register_at_fork(after_in_child=_count_fork)


class Process:
    """The process that opened an object, to check before any connection is used.

    In a forked child a connection is still the parent's.
    """

    __slots__ = ("_forks",)

    def __init__(self) -> None:
        self._forks = fork_count

    def is_current(self) -> bool:
        """Return whether this is the process that opened the object."""
        return fork_count == self._forks

    def check(self) -> None:
        """Refuse a forked child."""
        if fork_count != self._forks:
            raise forked()


def forked() -> StoreError:
    """Return the error of a store that is used in a forked child."""
    return StoreError(
        "the store was opened before this process was forked; open it in the process that uses it"
    )
