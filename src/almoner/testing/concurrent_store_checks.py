"""Checks of a store under concurrency: readers, writers, agents, forked processes."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from threading import Thread
from typing import Any

from almoner.errors import StoreError
from almoner.live.agent import Agent
from almoner.live.audit import audit
from almoner.store.base import Store
from almoner.store.events import REWARDED, SETTLED, Event
from almoner.testing.store_opener import DECISION, LOG, SKIP, TERMS, Opener, require

__all__ = ["CONCURRENT_CHECKS"]

PATIENCE = 60.0
"""Seconds after which a call is taken to wait for ever."""


def _check_reading(opener: Opener) -> None:
    with opener.campaign() as (store, name), opener.store() as other:
        with store.writing(name) as writer:
            writer.append([DECISION])
        with other.reading(name) as reader:
            before = reader.events(0), reader.snapshot()
            with store.writing(name) as writer:
                writer.append([SKIP])
                writer.save_snapshot("after")
                [seen] = _in_threads([partial(_read, other, name)])  # beside the writer
                require(seen == [DECISION], "shows events before they are committed")
            after = reader.events(0), reader.snapshot()
            require(before == after == ([DECISION], None), "shows a reader more than one state")
        require(_read(other, name) == LOG[:2], "does not show committed events")


def _read(store: Store, name: str) -> list[Event]:
    with store.reading(name) as reader:
        events = reader.events(0)
    require([*store.events(name)] == events, "shows two readers different logs")
    return events


def _check_one_writer(opener: Opener) -> None:
    def add(store: Store, name: str) -> None:
        with store.writing(name) as writer:
            seq = len(writer.events(0)) + 1
            time.sleep(0.001)  # for another writer to read the same
            writer.append([SKIP._replace(seq=seq, decision=seq)])

    with opener.campaign() as (store, name), opener.store() as other:
        _in_threads([partial(add, (store, other)[n % 2], name) for n in range(32)])
        numbers = [event.seq for event in store.events(name)]
        require(numbers == [*range(1, 33)], "lets two writers write at a time")


def _check_agents(opener: Opener) -> None:
    """Check that two agents, used by several threads, charge each key once, within the budget."""
    terms: dict[str, Any] = {"contexts": ["new"], "actions": {"coupon": 3}, "horizon": 12}
    with opener.campaign() as (store, unused), opener.store() as other:
        name = f"{unused} agents"
        agents = [
            Agent.open(part, name=name, budget=20, seed=1, **terms) for part in (store, other)
        ]
        decisions = _in_threads(
            [
                partial(agent.decide, "new", key=f"visit {visit}")
                for visit in range(12)
                for agent in (*agents, *agents)
            ]
        )
        for first, *others in (decisions[start : start + 4] for start in range(0, 48, 4)):
            require(others == [first] * 3, "makes two decisions for one key")
        taken = [decision for decision in decisions[::4] if decision.action is not None]
        require(0 < 3 * len(taken) <= 20, "spends more than the budget")
        agents[0].settle(taken[0].id, cost=1)
        agents[1].reward(taken[0].id, 0.5)
        kinds = [event.kind for event in store.events(name)]
        require(
            (len(kinds), kinds.count(SETTLED), kinds.count(REWARDED)) == (14, 1, 1),
            "logs other events than happened",
        )
        with opener.store() as reopened:
            balance, report = audit(reopened, name), agents[0].report()
            require((balance.spent, balance.decisions) == (1_000_000, 12), "loses decisions")
            require(report.spent + report.reserved + report.left == 20.0, "loses money")


def _check_forks(opener: Opener) -> None:
    if not hasattr(os, "fork"):
        return
    with opener.campaign() as (store, name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of other threads
            child = os.fork()
        if child == 0:
            refused = False
            try:
                store.terms(name)
            except StoreError:
                refused = True
            finally:
                os._exit(0 if refused else 1)
        _, status = os.waitpid(child, 0)
        require(os.waitstatus_to_exitcode(status) == 0, "works on in a forked child")
        require(store.terms(name) == TERMS, "fails after a fork")


def _in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return the results of calls, each in a thread of its own; refuse to wait for ever."""
    results: list[Any] = [None] * len(calls)

    def run(index: int) -> None:
        try:
            results[index] = calls[index]()
        except BaseException as error:
            results[index] = error

    threads = [Thread(target=run, args=(n,), daemon=True) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        require(not thread.is_alive(), "makes a call wait for ever")
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


CONCURRENT_CHECKS: dict[str, Callable[[Opener], None]] = {
    "reading": _check_reading,
    "one writer at a time": _check_one_writer,
    "agents": _check_agents,
    "forks": _check_forks,
}
