"""Mutex: threads acquire it in the order of their arrival, also after interrupts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from support.interrupts import elsewhere, interrupted

from almoner import StoreError
from almoner.concurrency import mutex
from almoner.concurrency.mutex import Mutex, WaitQueue, acquire_any, release
from almoner.store import open_store


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no thread try out of order, however slow the machine is."""
    monkeypatch.setattr(mutex, "POLL", 60.0)


def contend(queue: WaitQueue, hold: Callable[[int, Callable[[], None]], None]) -> list[int]:
    """Acquire in three threads 50 times each, again at once while the others are waiting.

    ``hold`` acquires for a thread, and calls what it is given before it releases.
    """
    order: list[int] = []
    at_work = [*range(3)]

    def work(thread: int) -> None:
        for left in reversed(range(50)):
            hold(thread, lambda: inside(thread, left))  # noqa: B023

    def inside(thread: int, left: int) -> None:
        while len(queue.waiters) < len(at_work) - 1:
            time.sleep(0)
        order.append(thread)
        if not left:
            at_work.remove(thread)

    threads = [Thread(target=work, args=(n,), daemon=True) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread hangs"
    return order


@pytest.mark.usefixtures("patient")
def test_a_thread_that_acquires_again_at_once_waits_behind_the_others() -> None:
    lock = Mutex()

    def hold(thread: int, inside: Callable[[], None]) -> None:
        claim = lock.acquire(sys._getframe())
        try:
            inside()
        finally:
            release(claim)

    order = contend(lock._queue, hold)
    assert order == order[:3] * 50


@pytest.mark.usefixtures("patient")
def test_a_busy_campaign_holds_up_no_other(tmp_path: Path) -> None:
    """Campaigns in one file share a connection: it goes from one to the next."""
    store: Any = open_store(f"sqlite:///{tmp_path / 'campaigns.db'}")
    for number in range(3):
        store.create(f"{number}", "terms")

    def hold(number: int, inside: Callable[[], None]) -> None:
        with store.writing(f"{number}"):
            inside()

    order = contend(store._database._pool._queue, hold)
    assert order == order[:3] * 50
    store.close()


@pytest.mark.usefixtures("patient")
def test_those_who_wait_for_any_lock_are_served_in_their_order() -> None:
    """A thread that comes later gets no lock while another waits, though one is free."""
    queue = WaitQueue()
    locks = [Mutex(queue), Mutex(queue)]
    order: list[int] = []

    def wait(number: int) -> None:
        _, claim = acquire_any(locks, queue, sys._getframe())
        order.append(number)
        release(claim)

    def occupied() -> None:
        claims = [lock.acquire(sys._getframe()) for lock in locks]
        for number in range(4):
            thread = Thread(target=wait, args=(number,), daemon=True)
            threads.append(thread)
            thread.start()
            while len(queue.waiters) <= number:
                time.sleep(0)
        release(claims[1])
        for thread in threads:
            thread.join(60)
        release(claims[0])

    threads: list[Thread] = []
    occupied()
    assert order == [0, 1, 2, 3]
    assert not queue


def test_an_interrupted_waiter_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread interrupted anywhere in its wait does not block the threads behind it."""
    monkeypatch.setattr(mutex, "POLL", 0.001)
    lock, served = Mutex(), list[int]()

    def wait(point: int) -> None:
        claim = lock.acquire(sys._getframe())
        try:
            served.append(point)
        finally:
            release(claim)

    def compete(point: int) -> None:
        """Wait for a lock that is released once another thread has queued."""
        holder = Thread(target=hold_until_queued, daemon=True)
        holder.start()
        holders.append(holder)
        while lock._last.frame is None and holder.is_alive():
            time.sleep(0)
        wait(point)

    def hold_until_queued() -> None:
        claim = lock.acquire(sys._getframe())
        for _ in range(100):
            if lock._queue:
                break
            time.sleep(0.0001)
        release(claim)

    holders: list[Thread] = []
    kept = None
    points = 0
    for error in interrupted(compete):
        kept, points = error, points + 1
        elsewhere(lambda: wait(-1))
        wait(0)
        holders[-1].join(60)
        assert not holders[-1].is_alive()
    assert kept is None
    assert not lock._queue, "nobody waits any more"
    assert points > 50


def test_a_signal_handler_that_waits_behind_its_own_thread_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would wait for ever: the thread below it leaves the queue after the handler returns."""
    lock, held, go_on, refusals = Mutex(), Event(), Event(), list[BaseException]()
    wait = mutex.Wakeup.wait

    def hold() -> None:
        claim = lock.acquire(sys._getframe())
        held.set()
        assert go_on.wait(60)
        release(claim)

    def interrupted_wait(signal: mutex.Wakeup, seconds: float) -> bool:
        if not refusals:
            with pytest.raises(StoreError, match="same thread") as refused:
                lock.acquire(sys._getframe())
            refusals.append(refused.value)
            go_on.set()
        return wait(signal, seconds)

    monkeypatch.setattr(mutex.Wakeup, "wait", interrupted_wait)
    holder = Thread(target=hold, daemon=True)
    holder.start()
    assert held.wait(60)
    release(lock.acquire(sys._getframe()))
    holder.join(60)
    assert refusals
    assert not lock._queue
