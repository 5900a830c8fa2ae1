"""Checks of single promises of a store; `almoner.testing.check_store` runs them all."""

from __future__ import annotations

import os
import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from threading import Thread
from typing import Any

from almoner.errors import StoreError, UnknownCampaign
from almoner.live.agent import Agent
from almoner.live.audit import audit
from almoner.store.base import ApiKey, Store
from almoner.store.events import DECIDED, REWARDED, SETTLED, Event

__all__ = ["CHECKS", "Opener"]

PATIENCE = 60.0
"""Seconds after which a call is taken to wait for ever."""

TERMS = '{"text": "Grüße 🌷"}'
DECISION = Event(
    seq=1,
    kind=DECIDED,
    at=2**50,
    left=2**52,
    decision=1,
    round=0,
    context="Grüße 🌷",
    action="a\tb\n\\N",
    cost=1,
    reserve=2,
    probability=0.1,
    price=1e-300,
    key="k ? %s",
    available="[]",
)
SKIP = Event(seq=2, kind=DECIDED, at=6, left=3, decision=2, context="new", reason="paused")
REWARD = Event(seq=3, kind=REWARDED, at=7, left=3, decision=1, reward=0.1 + 0.2)
LOG = [DECISION, SKIP, REWARD]
"""Values that are easily changed on their way to a database and back."""


class Opener:
    """Opens the store, and closes it after use unless all share one that is open."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open, (first, second) = open_store, (open_store(), open_store())
        self._shared = first is second
        if not self._shared:
            first.close()
            second.close()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the store."""
        store = self._open()
        try:
            yield store
        finally:
            if not self._shared:
                store.close()

    @contextmanager
    def campaign(self) -> Iterator[tuple[Store, str]]:
        """Open the store with a new campaign in it."""
        with self.store() as store:
            name = f"check {secrets.token_hex(8)}"
            store.create(name, TERMS)
            yield store, name


