"""Connection pool of an SQL store, and its transactions.

A connection is used again only after a transaction on it was committed. After anything else, an
error or an interrupt at any bytecode, it is closed, and the next transaction opens another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from almoner.concurrency.mutex import Claim, Mutex, WaitQueue, acquire_any, release
from almoner.store.database import First

__all__ = ["Driver", "Pool", "PooledTransaction"]


class Driver(Protocol):
    """The operations on connections in which databases differ."""

    def connect(self) -> Any:
        """Open a connection."""

    def was_lost(self, connection: Any, error: Exception) -> bool:
        """Return whether an error says that the server has ended the connection."""

    def commit(self, connection: Any) -> None:
        """Commit a transaction."""

    def as_store_error(self, error: BaseException) -> BaseException:
        """Return the error to raise for one of the driver's, or else the error itself."""


class _Slot:
    """Slot of a pool: its connection is closed and replaced unless it is marked as clean."""

    def __init__(self, queue: WaitQueue) -> None:
        self.mutex = Mutex(queue)
        self._connection: Any = None
        self._clean = False

    def is_clean(self) -> bool:
        """Return whether there is a connection that can be used again."""
        return self._clean

    def take(self, connect: Callable[[], Any]) -> Any:
        """Return a clean connection, which is not clean from now on."""
        if not self._clean:
            self.discard()
        if self._connection is None:
            self._connection = connect()
        self._clean = False
        return self._connection

    def put_back(self) -> None:
        """Mark the connection as clean."""
        self._clean = True

    def discard(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()  # a second time does no harm
            self._connection = None


class _CampaignLock:
    """Lock of one campaign, and the connection of its present transaction."""

    def __init__(self) -> None:
        self.mutex = Mutex()
        self.connection: Any = None


class Pool:
    """A bounded number of connections, opened on demand; a campaign uses one at a time.

    So a campaign that is locked elsewhere holds up no more than one of them.

    Parameters
    ----------
    driver
        Opens connections and commits on them.
    size
        The largest number of connections.
    begin
        Begins a transaction on a connection, given its first statements; returns an object that
        runs statements in it.
    """

    def __init__(self, driver: Driver, size: int, begin: Callable[[Any, First], Any]) -> None:
        self.driver, self.begin = driver, begin
        self._queue = WaitQueue()
        self._slots = [_Slot(self._queue) for _ in range(size)]
        self._campaigns: dict[str, _CampaignLock] = {}

    def transaction(self, campaign: str = "", first: First = ()) -> PooledTransaction:
        """Begin a transaction, one at a time for each campaign."""
        return PooledTransaction(self, self._campaigns.get(campaign) or self._new(campaign), first)

    def concurrent_transaction(self) -> PooledTransaction:
        """Begin a transaction beside any others: one that locks nothing."""
        return PooledTransaction(self, _CampaignLock())

    def _new(self, campaign: str) -> _CampaignLock:
        return self._campaigns.setdefault(campaign, _CampaignLock())

    def acquire(self, frame: Any) -> tuple[_Slot, Claim]:
        """Wait for a slot, the first free one, so that few connections are opened."""
        index, claim = acquire_any([slot.mutex for slot in self._slots], self._queue, frame)
        return self._slots[index], claim

    def close(self) -> None:
        """Close all connections once their transactions have ended."""
        for slot in self._slots:
            claim = slot.mutex.acquire()
            try:
                slot.discard()
            finally:
                claim.release()


class PooledTransaction:
    """Context manager of a transaction: commits, or closes the connection on an error."""

    __slots__ = ("_campaign", "_claim", "_connection", "_first", "_pool", "_slot", "_slot_claim")

    def __init__(self, pool: Pool, campaign: _CampaignLock, first: First = ()) -> None:
        self._pool, self._campaign, self._first = pool, campaign, first
        self._claim: Claim | None = None
        self._slot: _Slot | None = None
        self._slot_claim: Claim | None = None
        self._connection: Any = None

    def __enter__(self) -> Any:
        driver = self._pool.driver
        try:
            self._claim = self._campaign.mutex.acquire()
            if self._campaign.connection is not None:
                self._campaign.connection.close()  # an interrupted transaction: it locks rows
            self._slot, self._slot_claim = self._pool.acquire(self._claim.frame)
            return self._begin(self._slot)
        except BaseException as error:
            self._abandon()
            raise driver.as_store_error(error)  # noqa: B904 (it knows its cause)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        driver = self._pool.driver
        if error is not None:
            self._abandon()
            if (other := driver.as_store_error(error)) is not error:
                raise other
            return
        try:
            driver.commit(self._connection)
        except BaseException as reason:
            self._abandon()
            raise driver.as_store_error(reason)  # noqa: B904
        self._end(clean=True)

    def _begin(self, slot: _Slot) -> Any:
        """Begin on the connection of a slot, or on a new one if the server has ended that.

        A server that was restarted has ended all of them. Nothing was executed yet, so that the
        caller gets no error.
        """
        driver, pooled = self._pool.driver, slot.is_clean()
        self._connection = self._campaign.connection = slot.take(driver.connect)
        try:
            return self._pool.begin(self._connection, self._first)
        except Exception as error:
            if not (pooled and driver.was_lost(self._connection, error)):
                raise
        self._connection = self._campaign.connection = slot.take(driver.connect)
        return self._pool.begin(self._connection, self._first)

    def _abandon(self) -> None:
        """Close the connection, which undoes the transaction, and release the locks."""
        try:
            if self._connection is not None:
                self._connection.close()
        finally:
            self._end(clean=False)

    def _end(self, *, clean: bool) -> None:
        """Release the locks, after the connection was closed or has committed."""
        if self._claim is not None and not self._claim.next:
            self._campaign.connection = None
        if clean and self._slot and self._slot_claim and not self._slot_claim.next:
            self._slot.put_back()
        release(self._slot_claim, self._claim)
