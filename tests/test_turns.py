"""Group commit: callers share transactions, but not mistakes, and a failure ends nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from agents import FailingStore, Place, folded, standing

import almoner as al
from almoner.requests import Cancel, Decide, Look, Request, Reward, Settle
from almoner.turns import Turns


class Echo:
    """Serves by returning what it is given; what is an exception is an error, or a disaster."""

    def __init__(self) -> None:
        self.served: list[list[Any]] = []
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def __call__(self, callers: list[Sequence[Any]]) -> list[Any]:
        self.served.append([list(requests) for requests in callers])
        self.entered.set()
        assert self.go_on.wait(60)
        if any("disaster" in requests for requests in callers):
            raise al.StoreError("the disk is gone")
        return [
            al.InvalidInput("bad") if "bad" in requests else list(requests) for requests in callers
        ]


def gathered(turns: Turns) -> int:
    """Return how many callers wait for the transaction after the one under way."""
    batch = turns._gathering
    return 0 if batch is None else len(batch.asked)


@contextmanager
def behind_a_slow_one(echo: Echo, turns: Turns) -> Iterator[Callable[[list[Any]], list[Any]]]:
    """Give a function that has many callers wait while one is served, and returns what they hear.

    It is slow until all of them wait.
    """
    with ThreadPoolExecutor(20) as pool:

        def ask(requests: Any) -> Any:
            try:
                return turns.ask([requests])
            except Exception as error:
                return error

        def together(asked: list[Any]) -> list[Any]:
            echo.go_on.clear()
            echo.entered.clear()
            first = pool.submit(ask, "first")
            assert echo.entered.wait(60)
            futures = [pool.submit(ask, requests) for requests in asked]
            while gathered(turns) < len(asked):
                threading.Event().wait(0.001)
            echo.go_on.set()
            first.result()
            return [future.result() for future in futures]

        yield together


def test_everyone_hears_the_answer_to_their_own_question() -> None:
    turns = Turns(Echo())
    assert turns.ask(["a", "b"]) == ["a", "b"]
    assert turns.ask([]) == []
    with pytest.raises(al.InvalidInput):
        turns.ask(["bad"])
    first, second, third = turns.ask_all([["a"], ["bad"], ["c"]])
    assert (first, third) == (["a"], ["c"])
    assert isinstance(second, al.InvalidInput)


def test_all_who_wait_are_served_together() -> None:
    echo = Echo()
    turns = Turns(echo)
    with behind_a_slow_one(echo, turns) as together:
        for _ in range(3):
            echo.served.clear()
            asked = [f"caller {number}" for number in range(12)]
            assert together(asked) == [[name] for name in asked]
            assert echo.served[0] == [["first"]]
            assert sorted(requests[0] for requests in echo.served[1]) == sorted(asked)
            assert len(echo.served) == 2


def test_one_callers_mistake_is_its_own() -> None:
    echo = Echo()
    turns = Turns(echo)
    with behind_a_slow_one(echo, turns) as together:
        one, two, three = together(["good", "bad", "fine"])
    assert (one, three) == (["good"], ["fine"])
    assert isinstance(two, al.InvalidInput)


def test_a_disaster_is_heard_by_all_and_over_afterwards() -> None:
    echo = Echo()
    turns = Turns(echo)
    with behind_a_slow_one(echo, turns) as together:
        for answer in together(["good", "disaster", "fine"]):
            assert isinstance(answer, al.StoreError)
        assert together(["good", "fine"]) == [["good"], ["fine"]]
    assert turns.ask(["alone"]) == ["alone"]


def test_a_transaction_that_fails_leaves_no_trace_and_the_agent_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.agent.SNAPSHOT_EVERY", 3)
    store = FailingStore(place.create().store)
    agent = al.Agent.open(store, name=place.name)
    decision = agent.decide("new")
    for ask in (
        lambda: agent.decide("new", key="k"),
        lambda: agent.decide_many(["new", "returning"] * 5),
        lambda: agent.reward(decision.id, 1.0),
        lambda: agent.settle(decision.id, cost=99),
        lambda: agent.cancel(decision.id),
        agent.pause,
        agent.end,
    ):
        before = standing(agent)
        store.failures = 1
        with pytest.raises(al.StoreError, match="the disk is full"):
            ask()
        assert standing(agent) == before == standing(place.open())
    assert agent.decide("new", key="k").id == 2
    agent.decide_many(["new", "returning"] * 5)
    agent.reward(decision.id, 1.0)
    assert standing(agent) == standing(place.open()) == folded(agent)


def test_a_batch_of_one_caller_is_refused_where_it_contradicts_itself(place: Place) -> None:
    """Everything is checked before anything is done, so two requests could each seem fine."""
    agent = place.create()
    held = agent.decide("new").id
    contradictions: list[list[Request]] = [
        [Settle(held, 1), Settle(held, 2)],
        [Reward(held, 1), Reward(held, 0)],
        [Cancel(held), Settle(held, 1)],
        [Reward(held, 1), Cancel(held)],
        [Settle(held, 1), Reward(held, float("nan"))],
    ]
    before = standing(agent)
    for batch in contradictions:
        alone, fine = agent.ask_all([batch, [Look(lambda campaign: campaign.seq)]])
        assert isinstance(alone, al.AlmonerError)
        assert fine == [1]
        assert standing(agent) == before
    (both,) = agent.ask_all([[Settle(held, 1), Reward(held, 1)]])
    assert both[0].billed == 1.0
    assert standing(agent) == folded(agent)


def test_callers_of_one_transaction_see_each_other(place: Place) -> None:
    """The second caller's key was decided by the first; the third's contradicts it."""
    agent = place.create()
    first, second, third, fourth, fifth = agent.ask_all(
        [
            [Decide("new", None, "k")],
            [Decide("new", None, "k"), Decide("returning")],
            [Decide("returning", None, "k")],
            [Settle(1, 1)],
            [Look(lambda campaign: 1 / 0)],
        ]
    )
    assert first[0] == second[0]
    assert second[1].id == 2
    assert isinstance(third, al.Conflict)
    assert isinstance(fourth, al.UnknownDecision)  # ids are known once they are durable
    assert isinstance(fifth, ZeroDivisionError)
    assert agent.ledger.reserved == 2_000_000


def test_many_threads_on_one_agent_spend_no_more_than_there_is(place: Place) -> None:
    """Eight threads ask 25 times each for one of 90: everything that is spent is in the log."""
    agent = place.create(actions={"mail": 1}, horizon=200, budget=90, policy="greedy")

    def work(thread: int) -> list[al.Decision]:
        done = []
        for number in range(25):
            decision = agent.decide("new", key=f"{thread}-{number}")
            agent.reward(decision.id, number % 2)
            done.append(decision)
        return done

    with ThreadPoolExecutor(8) as pool:
        decisions = [decision for done in pool.map(work, range(8)) for decision in done]
    assert len({decision.id for decision in decisions}) == 200
    served = [decision for decision in decisions if decision.action]
    assert agent.ledger == (90_000_000, 0, len(served) * 10**6, len(served) * 10**6)
    assert len(served) <= 90
    assert standing(agent) == standing(place.open()) == folded(agent)
