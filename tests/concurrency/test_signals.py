"""Errors of signal handlers are recognised, and reach the caller that was interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from support.agents import AgentFactory, replayed_state
from support.interrupts import elsewhere

import almoner as al
from almoner.concurrency.signals import raise_from_handler
from almoner.live.reports.history import History
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import read_snapshot, write_snapshot
from almoner.live.transactions.commands import Read
from almoner.live.transactions.transaction import Command, Decide
from almoner.store.events import Event


class Limit(ValueError):
    """Error of a soft time limit, of a type that damaged logs raise too."""


def strike(*arguments: object) -> None:
    raise Limit


class Clock:
    """A time limit as an object."""

    def strike(self, number: int, frame: object) -> None:
        strike()

    __call__ = strike


HANDLERS = [strike, Clock().strike, Clock(), partial(partial(strike), "limit")]


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, strike)
    yield
    signal.signal(signal.SIGUSR1, before)


def interrupt() -> None:
    """Send a signal to the main thread, which is this one."""
    signal.raise_signal(signal.SIGUSR1)


class Striking(list[Any]):
    """A list that is interrupted after its last element."""

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        interrupt()


def caught(function: Callable[[], object]) -> Exception:
    """Return the error that a function raises."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        function()
    return raised.value


@pytest.mark.parametrize("handler", HANDLERS)
def test_errors_of_handlers_of_any_kind_are_raised_again(handler: Any) -> None:
    signal.signal(signal.SIGUSR1, handler)
    error = caught(interrupt)
    with pytest.raises(Limit) as raised:
        raise_from_handler(error)
    assert raised.value is error


def test_the_error_of_a_handler_is_found_behind_another_one() -> None:
    def refuse() -> None:
        try:
            interrupt()
        except ValueError:
            raise KeyError("a bad value")  # noqa: B904

    error = caught(refuse)
    with pytest.raises(Limit) as raised:
        raise_from_handler(error)
    assert raised.value is error.__context__


def test_other_errors_are_left_to_the_code_that_caught_them() -> None:
    for function in (lambda: int("x"), lambda: float("y"), lambda: 1 // 0):
        raise_from_handler(caught(function))
    error = caught(lambda: int("x"))
    error.__cause__ = error
    raise_from_handler(error)
    elsewhere(lambda: raise_from_handler(caught(strike)))  # handlers run in the main thread only


def test_a_handler_interrupts_the_leader_and_not_the_caller_it_works_for(
    factory: AgentFactory,
) -> None:
    """Nothing of the transaction is carried out, and the next one works."""
    agent = factory.create()
    callers: list[list[Command]] = [
        [Decide("new")],
        [Decide("new", Striking(["mail"]))],
        [Read(lambda campaign: 1)],
    ]
    answers = agent.ask_all(callers)
    assert [type(answer) for answer in answers] == [Limit] * 3
    assert agent.decide("new").id == 1
    assert agent.look(Campaign.to_dict) | {"log": [*agent.events()]} == replayed_state(agent)


def test_an_error_of_a_caller_s_own_object_is_the_caller_s(memory: AgentFactory) -> None:
    class Failing(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise Limit

    agent = memory.create()
    (first,), error = agent.ask_all([[Decide("new")], [Decide("new", Failing())]])
    assert first.id == 1
    assert isinstance(error, Limit)


def test_an_interrupt_is_no_damage_of_a_log_or_a_snapshot(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = memory.create()
    agent.decide_many(["new"] * 3)
    events: list[Event] = Striking(agent.events())
    campaign = Campaign(agent.terms)
    for fold in (campaign.apply, History(agent.terms).apply):
        with pytest.raises(Limit):
            fold(events)
    snapshot = agent.look(write_snapshot)
    monkeypatch.setattr(Campaign, "restore", lambda *arguments: interrupt())
    with pytest.raises(Limit):
        read_snapshot(campaign, snapshot)


def test_the_type_of_an_id_fails_before_a_transaction_is_shared(memory: AgentFactory) -> None:
    class Rude(int):
        def __abs__(self) -> int:
            raise ArithmeticError("no")

    class Ruder(Rude):
        def __int__(self) -> int:
            raise ArithmeticError("never")

    agent = memory.create()
    decision = agent.decide("new").id
    agent.reward(Rude(decision), 1.0)
    assert agent.settle(Rude(decision), cost=1).id == decision
    for ask in (agent.cancel, partial(agent.settle, cost=1), partial(agent.reward, value=1)):
        with pytest.raises(ArithmeticError, match="never"):
            ask(Ruder(decision))
    with pytest.raises(al.UnknownDecision, match="no decision 9 "):
        agent.cancel(Rude(9))
