"""PostgreSQL connections cut, or stalled, at every message of every kind of operation.

An operation cut before its commit reaches the server has no effect; cut at the confirmation, it has
one. The caller gets an error and repeats it, and it takes effect once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.acknowledgements import Acknowledgement, check_log
from support.agents import assert_sentence
from support.postgres_proxy import BACKEND, BEFORE, FRONTEND, HALFWAY, STALL, Fault, Proxy
from support.postgres_server import fresh_database, postgres_url
from support.workload import CONTEXTS, NAME, TERMS

from almoner import Agent, StoreError
from almoner.store.events import CANCELLED, REWARDED, SETTLED

CAMPAIGN_TERMS = {**TERMS, "horizon": 100_000, "budget": 100_000}
ENOUGH = 400
"""More messages than any operation sends."""


@dataclass
class Bench:
    """An agent behind the proxy, one connected directly, and the acknowledgements of both."""

    proxy: Proxy
    direct: Agent
    agent: Agent
    acknowledged: list[Acknowledgement] = field(default_factory=list)
    numbers: int = 0

    def number(self) -> int:
        """Return an unused number for a key."""
        self.numbers += 1
        return self.numbers

    def length(self) -> int:
        """Return the length of the log."""
        return int(self.direct.look(lambda campaign: campaign.seq))

    def target(self) -> int:
        """Decide with the direct agent, and return the id."""
        decision = self.direct.decide(CONTEXTS[0], available=["mail"])
        assert decision.action == "mail"
        self.acknowledged.append(Acknowledgement.of(decision, None))
        return decision.id


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    url = fresh_database(postgres_url())
    with (
        closing(Proxy(url)) as proxy,
        Agent.open(url, name=NAME, **CAMPAIGN_TERMS) as direct,
        Agent.open(proxy.url, name=NAME) as agent,
    ):
        yield Bench(proxy, direct, agent)


Work = tuple[Callable[[Agent], Any], Callable[[Any], list[Acknowledgement]], int]
"""A call of an agent, its acknowledgements by answer, and the number of events it appends."""


def decide(bench: Bench) -> Work:
    number = bench.number()
    context, key = CONTEXTS[number % 3], f"visit-{number}"
    return (
        lambda agent: agent.decide(context, key=key),
        lambda one: [Acknowledgement.of(one, key)],
        1,
    )


def decide_many(bench: Bench) -> Work:
    keys = [f"batch-{bench.number()}" for _ in CONTEXTS]
    return (
        lambda agent: agent.decide_many(CONTEXTS, keys=keys),
        lambda decisions: [Acknowledgement.of(*pair) for pair in zip(decisions, keys, strict=True)],
        len(keys),
    )


def settle(bench: Bench) -> Work:
    target, bill = bench.target(), (0.4, 1.7)[bench.number() % 2]
    answer = Acknowledgement(SETTLED, target, amount=bill)
    return lambda agent: agent.settle(target, cost=bill), lambda _: [answer], 1


def reward(bench: Bench) -> Work:
    target = bench.target()
    return (
        lambda agent: agent.reward(target, 0.5),
        lambda _: [Acknowledgement(REWARDED, target, amount=0.5)],
        1,
    )


def cancel(bench: Bench) -> Work:
    target = bench.target()
    return lambda agent: agent.cancel(target), lambda _: [Acknowledgement(CANCELLED, target)], 1


def pause(bench: Bench) -> Work:
    bench.direct.resume()
    return Agent.pause, lambda _: [], 1


def create(bench: Bench) -> Work:
    """Create another campaign, on a new connection."""
    name = f"campaign-{bench.number()}"

    def work(agent: Agent) -> None:
        where = bench.proxy.url if agent is bench.agent else bench.direct.store
        with Agent.open(where, name=name, **CAMPAIGN_TERMS) as created:
            assert created.ledger.left == created.ledger.budget
        assert bench.direct.store.campaigns().count(name) == 1

    return work, lambda _: [], 0


OPERATIONS = [decide, decide_many, settle, reward, cancel, pause, create]


def strike(bench: Bench, prepare: Callable[[Bench], Work], fault: Fault) -> bool:
    """Perform an operation under a fault, repeat it, and return whether the fault struck."""
    ask, acknowledged, events = prepare(bench)
    before = bench.length()
    bench.proxy.arm(fault)
    error = answer = None
    try:
        answer = ask(bench.agent)
    except StoreError as reason:
        error = reason
        assert_sentence(reason)
    bench.proxy.disarm()
    happened = bench.length() - before
    assert happened in {0, events}, "it took effect in part"
    if error is None:
        assert happened == events, "it was acknowledged and lost"
    elif fault.struck is None or fault.how == STALL:
        raise AssertionError("an error without a cause") from error
    elif fault.at_commit and fault.sender == BACKEND:
        assert happened == events, "it was committed and lost"
    elif not fault.commit_asked:
        assert happened == 0, "it took effect without a commit"
    again = ask(bench.agent)
    assert error is not None or answer == again
    assert ask(bench.direct) == again
    assert bench.length() == before + events, "it took effect twice"
    bench.acknowledged += acknowledged(again)
    return fault.struck is not None


WAYS = [(sender, how) for sender in (FRONTEND, BACKEND) for how in (BEFORE, HALFWAY)]


@pytest.mark.parametrize("prepare", OPERATIONS, ids=lambda prepare: prepare.__name__)
def test_an_operation_cut_at_any_message_happens_once(
    prepare: Callable[[Bench], Work], bench: Bench
) -> None:
    step = 5 if prepare is create else 1  # it sends four times as many messages
    struck: list[Fault] = []
    for offset, (sender, how) in enumerate(WAYS):
        for number in range(1 + offset % step, ENOUGH, step):
            fault = Fault(sender, number, how)
            if not strike(bench, prepare, fault):
                break
            struck.append(fault)
    commits = {(fault.sender, fault.how) for fault in struck if fault.at_commit}
    assert commits == {*WAYS} or prepare is create
    assert len(struck) > 32  # every message, of which a transaction takes eight or more
    bench.direct.resume()
    check_log(bench.direct.store, NAME, bench.acknowledged)


def test_a_stall_at_any_message_is_waited_for(bench: Bench) -> None:
    stalled = 0
    for sender in (FRONTEND, BACKEND):
        for number in range(1, ENOUGH):
            if not strike(bench, decide, Fault(sender, number, STALL)):
                break
            stalled += 1
    assert stalled > 16
    check_log(bench.direct.store, NAME, bench.acknowledged)
