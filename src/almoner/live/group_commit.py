"""Group commit for threads: one of the waiting callers runs a transaction for all of them.

There is no thread of its own and nothing to shut down. While one transaction is on its way to the
disk, callers queue for the next one. Any of them may be interrupted at any bytecode: no state
depends on its being tidied up by the caller who set it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from almoner.concurrency.mutex import POLL, Mutex, Signal
from almoner.concurrency.process import Process
from almoner.errors import AlmonerError, StoreError

__all__ = ["Turns"]

LINGER = 0.01
"""For how many seconds, at most, the next transaction waits for followers to wake and leave."""

LANES = 2
"""Chains in which followers wake each other. To wake all at once, only for them to contend for the
interpreter, takes longer; with a single chain nobody is awake when the interpreter falls free."""


GONE: list[Any] = []
"""In place of answers: the caller was interrupted and waits for none."""


class _Call(Signal):
    """The requests of a caller in the queue, and the answers once there are any."""

    __slots__ = ("answers", "asked", "following")

    def __init__(self, asked: Sequence[Sequence[Any]]) -> None:
        super().__init__()
        self.asked = asked
        self.answers: list[Any] | None = None
        self.following: Signal | None = None


class Turns:
    """Lets callers share transactions.

    Parameters
    ----------
    serve
        Does all it is given in one transaction: takes a list of callers' requests, and returns an
        answer or an error for each caller. If it raises, nobody's requests were done.
    """

    def __init__(self, serve: Callable[[list[Sequence[Any]]], list[Any | BaseException]]) -> None:
        self._serve = serve
        self._process = Process()
        self._leading = Mutex()
        self._queue: list[_Call] = []
        self._batch: list[_Call] = []

    def ask(self, requests: Sequence[Any]) -> Any:
        """Return the answer to a caller's requests once it is durable."""
        (answer,) = self.ask_all((requests,))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ask_all(self, callers: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the answer, or the error, of each of several callers."""
        self._process.check()
        if not self._queue:  # nobody to share with
            # Its own frame in a variable would be a cycle, left to the garbage collector.
            claim = self._leading.try_acquire(sys._getframe())
            if claim is not None:
                try:
                    return self._serve(list(callers))
                except BaseException as error:  # as in a batch
                    return [error] * len(callers)
                finally:
                    self._leading.release(claim)
                    self._wake_next()
        call = _Call(callers)
        try:
            self._queue.append(call)
            self._wait(call)
            return call.answers or GONE
        finally:
            if call.answers is None:  # interrupted
                call.answers = GONE
                self._wake_next()
            if call.following is not None:
                call.following.notify()

    def _wait(self, call: _Call) -> None:
        """Wait for the answers, or lead the next transaction if nobody else does."""
        suspect = False
        first = self._queue[:1]  # is none if the call was answered already
        if first and first[0] is not call and first[0].answers is None:  # that one leads
            suspect = not call.wait(POLL)
        while call.answers is None:
            claim = self._leading.try_acquire(sys._getframe(), suspect=suspect)
            if claim is None:
                suspect = not call.wait(POLL)
                continue
            try:
                self._lead(call)
            finally:
                self._leading.release(claim)
                self._wake_next()

    def _lead(self, call: _Call) -> None:
        """Serve everyone in the queue, the leader among them."""
        for entry in self._batch:  # of a leader who was interrupted
            if entry.answers is None:
                entry.answers = [_unsure()] * len(entry.asked)
        entries = self._queue[:]
        self._batch = batch = [entry for entry in entries if entry.answers is None]
        try:
            self._answer(batch)
        except BaseException as error:
            self._fail(batch, call, error)
        finally:
            del self._queue[: len(entries)]  # nobody else removes anything
            if len(entries) > 1:
                self._dismiss([e for e in entries if e is not call and e.answers is not GONE])
        self._batch = []

    def _answer(self, batch: list[_Call]) -> None:
        if not batch:
            return
        answers = self._serve([requests for entry in batch for requests in entry.asked])
        start = 0
        for entry in batch:
            end = start + len(entry.asked)
            entry.answers = answers[start:end]
            start = end

    def _fail(self, batch: list[_Call], call: _Call, error: BaseException) -> None:
        """Tell all callers of a transaction that it failed; what interrupts one is its alone."""
        told = error if isinstance(error, AlmonerError) else _unsure(error)
        unanswered = [entry for entry in batch if entry.answers is None]
        for entry in unanswered:
            entry.answers = [error if entry is call else told] * len(entry.asked)
        if call not in unanswered:
            raise error

    def _dismiss(self, followers: list[_Call]) -> None:
        """Wake all followers, each by the one before it, and wait until the last ones are awake.

        A caller who comes back at once with another request then shares the next transaction,
        instead of waiting while the very first of them has one to itself.
        """
        ends = [Signal() for _ in range(LANES)]
        signals = [*followers, *ends]
        for follower, following in zip(followers, signals[LANES:], strict=True):
            follower.following = following
        for first in signals[:LANES]:
            first.notify()
        for end in ends:
            end.wait(LINGER)

    def _wake_next(self) -> None:
        """Wake a caller who can lead."""
        if self._queue:
            for entry in self._queue[:]:
                if entry.answers is None:
                    entry.notify()
                    return


def _unsure(error: BaseException | None = None) -> StoreError:
    """Return the error of callers whose leader was interrupted, or met an error of its own."""
    what = "the caller who led a shared transaction was interrupted"
    if isinstance(error, Exception):
        what = f"a shared transaction met {error!r}"
    unsure = StoreError(
        f"{what}, so that it may or may not have been committed; ask again with the same key"
    )
    unsure.__cause__ = error
    return unsure