def _check_campaigns(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        _require(store.terms(name) == TERMS, "returns other terms than a campaign was created with")
        _require(store.create(name, "{}") == TERMS, "replaces the terms of a campaign")
        store.create(f"{name} b", "{}")
        names = store.campaigns()
        _require(names.count(name) == 1, "does not list a campaign once")
        _require(
            names.index(name) < names.index(f"{name} b"), "does not list campaigns oldest first"
        )


def _check_unknown(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        other = f"{name} missing"
        _require(store.terms(other) is None, "returns terms of a campaign that does not exist")
        for call in (
            lambda: store.writing(other).__enter__(),
            lambda: store.reading(other).__enter__(),
            lambda: [*store.events(other)],
            lambda: store.last(other),
        ):
            try:
                call()
            except UnknownCampaign:
                continue
            raise AssertionError("does not refuse a campaign that does not exist")


def _check_events(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        with store.writing(name) as writer:
            _require(writer.events(0) == [], "has events in a new campaign")
            writer.append(LOG[:2])
            writer.append(LOG[2:])
            _require(writer.events(0) == LOG, "does not show a transaction its own events")
        with opener.store() as again:
            _require([*again.events(name)] == LOG, "loses or changes events")
            _require([*again.events(name, 2)] == LOG[2:], "yields other events after one of them")
            _require(again.last(name) == 3, "does not know its last event")
            with again.reading(name) as reader:
                _require(reader.events(0) == LOG, "reads other events than were written")
                _require(reader.events(1, 1) == [SKIP], "does not keep to a limit of events")
            with again.writing(name) as writer:
                _require(writer.events(1) == LOG[1:], "writes after other events than it reads")
                found = writer.histories([1, 2, 9])
                _require(found == {1: [DECISION, REWARD], 2: [SKIP]}, "finds no histories by id")
                keyed = writer.keyed(["k ? %s", "other"])
                _require(keyed == {"k ? %s": DECISION}, "finds no decisions by key")
            page = again.outcomes(name, after=0, through=3, last=2)
            _require(page == [DECISION, SKIP], "pages through other outcomes than there are")
            chunks = again.checked_log(name).chunks()
            _require([*chain.from_iterable(chunks)] == LOG, "has another log for an audit")


def _check_undone(opener: Opener) -> None:
    class Halfway(Exception):
        """An error of the caller."""

    with opener.campaign() as (store, name):
        with store.writing(name) as writer:
            writer.append([DECISION])
            writer.save_snapshot("before")
        try:
            with store.writing(name) as writer:
                writer.append([SKIP._replace(key="fresh")])
                writer.save_snapshot("after")
                raise Halfway
        except Halfway:
            pass
        with store.writing(name) as writer:
            kept = writer.events(0), writer.snapshot(), writer.keyed(["fresh"])
            _require(kept == ([DECISION], "before", {}), "keeps parts of a failed transaction")
            _require(writer.histories([2]) == {}, "keeps decisions of a failed transaction")
            writer.append([SKIP])
        _require([*store.events(name)] == LOG[:2], "cannot write on after a failed transaction")


def _check_snapshots(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        for text in ("first", "Grüße 🌷", None):
            with store.writing(name) as writer:
                writer.save_snapshot(text)
            with opener.store() as again, again.reading(name) as reader:
                _require(reader.snapshot() == text, "does not keep the last snapshot")


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
                _require(seen == [DECISION], "shows events before they are committed")
            after = reader.events(0), reader.snapshot()
            _require(before == after == ([DECISION], None), "shows a reader more than one state")
        _require(_read(other, name) == LOG[:2], "does not show committed events")


def _read(store: Store, name: str) -> list[Event]:
    with store.reading(name) as reader:
        events = reader.events(0)
    _require([*store.events(name)] == events, "shows two readers different logs")
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
        _require(numbers == [*range(1, 33)], "lets two writers write at a time")


def _check_agents(opener: Opener) -> None:
    """Two agents, several threads, the same keys: each is charged once, within the budget."""
    terms: dict[str, Any] = {"contexts": ["new"], "actions": {"coupon": 3}, "horizon": 12}
    with opener.campaign() as (store, unused), opener.store() as other:
        name = f"{unused} agents"
        agents = [
            Agent.open(part, name=name, budget=20, seed=1, **terms) for part in (store, other)
        ]
        made = _in_threads(
            [
                partial(agent.decide, "new", key=f"visit {visit}")
                for visit in range(12)
                for agent in (*agents, *agents)
            ]
        )
        for first, *others in (made[start : start + 4] for start in range(0, 48, 4)):
            _require(others == [first] * 3, "makes two decisions for one key")
        taken = [decision for decision in made[::4] if decision.action is not None]
        _require(0 < 3 * len(taken) <= 20, "spends more than the budget")
        agents[0].settle(taken[0].id, cost=1)
        agents[1].reward(taken[0].id, 0.5)
        kinds = [event.kind for event in store.events(name)]
        _require(
            (len(kinds), kinds.count(SETTLED), kinds.count(REWARDED)) == (14, 1, 1),
            "logs other events than happened",
        )
        with opener.store() as again:
            balance, report = audit(again, name), agents[0].report()
            _require((balance.spent, balance.decisions) == (1_000_000, 12), "loses decisions")
            _require(report.spent + report.reserved + report.left == 20.0, "loses money")


def _check_api_keys(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        key = ApiKey(name, secrets.token_hex(16), "decide", 2**50)
        _require(store.add_key(key), "refuses a new key to the service")
        _require(not store.add_key(key._replace(digest="other")), "replaces a key to the service")
        _require(store.revoke_key(name, 2**51), "cannot revoke a key to the service")
        _require(store.revoke_key(name, 2**52), "cannot revoke a key twice")
        _require(not store.revoke_key(f"{name} missing", 1), "revokes a key that does not exist")
        with opener.store() as again:
            kept = [entry for entry in again.api_keys() if entry.name == name]
            _require(kept == [key._replace(revoked=2**51)], "loses or changes a key to the service")


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
        _require(os.waitstatus_to_exitcode(status) == 0, "works on in a forked child")
        _require(store.terms(name) == TERMS, "fails after a fork")


CHECKS: dict[str, Callable[[Opener], None]] = {
    "campaigns": _check_campaigns,
    "unknown campaigns": _check_unknown,
    "events": _check_events,
    "failed transactions": _check_undone,
    "snapshots": _check_snapshots,
    "reading": _check_reading,
    "one writer at a time": _check_one_writer,
    "agents": _check_agents,
    "API keys": _check_api_keys,
    "forks": _check_forks,
}


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
        _require(not thread.is_alive(), "makes a call wait for ever")
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)
