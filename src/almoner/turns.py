"""Turns: many callers, one transaction. The first to wait at the door goes in for all who follow.

There is no thread of its own and nothing to shut down. While one transaction is on its way to the
disk, those who come gather for the next one (group commit).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

__all__ = ["Turns"]

LINGER = 0.01
"""For how many seconds, at most, the door stays shut while those who were served leave."""


class _Batch:
    """What several callers ask, and the answers once there are any: then the gates are open."""

    __slots__ = ("answers", "asked", "following", "gates", "left", "served")

    def __init__(self) -> None:
        self.asked: list[Sequence[Any]] = []
        self.answers: list[Any] = []
        self.following = 0
        self.served = False
        self.gates = Lock(), Lock()
        self.left = Lock()
        for lock in (*self.gates, self.left):
            lock.acquire()


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
        self._door = Lock()
        self._guard = Lock()
        self._gathering: _Batch | None = None

    def ask(self, requests: Sequence[Any]) -> Any:
        """Return the answer to a caller's requests once it is durable."""
        (answer,) = self.ask_all((requests,))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ask_all(self, callers: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the answer, or the error, of each of several callers."""
        if self._gathering is None and self._door.acquire(blocking=False):  # nobody to share with
            try:
                return self._serve(list(callers))
            except BaseException as error:  # as in a batch, where each of them hears of it
                return [error] * len(callers)
            finally:
                self._door.release()
        with self._guard:
            batch = self._gathering
            leads = batch is None
            if batch is None:
                batch = self._gathering = _Batch()
            else:
                batch.following += 1
            gate = batch.gates[batch.following % 2]
            place = len(batch.asked)
            batch.asked.extend(callers)
        if leads:
            self._lead(batch)
        else:
            self._follow(batch, gate)
        return batch.answers[place : place + len(callers)]

    def _lead(self, batch: _Batch) -> None:
        """Serve a batch, closed to others from the moment that the door lets it in."""
        try:
            with self._door:
                self._close(batch)
                batch.answers = self._serve(batch.asked)
                if self._open_gate(batch):
                    # Whoever comes back at once with another request shares the next transaction,
                    # instead of waiting while the very first of them has one to itself.
                    batch.left.acquire(timeout=LINGER)
        except BaseException as error:  # all of them hear of it, and nobody waits for ever
            if batch.served:
                raise
            self._close(batch)
            batch.answers = [error] * len(batch.asked)
            self._open_gate(batch)

    def _follow(self, batch: _Batch, gate: Lock) -> None:
        """Wait for the answers. At each of two gates one lets the next one through.

        To wake all at once, only for them to fight for the interpreter, takes longer; with a
        single gate nobody is awake yet when the interpreter falls free.
        """
        try:
            with gate:
                pass
        finally:
            with self._guard:
                batch.following -= 1
                last = batch.served and batch.following == 0
            if last:
                batch.left.release()

    def _close(self, batch: _Batch) -> None:
        with self._guard:
            if self._gathering is batch:
                self._gathering = None

    def _open_gate(self, batch: _Batch) -> bool:
        """Let those out who follow, and say whether there are any."""
        with self._guard:
            batch.served = True
            followed = batch.following > 0
        for gate in batch.gates:
            gate.release()
        return followed
