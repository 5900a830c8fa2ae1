"""Turns: many callers, one transaction. Whoever finds the door free goes in for all who wait.

There is no thread of its own and nothing to shut down. While one caller's commit is on its way to
the disk, the others queue up; the next one in takes the whole queue with it (group commit).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

__all__ = ["Turns"]


class _Ticket:
    """One caller's requests, and the answer once there is one."""

    __slots__ = ("answer", "done", "requests")

    def __init__(self, requests: Sequence[Any]) -> None:
        self.requests = requests
        self.done = False
        self.answer: Any = None


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
        self._waiting: deque[_Ticket] = deque()
        self._door = Lock()

    def ask(self, requests: Sequence[Any]) -> Any:
        """Return the answer to a caller's requests once it is durable."""
        (answer,) = self.ask_all([requests])
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ask_all(self, callers: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the answer, or the error, of each of several callers."""
        tickets = [_Ticket(requests) for requests in callers]
        self._waiting.extend(tickets)
        with self._door:
            if not all(ticket.done for ticket in tickets):
                self._serve_waiting()
        return [ticket.answer for ticket in tickets]

    def _serve_waiting(self) -> None:
        tickets: list[_Ticket] = []
        try:
            while self._waiting:
                tickets.append(self._waiting.popleft())
            answers = self._serve([ticket.requests for ticket in tickets])
        except BaseException as error:  # all of them hear of it, and nobody waits for ever
            answers = [error] * len(tickets)
        for ticket, answer in zip(tickets, answers, strict=True):
            ticket.answer, ticket.done = answer, True
