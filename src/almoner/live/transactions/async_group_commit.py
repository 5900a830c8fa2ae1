"""Group commit for an event loop: one transaction in a thread for all callers queued meanwhile.

A batch of the loop is one call of the group commit for threads, which runs the transaction and
shares it with threads and with other loops. This adds the queue of futures. Any callback may be
interrupted at any bytecode: a repeated or delayed callback completes its work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

__all__ = ["AsyncGroupCommit"]

Call = tuple[Sequence[Any], "asyncio.Future[list[Any]]"]
"""The commands of a caller, and the future of its answers."""


class AsyncGroupCommit:
    """Runs the commands of callers on the running event loop in shared transactions.

    Parameters
    ----------
    submit_all
        Runs the commands of several callers, as `GroupCommit.submit_all`.
    threads
        The executor of ``submit_all``.
    on_batch
        Called with the number of callers of each transaction.
    """

    def __init__(
        self,
        submit_all: Callable[[list[Sequence[Any]]], list[Any]],
        *,
        threads: Executor,
        on_batch: Callable[[int], None],
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._submit_all, self._threads, self._on_batch = submit_all, threads, on_batch
        self._queue: list[Call] = []
        self._batch: list[Call] = []
        self._transaction: Future[None] | None = None

    def submit(self, commands: Sequence[Any]) -> asyncio.Future[list[Any]]:
        """Return the future of the answers to a caller's commands, or of its error.

        It is done once they are durable. No coroutine: those would take a tenth of the time.
        """
        if not self._queue and not self._is_running():
            # Not at once, so that callers of this iteration of the event loop share the batch; and
            # twice, as in `_run`. Before the queue grows: what is in it has a start to come.
            self.loop.call_soon(self._start)
            self.loop.call_soon(self._start)
        future: asyncio.Future[list[Any]] = self.loop.create_future()
        self._queue.append((commands, future))
        return future

    async def finish(self) -> None:
        """Wait until all callers are answered."""
        while self._queue or self._is_running():  # callers may submit again before this is woken
            if self._transaction is not None and self._is_running():
                await asyncio.wait([asyncio.wrap_future(self._transaction)])
            else:
                self._start()

    def _is_running(self) -> bool:
        """Return whether a transaction is running.

        By its future, not by a flag, which an interrupted callback would never reset.
        """
        return self._transaction is not None and not self._transaction.done()

    def _start(self) -> None:
        """Start a transaction for the queue; after an interrupt, try again."""
        try:
            self._start_batch()
        except BaseException:
            self.loop.call_soon(self._start)
            raise

    def _start_batch(self) -> None:
        """Start a transaction for all callers in the queue who were not cancelled."""
        if not self._queue or self._is_running():
            return
        count = len(self._queue)
        batch = [call for call in self._queue if not call[1].done()]
        if not batch:
            del self._queue[:count]
            return
        try:
            self._batch, self._transaction = batch, self._threads.submit(self._run, batch)
            del self._queue[:count]  # only now: an interrupt must not lose callers
        except BaseException as error:
            self._queue = []
            self._deliver(batch, [error] * len(batch))
            if not isinstance(error, RuntimeError):  # of an executor that was shut down
                raise
            return
        self._on_batch(len(batch))

    def _run(self, batch: list[Call]) -> None:
        """Run a batch in one transaction, in a thread of the executor."""
        try:
            answers = self._submit_all([commands for commands, _ in batch])
        except BaseException as error:  # so that no caller waits for ever
            answers = [error] * len(batch)
        with suppress(RuntimeError):  # the loop is closed: no caller is left
            # Twice, as the first call may be interrupted before its first statement.
            self.loop.call_soon_threadsafe(self._deliver, batch, answers)
            self.loop.call_soon_threadsafe(self._deliver, batch, answers)

    def _deliver(self, batch: list[Call], answers: list[Any]) -> None:
        """Answer the callers of a batch; after an interrupt, the remaining ones."""
        try:
            self._answer(batch, answers)
        except BaseException:
            self.loop.call_soon(self._deliver, batch, answers)
            raise

    def _answer(self, batch: list[Call], answers: list[Any]) -> None:
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():  # cancelled; the transaction stays committed
                continue
            if type(answer) is list:
                future.set_result(answer)
            elif isinstance(answer, StopIteration):  # which futures do not accept
                future.set_exception(RuntimeError(f"a request raised {answer!r}"))
            else:
                future.set_exception(answer)
        if self._batch is batch:  # its thread is about to end
            self._transaction = None
        self._start()
