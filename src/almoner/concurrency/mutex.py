"""Mutex: a lock that can be taken over from an owner who was interrupted before releasing it.

A signal handler may raise between any two bytecodes, also between acquiring a lock and the ``try``
whose ``finally`` releases it, or inside ``__exit__``. A `threading.Lock` then stays locked. Here an
owner is recorded in the same step that acquires: the frame of the function in whose ``with`` or
``try`` block the lock is held. Once that function has returned or raised, its claim has ended,
whether it was released or not.

Threads that find a lock taken queue for it: first come, first served. Otherwise a thread that
releases a lock and acquires it again at once keeps it for good, as the thread it has woken is not
running yet.

A forked process is refused: a lock may have been copied while another thread of the parent held it,
so that nobody would release it.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Sequence
from threading import Lock, get_ident
from types import FrameType

from almoner.concurrency import process
from almoner.errors import StoreError

__all__ = ["POLL", "Claim", "Mutex", "WaitQueue", "Wakeup", "acquire_any", "release"]

POLL = 0.1
"""Seconds that a waiting thread sleeps before it checks whether the owner was interrupted."""

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONTEXTLIB = contextlib.__file__


class Wakeup:
    """A binary semaphore: wakes one waiting thread, or the next one that waits."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = Lock()
        self._lock.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait to be woken; return False after ``seconds``."""
        return self._lock.acquire(timeout=seconds)

    def notify(self) -> None:
        """Wake one thread."""
        if self._lock.locked():
            try:
                self._lock.release()
            except RuntimeError:  # another thread has released it meanwhile
                return


class Claim:
    """One ownership of a mutex; it ends when released, or when its function has ended.

    ``next`` holds the claim that has followed, if any.
    """

    __slots__ = ("frame", "next", "queue", "thread")

    def __init__(self, frame: FrameType | None, queue: WaitQueue) -> None:
        self.frame, self.queue, self.thread = frame, queue, get_ident()
        self.next: dict[None, Claim] = {}

    def release(self) -> None:
        """Release the lock, unless another thread has taken it over."""
        self.frame = None  # which would keep all its variables
        if self.queue.waiters:
            self.queue.notify()

    def has_ended(self) -> bool:
        """Return whether its function has ended; refuse to wait for a function of this thread."""
        frame = self.frame
        if frame is None:
            return True
        try:
            frame.clear()
        except RuntimeError:  # it is still executing
            if self.thread == get_ident():
                raise StoreError(
                    "a transaction was begun inside another one of the same thread; end the first "
                    "one before"
                ) from None
            return False
        return True


class _Waiter(Claim):
    """An entry of a queue; it ends with the call of `WaitQueue.acquire` that waits."""

    __slots__ = ("wakeup",)

    def __init__(self, frame: FrameType, queue: WaitQueue) -> None:
        super().__init__(frame, queue)
        self.wakeup = Wakeup()


class WaitQueue:
    """The threads that wait for a lock, or for any of several, in the order of their arrival.

    ``waiters`` are their entries. Only the first of them tries to acquire. Entries of threads that
    were interrupted before they left are dropped by the threads behind them.
    """

    __slots__ = ("waiters",)

    def __init__(self) -> None:
        self.waiters: list[_Waiter] = []

    def __bool__(self) -> bool:
        """Return whether any thread waits."""
        return bool(self.waiters)

    def notify(self) -> None:
        """Wake the first thread."""
        for first in self.waiters[:1]:  # empty if nobody waits
            first.wakeup.notify()

    def acquire(self, mutexes: Sequence[Mutex], frame: FrameType) -> tuple[int, Claim]:
        """Wait in the queue, then acquire a lock for a function; return its index with the claim.

        A thread that was not woken in time tries out of order: the owner may have been interrupted,
        and the first in the queue may want another of the locks.
        """
        waiter, suspect = _Waiter(sys._getframe(), self), False
        try:
            self.waiters.append(waiter)
            while True:
                if self._is_first(waiter) or suspect:
                    acquired = _try_any(mutexes, frame, suspect=suspect)
                    if acquired is not None:
                        return acquired
                suspect = not waiter.wakeup.wait(POLL)
        finally:
            self._drop(waiter)
            self.notify()  # another lock may be free, and an interrupted thread may have been woken

    def _is_first(self, waiter: _Waiter) -> bool:
        """Return whether no thread waits before it; drop entries of interrupted threads."""
        while (first := self.waiters[0]) is not waiter:
            if not first.has_ended():
                return False
            self._drop(first)
        return True

    def _drop(self, waiter: _Waiter) -> None:
        """Remove an entry, unless another thread has."""
        waiter.frame = None  # which refers to the entry
        with contextlib.suppress(ValueError):
            self.waiters.remove(waiter)


class Mutex:
    """A lock whose owner is known; see the module."""

    __slots__ = ("_forks", "_last", "_queue")

    def __init__(self, queue: WaitQueue | None = None) -> None:
        self._queue = WaitQueue() if queue is None else queue
        self._last = Claim(None, self._queue)
        self._forks = process.fork_count

    def try_acquire(self, frame: FrameType, *, suspect: bool = False) -> Claim | None:
        """Acquire the lock for a function if it is free.

        To find out whether the owner has ended is slow if it has not: that is done on suspicion, or
        if the owner belonged to this thread.
        """
        if self._forks != process.fork_count:
            raise process.forked()
        last = self._last
        while last.next:  # an owner was interrupted before it was recorded in _last
            last = last.next[None]
        if last.frame is not None and last.frame is not frame:
            if last.thread != get_ident() and not suspect:
                return None
            if not last.has_ended():
                return None
        claim = Claim(frame, self._queue)
        if last.next.setdefault(None, claim) is not claim:  # atomic: only one claim can follow
            return None
        self._last = claim
        return claim

    def acquire(self, frame: FrameType | None = None) -> Claim:
        """Acquire the lock for a function, after all threads that wait for it already.

        Without a ``frame`` that is the function whose ``with`` or ``try`` statement is calling.
        """
        if frame is None:
            frame = _owner()
        if not self._queue.waiters:
            claim = self.try_acquire(frame)
            if claim is not None:
                return claim
        return self._queue.acquire((self,), frame)[1]


def release(*claims: Claim | None) -> None:
    """Release locks in order, each unless another thread has taken it over."""
    for claim in claims:
        if claim is not None:
            claim.release()


def acquire_any(mutexes: Sequence[Mutex], queue: WaitQueue, frame: FrameType) -> tuple[int, Claim]:
    """Acquire the first of several locks that is free, all of which share a queue."""
    acquired = None if queue.waiters else _try_any(mutexes, frame)
    return queue.acquire(mutexes, frame) if acquired is None else acquired


def _try_any(
    mutexes: Sequence[Mutex], frame: FrameType, *, suspect: bool = False
) -> tuple[int, Claim] | None:
    for index, mutex in enumerate(mutexes):
        claim = mutex.try_acquire(frame, suspect=suspect)
        if claim is not None:
            return index, claim
    return None


def _owner() -> FrameType:
    """Return the frame of the function whose statement calls `Mutex.acquire`.

    Context managers in between return before its block ends: generators, functions of contextlib,
    and any ``__enter__``.
    """
    frame = sys._getframe(2)
    while (before := frame.f_back) is not None:
        code = frame.f_code
        if code.co_name != "__enter__" and not (
            code.co_flags & _SUSPENDED or code.co_filename == _CONTEXTLIB
        ):
            break
        frame = before
    return frame
