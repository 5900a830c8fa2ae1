"""Forked processes: every call of a child on its parent's agent or store is refused at once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.agents import TERMS, agent_factory
from support.postgres_server import fresh_database, postgres_url

PROGRAM = """
import asyncio, os, signal, sys, threading
from almoner import Agent, AsyncAgent, StoreError
from almoner.store import ApiKey

url, name, terms = sys.argv[1], sys.argv[2], eval(sys.argv[3])

def refused(calls):
    for number, call in enumerate(calls):
        try:
            call()
        except StoreError as error:
            assert "open it in the process that uses it" in str(error), (number, error)
        else:
            raise AssertionError(f"call {number} went through")

def write(store):
    with store.writing(name):
        raise AssertionError("there is a writer")

async def main():
    agent = Agent.open(url, name=name, **terms)
    awaited = AsyncAgent(agent)
    first = await awaited.decide("new")
    await awaited.decide("new")
    rows = agent.store.events(name)
    assert next(rows).seq == 1  # a log that is being read
    store, inside, go_on = agent.store, threading.Event(), threading.Event()

    def look(campaign):
        inside.set()
        go_on.wait(60)

    reader = threading.Thread(target=agent.look, args=(look,))
    reader.start()
    inside.wait(60)
    watcher = threading.Thread(target=agent.reporter.view, args=(look,))  # locks reports
    watcher.start()
    child = os.fork()
    if child == 0:
        signal.alarm(150)  # ends a child that hangs
        refused([
            lambda: agent.decide("new"),
            lambda: agent.decide_many(["new"]),
            lambda: agent.settle(first.id, cost=1),
            lambda: agent.reward(first.id, 1),
            lambda: agent.reward_many({first.id: 1}),
            lambda: agent.cancel(first.id),
            agent.pause, agent.resume, agent.end, agent.report, agent.reporter.curve,
            lambda: agent.status, lambda: agent.ledger, lambda: list(agent.events()),
            lambda: Agent.open(store, name=name),
            lambda: Agent.open(store, name="another", **terms),
            store.campaigns,
            lambda: store.terms(name),
            lambda: store.create("another", "terms"),
            lambda: write(store),
            lambda: store.reading(name).__enter__(),
            lambda: store.events(name),
            lambda: store.last(name),
            lambda: store.outcomes(name, after=0, through=9, last=9),
            lambda: [*store.checked_log(name).chunks()],
            store.api_keys,
            lambda: store.add_key(ApiKey("a", "b", "c", 1)),
            lambda: store.revoke_key("a", 1),
        ])
        for call in (lambda: awaited.decide("new"), awaited.report, awaited.finish):
            try:
                await call()
            except StoreError as error:
                assert "open it in the process that uses it" in str(error)
            else:
                raise AssertionError("an awaited call went through")
        if url != "memory:":  # of which a child has a copy
            refused([lambda: next(rows)])
        await awaited.close()
        agent.close()
        store.close()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    go_on.set()
    reader.join(60), watcher.join(60)
    assert [event.seq for event in rows] == [2]
    assert (await awaited.decide("new")).id == 3
    assert store.campaigns() == [name]
    await awaited.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_a_child_is_told_to_open_the_store_itself(kind: str) -> None:
    """The parent forks while one thread is inside a transaction and another waits."""
    with agent_factory(kind) as factory:
        url = "memory:" if kind == "memory" else str(factory.url)
        if kind == "postgres":  # one of its own
            url = fresh_database(postgres_url())
        command = [sys.executable, "-c", PROGRAM, url, factory.name, repr(TERMS)]
        ran = subprocess.run(command, timeout=200, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
