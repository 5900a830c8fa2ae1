"""Group commit: callers share transactions, and none of them waits for ever, whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from support.interrupts import Interrupt, elsewhere, interrupted
from support.waiting import wait_until

from almoner.concurrency.mutex import Wakeup, release
from almoner.errors import Conflict, StoreError
from almoner.live.transactions.group_commit import GroupCommit, _Call


class FakeStore:
    """Runs transactions, each only after a signal; the answer to a command is the command."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.inside, self.go_on = Event(), Event()
        self.error: BaseException | None = None
        self._next_error: BaseException | None = None

    def go_on_with(self, error: BaseException) -> None:
        """Let the present transaction commit, and let the next one fail."""
        self._next_error = error
        self.go_on.set()

    def transact(self, callers: list[Sequence[Any]]) -> list[Any]:
        self.batches.append([command for commands in callers for command in commands])
        self.inside.set()
        assert self.go_on.wait(60)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        self.error, self._next_error = self._next_error, None
        return [ValueError(*names) if "bad" in names else list(names) for names in callers]


def submit_in_order(
    pool: ThreadPoolExecutor, commits: GroupCommit, store: FakeStore, names: list[str]
) -> list[Future[Any]]:
    """Let the first caller lead, and queue all others before its transaction commits."""
    futures = [pool.submit(commits.submit, (names[0],))]
    assert store.inside.wait(60)
    for count, name in enumerate(names[1:], 1):
        futures.append(pool.submit(commits.submit, (name,)))
        wait_for(commits, count)
    return futures


def wait_for(commits: GroupCommit, callers: int) -> None:
    """Wait until so many callers queue behind the leader."""
    wait_until(
        lambda: sum(len(call.callers) for call in commits._queue) >= callers, "the callers queue"
    )


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def test_callers_during_a_transaction_share_the_next_one(store: FakeStore) -> None:
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(4) as pool:
        futures = submit_in_order(pool, commits, store, ["a", "b", "c", "d"])
        store.go_on.set()
        assert [future.result() for future in futures] == [["a"], ["b"], ["c"], ["d"]]
    assert store.batches == [["a"], ["b", "c", "d"]]


def test_an_error_is_its_callers_alone(store: FakeStore) -> None:
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(3) as pool:
        futures = submit_in_order(pool, commits, store, ["a", "bad", "c"])
        store.go_on.set()
        with pytest.raises(ValueError, match="bad"):
            futures[1].result()
        assert futures[2].result() == ["c"]


def test_a_failed_transaction_raises_and_the_next_one_works(store: FakeStore) -> None:
    commits = GroupCommit(store.transact)
    store.error = OSError("the disk is full")
    store.go_on.set()
    with pytest.raises(OSError, match="full"):
        commits.submit(("a",))
    assert commits.submit(("b",)) == ["b"]


def test_callers_behind_an_interrupted_leader_are_answered(store: FakeStore) -> None:
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(3) as pool:
        futures = submit_in_order(pool, commits, store, ["a", "b", "c"])
        store.error = KeyboardInterrupt()
        store.go_on.set()
        with pytest.raises(KeyboardInterrupt):
            futures[0].result()
        assert [future.result() for future in futures[1:]] == [["b"], ["c"]]
    assert commits.submit(("d",)) == ["d"]


def test_a_single_caller_waits_for_nobody(
    store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Wakeup, "wait", None)
    commits = GroupCommit(store.transact)
    store.go_on.set()
    assert commits.submit(("a",)) == ["a"]
    assert commits.submit_all([("b",), ("c", "d")]) == [["b"], ["c", "d"]]
    assert store.batches == [["a"], ["b", "c", "d"]]


def test_followers_get_the_error_of_a_shared_transaction(store: FakeStore) -> None:
    """To them it is an error of the store, and not an interrupt."""
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(3) as pool:
        futures = submit_in_order(pool, commits, store, ["a", "b", "c"])
        store.go_on_with(ValueError("unmarshallable object"))
        assert futures[0].result() == ["a"]
        assert isinstance(futures[1].exception(), ValueError)
        error = futures[2].exception()
    assert isinstance(error, StoreError)
    assert "ValueError('unmarshallable object')" in str(error)
    assert "interrupted" not in str(error)


