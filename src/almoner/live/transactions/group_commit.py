"""Group commit for threads: the first waiting caller runs one transaction for everyone queued.

There is no thread of its own and nothing to shut down. While the leader's transaction is on its way
to the disk, callers queue for the next one. Any of them may be interrupted at any bytecode: no
state depends on being cleaned up by the caller who set it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from almoner.concurrency.mutex import POLL, Mutex, Wakeup
from almoner.concurrency.process import Process
from almoner.errors import AlmonerError, StoreError

__all__ = ["GroupCommit"]

WAKE_TIMEOUT = 0.01
"""Seconds that the leader waits, at most, until all followers are awake."""

CHAINS = 2
"""Chains in which followers wake each other. To wake all at once, only for them to contend for the
interpreter, takes longer; with a single chain no thread is awake when the interpreter is free."""


INTERRUPTED: list[Any] = []
"""In place of answers: the caller was interrupted and waits for none."""


class _Call(Wakeup):
    """A queued call: the commands of its callers, and their answers once there are any."""

    __slots__ = ("answers", "callers", "following")

    def __init__(self, callers: Sequence[Sequence[Any]]) -> None:
        super().__init__()
        self.callers = callers
        self.answers: list[Any] | None = None
        self.following: Wakeup | None = None


class GroupCommit:
    """Runs the commands of concurrent callers in shared transactions.

    Parameters
    ----------
    transact
        Runs one transaction: takes the commands of each caller, and returns an answer or an error
        for each. If it raises, no command was carried out.
    """

    def __init__(
        self, transact: Callable[[list[Sequence[Any]]], list[Any | BaseException]]
    ) -> None:
        self._transact = transact
        self._process = Process()
        self._leader = Mutex()
        self._queue: list[_Call] = []
        self._batch: list[_Call] = []

    def submit(self, commands: Sequence[Any]) -> Any:
        """Return the answers to a caller's commands once they are durable, or raise its error."""
        (answer,) = self.submit_all((commands,))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def submit_all(self, callers: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the answers, or the error, of each of several callers."""
        if not self._queue:  # no other caller to share with
            # The frame is in no variable: that would be a cycle, left to the garbage collector.
            claim = self._leader.try_acquire(sys._getframe())
            if claim is not None:
                try:
                    return self._transact([*callers])
                except BaseException as error:  # as in a batch
                    return [error] * len(callers)
                finally:
                    claim.release()
                    if self._queue:
                        self._wake_next()
        self._process.check()
        call = _Call(callers)
        try:
            self._queue.append(call)
            self._wait(call)
            return call.answers or INTERRUPTED
        finally:
            if call.answers is None:
                call.answers = INTERRUPTED
                self._wake_next()
            if call.following is not None:
                call.following.notify()

    def _wait(self, call: _Call) -> None:
        """Wait for the answers, or lead the next transaction if there is no leader."""
        suspect = False
        first = self._queue[:1]  # empty if the call was answered already
        if first and first[0] is not call and first[0].answers is None:  # that one leads
            suspect = not call.wait(POLL)
        while call.answers is None:
            claim = self._leader.try_acquire(sys._getframe(), suspect=suspect)
            if claim is None:
                suspect = not call.wait(POLL)
                continue
            try:
                self._lead(call)
            finally:
                claim.release()
                self._wake_next()

    def _lead(self, call: _Call) -> None:
        """Run one transaction for all queued calls, the leader's included."""
        for entry in self._batch:  # left by a leader who was interrupted
            if entry.answers is None:
                entry.answers = [_uncertain()] * len(entry.callers)
        entries = self._queue[:]
        self._batch = batch = [entry for entry in entries if entry.answers is None]
        try:
            self._answer(batch)
        except BaseException as error:
            self._fail(batch, call, error)
        finally:
            del self._queue[: len(entries)]  # only a leader removes entries
            if len(entries) > 1:
                self._wake([e for e in entries if e is not call and e.answers is not INTERRUPTED])
        self._batch = []

    def _answer(self, batch: list[_Call]) -> None:
        if not batch:
            return
        answers = self._transact([commands for entry in batch for commands in entry.callers])
        start = 0
        for entry in batch:
            end = start + len(entry.callers)
            entry.answers = answers[start:end]
            start = end

    def _fail(self, batch: list[_Call], call: _Call, error: BaseException) -> None:
        """Give all callers the error of their transaction; only the leader sees its interrupt."""
        shared = error if isinstance(error, AlmonerError) else _uncertain(error)
        unanswered = [entry for entry in batch if entry.answers is None]
        for entry in unanswered:
            entry.answers = [error if entry is call else shared] * len(entry.callers)
        if call not in unanswered:
            raise error

    def _wake(self, followers: list[_Call]) -> None:
        """Wake all followers, each by the one before it, and wait until the last ones are awake.

        A follower that submits again at once then shares the next transaction. Otherwise the first
        follower to wake would have it to itself, while the others wait.
        """
        ends = [Wakeup() for _ in range(CHAINS)]
        wakeups = [*followers, *ends]
        for follower, following in zip(followers, wakeups[CHAINS:], strict=True):
            follower.following = following
        for first in wakeups[:CHAINS]:
            first.notify()
        for end in ends:
            end.wait(WAKE_TIMEOUT)

    def _wake_next(self) -> None:
        """Wake a queued caller that can lead."""
        if self._queue:
            for entry in self._queue[:]:
                if entry.answers is None:
                    entry.notify()
                    return


def _uncertain(error: BaseException | None = None) -> StoreError:
    """Return the error of followers whose leader was interrupted, or raised an error of its own."""
    cause = "the caller who led a shared transaction was interrupted"
    if isinstance(error, Exception):
        cause = f"a shared transaction met {error!r}"
    uncertain = StoreError(
        f"{cause}, so that it may or may not have been committed; ask again with the same key"
    )
    uncertain.__cause__ = error
    return uncertain
