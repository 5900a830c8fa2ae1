"""Turns: callers share transactions, and none of them waits for ever, whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from support.interrupts import Interrupt, elsewhere, interrupted

from almoner.concurrency.mutex import Signal
from almoner.errors import Conflict, StoreError
from almoner.live.group_commit import Turns, _Call


class Clerk:
    """Serves batches, each only when it is told to; answers with what was asked."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.inside, self.go_on = Event(), Event()
        self.error: BaseException | None = None
        self._next_error: BaseException | None = None

    def go_on_with(self, error: BaseException) -> None:
        """Let the present batch through, and have the one after it fail."""
        self._next_error = error
        self.go_on.set()

    def serve(self, callers: list[Sequence[Any]]) -> list[Any]:
        self.batches.append([request for requests in callers for request in requests])
        self.inside.set()
        assert self.go_on.wait(60)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        self.error, self._next_error = self._next_error, None
        return [ValueError(*asked) if "bad" in asked else list(asked) for asked in callers]


def ask_in_order(
    pool: ThreadPoolExecutor, turns: Turns, clerk: Clerk, names: list[str]
) -> list[Future[Any]]:
    """Let the first one in, and have all others wait before it comes out."""
    asked = [pool.submit(turns.ask, (names[0],))]
    assert clerk.inside.wait(60)
    for place, name in enumerate(names[1:], 1):
        asked.append(pool.submit(turns.ask, (name,)))
        wait_for(turns, place)
    return asked


def wait_for(turns: Turns, callers: int) -> None:
    """Wait until so many callers queue behind the one who is served."""
    while sum(len(call.asked) for call in turns._queue) < callers:
        time.sleep(0)


@pytest.fixture
def clerk() -> Clerk:
    return Clerk()


def test_whoever_comes_during_a_transaction_shares_the_next_one(clerk: Clerk) -> None:
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(4) as pool:
        asked = ask_in_order(pool, turns, clerk, ["a", "b", "c", "d"])
        clerk.go_on.set()
        assert [future.result() for future in asked] == [["a"], ["b"], ["c"], ["d"]]
    assert clerk.batches == [["a"], ["b", "c", "d"]]


def test_an_error_is_its_callers_alone(clerk: Clerk) -> None:
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(3) as pool:
        asked = ask_in_order(pool, turns, clerk, ["a", "bad", "c"])
        clerk.go_on.set()
        with pytest.raises(ValueError, match="bad"):
            asked[1].result()
        assert asked[2].result() == ["c"]


def test_all_hear_of_a_transaction_that_failed_and_the_next_one_works(clerk: Clerk) -> None:
    turns = Turns(clerk.serve)
    clerk.error = OSError("the disk is full")
    clerk.go_on.set()
    with pytest.raises(OSError, match="full"):
        turns.ask(("a",))
    assert turns.ask(("b",)) == ["b"]


def test_those_behind_one_who_is_interrupted_are_served(clerk: Clerk) -> None:
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(3) as pool:
        asked = ask_in_order(pool, turns, clerk, ["a", "b", "c"])
        clerk.error = KeyboardInterrupt()
        clerk.go_on.set()
        with pytest.raises(KeyboardInterrupt):
            asked[0].result()
        assert [future.result() for future in asked[1:]] == [["b"], ["c"]]
    assert turns.ask(("d",)) == ["d"]


def test_nobody_waits_where_there_is_nobody_to_share_with(
    clerk: Clerk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Signal, "wait", None)
    turns = Turns(clerk.serve)
    clerk.go_on.set()
    assert turns.ask(("a",)) == ["a"]
    assert turns.ask_all([("b",), ("c", "d")]) == [["b"], ["c", "d"]]
    assert clerk.batches == [["a"], ["b", "c", "d"]]


def test_followers_are_told_which_error_a_shared_transaction_met(clerk: Clerk) -> None:
    """It is an error of the store's to them, and is not taken for an interrupt."""
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(3) as pool:
        asked = ask_in_order(pool, turns, clerk, ["a", "b", "c"])
        clerk.go_on_with(ValueError("unmarshallable object"))
        assert asked[0].result() == ["a"]
        assert isinstance(asked[1].exception(), ValueError)
        said = asked[2].exception()
    assert isinstance(said, StoreError)
    assert "ValueError('unmarshallable object')" in str(said)
    assert "interrupted" not in str(said)


