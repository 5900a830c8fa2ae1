"""Interrupts: after an exception at any point of a call, the next call works, nothing is lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from support.agents import TERMS, AgentFactory, agent_factory, replay
from support.interrupts import elsewhere, interrupted
from support.waiting import PATIENCE

from almoner import AsyncAgent
from almoner.concurrency import mutex
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.live.transactions import group_commit

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

STEPS = {"memory": 1, "sqlite": 2, "postgres": 7}
"""Reconnecting to a server takes ten times as long as reopening a file."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice interrupted owners of locks at once."""
    for module in (mutex, group_commit):
        monkeypatch.setattr(module, "POLL", 0.001)
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 50)
    quick = ("journal_mode = WAL", "synchronous = OFF")
    monkeypatch.setattr("almoner.store.sqlite.SETTINGS", quick)


def test_after_an_interrupt_at_any_bytecode_the_next_call_works(factory: AgentFactory) -> None:
    """From another thread, then from the same one with the same key; books and report agree."""
    points = elsewhere(lambda: interrupt_decisions(factory, STEPS[factory.kind]), 600)
    agent = factory.open()
    keyed = [event for event in agent.events() if event.key]
    assert len(keyed) == points
    assert audit(agent.store, factory.name).decisions == 2 * points
    assert points * STEPS[factory.kind] > 100


def interrupt_decisions(factory: AgentFactory, step: int) -> int:
    agent, second = factory.create(horizon=10_000, budget=10_000), factory.open()
    agent.report()  # from now on events are kept for the next one
    kept = None
    for points, error in enumerate(
        interrupted(lambda point: agent.decide("new", key=f"visit {point}"), step), 1
    ):
        kept = error
        other = elsewhere(lambda: agent.decide("returning"))
        again = agent.decide("new", key=f"visit {1 + step * (points - 1)}")
        assert other.id != again.id
    assert kept is None
    assert agent.look(Campaign.to_dict) == replay(agent)
    second.decide("new", key="a second connection")
    agent.decide("returning")
    assert agent.report() == second.report()
    return points + 1


def test_readers_work_after_an_interrupt_at_any_bytecode(memory: AgentFactory) -> None:
    """A report that was interrupted halfway through the log counts nothing twice."""
    agent = memory.create()
    agent.decide_many(["new", "returning", "new"])
    for read in (agent.report, agent.reporter.curve):
        wanted = read()
        for error in interrupted(lambda point: read()):  # noqa: B023
            agent.decide("new", available=[])
            result = elsewhere(read)
            assert error is None or type(result) is type(wanted)
    assert agent.report() == memory.open().report()


def test_stores_work_after_an_interrupt_at_any_bytecode(factory: AgentFactory) -> None:
    """Every call of a store works after an interrupt of another."""
    store, names = factory.store(), list[str]()

    def use(point: int) -> None:
        store.create(f"{factory.name} {point}", "terms")
        with store.writing(factory.name) as writer:
            writer.save_snapshot(f"{point}")
        assert store.terms(factory.name) == "terms"
        assert factory.name in store.campaigns()
        assert list(store.events(factory.name)) == []

    store.create(factory.name, "terms")
    for _ in interrupted(use, STEPS[factory.kind] * 5):
        names.append(factory.name)
        elsewhere(lambda: use(0))
        use(-1)
    with factory.store().writing(factory.name) as writer:
        assert writer.snapshot() == "-1"
    assert len(names) > 10


