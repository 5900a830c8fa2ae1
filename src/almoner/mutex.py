"""Mutex: a lock that can be taken over from an owner who was interrupted before releasing it.

A signal handler may raise between any two bytecodes, also between acquiring a lock and the ``try``
whose ``finally`` releases it, or inside ``__exit__``. A `threading.Lock` then stays locked. Here an
owner is recorded in the same step that acquires: the frame of the function in whose ``with`` or
``try`` block the lock is held. Once that function has returned or raised, its claim has ended,
whether it was released or not.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Sequence
from threading import Lock, get_ident
from types import FrameType

from almoner.errors import StoreError

__all__ = ["POLL", "Claim", "Mutex", "Signal", "acquire_any", "owner"]

POLL = 0.1
"""Seconds that a waiting thread sleeps before it checks whether the owner was interrupted."""

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONTEXTLIB = contextlib.__file__


class Signal:
    """A binary semaphore: wakes one waiting thread, or the next one that waits."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = Lock()
        self._lock.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait to be woken; return False if that took too long."""
        return self._lock.acquire(timeout=seconds)

    def notify(self) -> None:
        """Wake one thread."""
        if self._lock.locked():
            try:
                self._lock.release()
            except RuntimeError:  # another thread was faster
                return


class Claim:
    """One ownership of a mutex; it ends when released, or when its function has ended."""

    __slots__ = ("frame", "next", "thread")

    def __init__(self, frame: FrameType | None) -> None:
        self.frame, self.thread = frame, get_ident()
        self.next: dict[None, Claim] = {}

    def is_last(self) -> bool:
        """Return whether nobody has taken over."""
        return not self.next

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


class Mutex:
    """A lock whose owner is known; see the module."""

    __slots__ = ("_last", "_signal")

    def __init__(self, signal: Signal | None = None) -> None:
        self._signal = signal or Signal()
        self._last = Claim(None)

    def try_acquire(self, frame: FrameType, *, suspect: bool = False) -> Claim | None:
        """Acquire the lock for a function if it is free.

        To ask an owner whether it has ended is slow where it has not: it is asked on a suspicion,
        or where it belonged to this thread.
        """
        last = self._last
        while last.next:  # an owner was interrupted before it became the last one here
            last = last.next[None]
        if last.frame is not None and last.frame is not frame:
            if last.thread != get_ident() and not suspect:
                return None
            if not last.has_ended():
                return None
        claim = Claim(frame)
        if last.next.setdefault(None, claim) is not claim:  # atomic: a claim is followed by one
            return None
        self._last = claim
        return claim

    def acquire(self, frame: FrameType) -> Claim:
        """Wait for the lock and acquire it for a function."""
        return self.try_acquire(frame) or acquire_any((self,), self._signal, frame)[1]

    def release(self, claim: Claim) -> None:
        """Release the lock, unless another has taken over."""
        claim.frame = None  # which would keep all its variables
        self._signal.notify()


def acquire_any(mutexes: Sequence[Mutex], signal: Signal, frame: FrameType) -> tuple[int, Claim]:
    """Acquire the first of several locks that is free, all of which share a signal."""
    suspect = False
    while True:
        for index, mutex in enumerate(mutexes):
            claim = mutex.try_acquire(frame, suspect=suspect)
            if claim is not None:
                return index, claim
        suspect = not signal.wait(POLL)


def owner() -> FrameType:
    """Return the frame of the function whose ``with`` statement is calling.

    Context managers between the two come and go before its block ends: generators, those of
    contextlib, and any other ``__enter__``.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        code = frame.f_code
        if not (
            code.co_flags & _SUSPENDED
            or code.co_name == "__enter__"
            or code.co_filename == _CONTEXTLIB
        ):
            break
        frame = frame.f_back
    return frame