def test_followers_of_an_interrupted_leader_are_told_that_it_may_have_committed(
    store: FakeStore,
) -> None:
    """All callers get an error of the store; only the leader gets its interrupt."""
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(3) as pool:
        for error, followers in ((KeyboardInterrupt(), StoreError), (Conflict("x"), Conflict)):
            store.inside.clear()
            store.go_on.clear()
            futures = submit_in_order(pool, commits, store, ["a", "b", "c"])
            store.go_on_with(error)
            assert futures[0].result() == ["a"]
            assert isinstance(futures[1].exception(), type(error))
            assert isinstance(futures[2].exception(), followers)
    assert commits.submit(("d",)) == ["d"]


def test_a_call_from_within_a_transaction_is_refused() -> None:
    """It would be a deadlock."""
    errors: list[BaseException] = []

    def serve(callers: list[Sequence[Any]]) -> list[Any]:
        with pytest.raises(StoreError, match="inside another one of the same thread") as raised:
            commits.submit(("b",))
        errors.append(raised.value)
        return [list(commands) for commands in callers]

    commits = GroupCommit(serve)
    assert commits.submit(("a",)) == ["a"]
    assert commits.submit(("c",)) == ["c"]
    assert len(errors) == 2


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()])
def test_several_callers_at_once_get_the_error(store: FakeStore, error: BaseException) -> None:
    commits = GroupCommit(store.transact)
    store.error = error
    store.go_on.set()
    assert commits.submit_all([("a",), ("b", "c")]) == [error, error]
    assert commits.submit_all([("d",)]) == [["d"]], "the leader lock is free again"


def test_several_callers_at_once_queue_like_one(store: FakeStore) -> None:
    commits = GroupCommit(store.transact)
    with ThreadPoolExecutor(3) as pool:
        futures = submit_in_order(pool, commits, store, ["a", "b"])
        several = pool.submit(commits.submit_all, [("c",), ("bad",)])
        wait_for(commits, 3)
        store.go_on.set()
        assert [future.result() for future in futures] == [["a"], ["b"]]
        assert several.result()[0] == ["c"]
        assert isinstance(several.result()[1], ValueError)
    assert store.batches == [["a"], ["b", "c", "bad"]]


def test_several_callers_at_once_get_an_answer_each(store: FakeStore) -> None:
    store.go_on.set()
    answers = GroupCommit(store.transact).submit_all([("a", "b"), ("bad",), ()])
    assert answers[0] == ["a", "b"]
    assert isinstance(answers[1], ValueError)
    assert answers[2] == []


def answer_all(callers: list[Sequence[Any]]) -> list[Any]:
    return [list(commands) for commands in callers]


def test_a_leader_who_is_interrupted_anywhere_leaves_nobody_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of three followers gets an answer, or an error that says to ask again."""
    monkeypatch.setattr("almoner.live.transactions.group_commit.POLL", 0.001)
    # There is no thread to wait for.
    monkeypatch.setattr("almoner.live.transactions.group_commit.WAKE_TIMEOUT", 0.0)
    commits, done = GroupCommit(answer_all), set[str]()

    def lead(point: int) -> Any:
        commits._queue.extend(followers)
        return commits.submit(("leader",))

    followers = [_Call([(name,)]) for name in "abc"]
    for error in interrupted(lead):
        assert elsewhere(lambda: commits.submit(("next",))) == ["next"]
        assert commits.submit(("same thread",)) == ["same thread"]
        for follower, name in zip(followers, "abc", strict=True):
            (answer,) = follower.answers or [None]
            assert answer == [name] or isinstance(answer, StoreError)
            done.add(type(answer).__name__)
        assert not commits._queue
        assert error is None or isinstance(error, Interrupt)
        followers = [_Call([(name,)]) for name in "abc"]
    assert {"list", "StoreError"} <= done


def test_a_follower_who_is_interrupted_anywhere_blocks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("almoner.live.transactions.group_commit.POLL", 0.001)
    commits = GroupCommit(answer_all)
    points = 0
    for _ in interrupted(lambda point: follow(commits, point)):
        points += 1
        assert elsewhere(lambda: commits.submit(("next",))) == ["next"]
        assert not commits._queue
        if points == 400:  # several rounds of waiting
            break
    assert points == 400


def follow(commits: GroupCommit, point: int) -> None:
    """Submit while another thread leads for ever."""
    inside, go_on = Event(), Event()

    def lead() -> None:
        claim = commits._leader.acquire(sys._getframe())
        inside.set()
        go_on.wait(60)
        release(claim)

    leader = Thread(target=lead)
    leader.start()
    inside.wait(60)
    try:
        commits.submit(("follower",))
    finally:
        go_on.set()
        leader.join()