def test_followers_of_one_who_is_interrupted_are_told_that_it_may_have_been_done(
    clerk: Clerk,
) -> None:
    """An error of the store is everybody's; an interrupt is its caller's alone."""
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(3) as pool:
        for error, followers in ((KeyboardInterrupt(), StoreError), (Conflict("x"), Conflict)):
            clerk.inside.clear()
            clerk.go_on.clear()
            asked = ask_in_order(pool, turns, clerk, ["a", "b", "c"])
            clerk.go_on_with(error)
            assert asked[0].result() == ["a"]
            assert isinstance(asked[1].exception(), type(error))
            assert isinstance(asked[2].exception(), followers)
    assert turns.ask(("d",)) == ["d"]


def test_one_who_asks_from_within_is_told() -> None:
    """It would wait for itself."""
    told: list[BaseException] = []

    def serve(callers: list[Sequence[Any]]) -> list[Any]:
        with pytest.raises(StoreError, match="inside another one of the same thread") as raised:
            turns.ask(("b",))
        told.append(raised.value)
        return [list(asked) for asked in callers]

    turns = Turns(serve)
    assert turns.ask(("a",)) == ["a"]
    assert turns.ask(("c",)) == ["c"]
    assert len(told) == 2


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()])
def test_several_callers_at_once_are_handed_what_went_wrong(
    clerk: Clerk, error: BaseException
) -> None:
    turns = Turns(clerk.serve)
    clerk.error = error
    clerk.go_on.set()
    assert turns.ask_all([("a",), ("b", "c")]) == [error, error]
    assert turns.ask_all([("d",)]) == [["d"]], "the door is open again"


def test_several_callers_at_once_wait_their_turn_like_one(clerk: Clerk) -> None:
    turns = Turns(clerk.serve)
    with ThreadPoolExecutor(3) as pool:
        asked = ask_in_order(pool, turns, clerk, ["a", "b"])
        several = pool.submit(turns.ask_all, [("c",), ("bad",)])
        wait_for(turns, 3)
        clerk.go_on.set()
        assert [future.result() for future in asked] == [["a"], ["b"]]
        assert several.result()[0] == ["c"]
        assert isinstance(several.result()[1], ValueError)
    assert clerk.batches == [["a"], ["b", "c", "bad"]]


def test_several_callers_at_once_get_an_answer_each(clerk: Clerk) -> None:
    clerk.go_on.set()
    answers = Turns(clerk.serve).ask_all([("a", "b"), ("bad",), ()])
    assert answers[0] == ["a", "b"]
    assert isinstance(answers[1], ValueError)
    assert answers[2] == []


def answer_all(callers: list[Sequence[Any]]) -> list[Any]:
    return [list(asked) for asked in callers]


def test_a_leader_who_is_interrupted_anywhere_leaves_nobody_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three follow; afterwards each has an answer or was told to ask again."""
    monkeypatch.setattr("almoner.live.group_commit.POLL", 0.001)
    turns, done = Turns(answer_all), set[str]()

    def lead(point: int) -> Any:
        turns._queue.extend(followers)
        return turns.ask(("leader",))

    followers = [_Call([(name,)]) for name in "abc"]
    for error in interrupted(lead):
        assert elsewhere(lambda: turns.ask(("next",))) == ["next"]
        assert turns.ask(("same thread",)) == ["same thread"]
        for follower, name in zip(followers, "abc", strict=True):
            (answer,) = follower.answers or [None]
            assert answer == [name] or isinstance(answer, StoreError)
            done.add(type(answer).__name__)
        assert not turns._queue
        assert error is None or isinstance(error, Interrupt)
        followers = [_Call([(name,)]) for name in "abc"]
    assert {"list", "StoreError"} <= done


def test_a_follower_who_is_interrupted_anywhere_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("almoner.live.group_commit.POLL", 0.001)
    turns = Turns(answer_all)
    points = 0
    for _ in interrupted(lambda point: follow(turns, point)):
        points += 1
        assert elsewhere(lambda: turns.ask(("next",))) == ["next"]
        assert not turns._queue
        if points == 400:  # several rounds of waiting
            break
    assert points == 400


def follow(turns: Turns, point: int) -> None:
    """Ask while another thread leads for ever."""
    inside, go_on = Event(), Event()

    def lead() -> None:
        claim = turns._leading.acquire(sys._getframe())
        inside.set()
        go_on.wait(60)
        turns._leading.release(claim)

    leader = Thread(target=lead)
    leader.start()
    inside.wait(60)
    try:
        turns.ask(("follower",))
    finally:
        go_on.set()
        leader.join()