SIGNALS = """
import signal, sys, threading
from almoner import Agent
from almoner.live.audit import audit

class Limit(Exception):
    "A soft time limit."

def strike(number, frame):
    raise Limit

signal.signal(signal.SIGALRM, strike)
agent = Agent.open(sys.argv[1], name=sys.argv[2])
done, kept, stop, errors = {}, None, threading.Event(), []

def work(thread):
    number = 0
    while not stop.is_set():
        key = f"thread {thread}, {number}"
        number += 1
        for attempt in range(50):
            try:
                done[key] = agent.decide("returning", key=key).id
                break
            except Exception as error:
                # A limit is raised in the main thread alone; others may see it as the cause.
                if "interrupted" not in str(error) and not isinstance(error.__cause__, Limit):
                    errors.append(error)
                    return

threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(3)]
for thread in threads:
    thread.start()
struck = 0
for number in range(300):
    key = f"main {number}"
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + number % 60 * 1e-6 * (1 + number // 60) ** 2)
        done[key] = agent.decide("new", key=key).id
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Limit as error:
        kept, struck = error, struck + 1
        again = agent.decide("new", key=key).id
        assert done.setdefault(key, again) == again
stop.set()
for thread in threads:
    thread.join(60)
    assert not thread.is_alive(), "a thread hangs"
assert not errors, errors
with Agent.open(sys.argv[1], name=sys.argv[2]) as other:
    other.decide("new", key="another connection")
    log = {event.key: event.seq for event in other.events()}
    audit(other.store, sys.argv[2])
assert all(log[key] == decision for key, decision in done.items())
print(struck)
"""


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_signals_strike_anywhere(kind: str) -> None:
    """A time limit raises in the main thread while three other threads share transactions."""
    with agent_factory(kind) as factory:
        url = "memory:" if kind == "memory" else factory.url
        terms = {**TERMS, "horizon": 10**6, "budget": 10**6}
        program = SIGNALS
        if kind == "memory":  # which no other process and no other agent would see
            opened = "Agent.open(sys.argv[1], name=sys.argv[2])"
            program = program.replace(opened, f"Agent.open('memory:', name='m', **{terms})", 1)
            program = program.replace(f"with {opened} as", "with agent as")
            program = program.replace("sys.argv[2]", "'m'")
        else:
            factory.create(**terms)
        command = [sys.executable, "-c", program, str(url), factory.name]
        ran = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert int(ran.stdout) > 0


@pytest.mark.filterwarnings("ignore:coroutine", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_event_loop_goes_on_after_an_interrupt_at_any_bytecode(memory: AgentFactory) -> None:
    """A cancelled caller may have been decided; the same key gets the same decision."""
    memory.create(horizon=10_000, budget=10_000)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda loop, context: None)
        shared = runner.run(AsyncAgent.open(memory.url, name=memory.name))

        async def ask(point: int) -> None:
            asking = loop.create_task(shared.decide("new", key=f"visit {point}"))
            await asyncio.wait([asking], timeout=0.02)
            asking.cancel()
            await asyncio.wait([asking])

        points = 0
        for points, _ in enumerate(interrupted(lambda point: runner.run(ask(point))), 1):
            again = shared.decide("new", key=f"visit {points}")
            assert runner.run(asyncio.wait_for(again, 60)).context == "new"
        runner.run(shared.close())
    assert points > 100
    assert audit(memory.store(), memory.name).decisions == points


@pytest.mark.filterwarnings("ignore:coroutine", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_bytecode_leaves_no_caller_of_an_event_loop_waiting(
    memory: AgentFactory,
) -> None:
    """Three callers share a transaction; each gets a decision or an error."""
    memory.create(horizon=10_000, budget=10_000)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda loop, context: None)
        shared = runner.run(AsyncAgent.open(memory.url, name=memory.name))
        callers: list[asyncio.Task[Any]] = []

        def ask(point: int) -> None:
            callers[:] = [
                loop.create_task(shared.decide("new", key=f"{point} {n}")) for n in range(3)
            ]
            loop.run_until_complete(asyncio.wait(callers, timeout=10))

        points = 0
        for points, _ in enumerate(interrupted(ask), 1):
            callers.append(loop.create_task(shared.decide("new")))
            assert not runner.run(unanswered(callers)), f"after an interrupt at bytecode {points}"
        runner.run(shared.close())
    assert points > 100
    audit(memory.store(), memory.name)


async def unanswered(callers: list[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
    """Return the callers that get no answer."""
    return (await asyncio.wait(callers, timeout=PATIENCE))[1]
