"""Checks of single promises of a store; `almoner.testing.check_store` runs them all."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from itertools import chain

from almoner.errors import UnknownCampaign
from almoner.store.base import ApiKey
from almoner.testing.concurrent_store_checks import CONCURRENT_CHECKS
from almoner.testing.store_opener import DECISION, LOG, REWARD, SKIP, TERMS, Opener, require

__all__ = ["CHECKS"]


def _check_campaigns(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        require(store.terms(name) == TERMS, "returns other terms than a campaign was created with")
        require(store.create(name, "{}") == TERMS, "replaces the terms of a campaign")
        store.create(f"{name} b", "{}")
        names = store.campaigns()
        require(names.count(name) == 1, "does not list a campaign once")
        require(
            names.index(name) < names.index(f"{name} b"), "does not list campaigns oldest first"
        )


def _check_unknown(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        other = f"{name} missing"
        require(store.terms(other) is None, "returns terms of a campaign that does not exist")
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
            require(writer.events(0) == [], "has events in a new campaign")
            writer.append(LOG[:2])
            writer.append(LOG[2:])
            require(writer.events(0) == LOG, "does not show a transaction its own events")
        with opener.store() as reopened:
            require([*reopened.events(name)] == LOG, "loses or changes events")
            require([*reopened.events(name, 2)] == LOG[2:], "yields other events after one of them")
            require(reopened.last(name) == 3, "does not know its last event")
            with reopened.reading(name) as reader:
                require(reader.events(0) == LOG, "reads other events than were written")
                require(reader.events(1, 1) == [SKIP], "does not keep to a limit of events")
            with reopened.writing(name) as writer:
                require(writer.events(1) == LOG[1:], "writes after other events than it reads")
                histories = writer.histories([1, 2, 9])
                require(histories == {1: [DECISION, REWARD], 2: [SKIP]}, "finds no histories by id")
                keyed = writer.keyed(["k ? %s", "other"])
                require(keyed == {"k ? %s": DECISION}, "finds no decisions by key")
            page = reopened.outcomes(name, after=0, through=3, last=2)
            require(page == [DECISION, SKIP], "pages through other outcomes than there are")
            chunks = reopened.checked_log(name).chunks()
            require([*chain.from_iterable(chunks)] == LOG, "has another log for an audit")


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
            require(kept == ([DECISION], "before", {}), "keeps parts of a failed transaction")
            require(writer.histories([2]) == {}, "keeps decisions of a failed transaction")
            writer.append([SKIP])
        require([*store.events(name)] == LOG[:2], "cannot write on after a failed transaction")


def _check_snapshots(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        for text in ("first", "Grüße 🌷", None):
            with store.writing(name) as writer:
                writer.save_snapshot(text)
            with opener.store() as reopened, reopened.reading(name) as reader:
                require(reader.snapshot() == text, "does not keep the last snapshot")


def _check_api_keys(opener: Opener) -> None:
    with opener.campaign() as (store, name):
        key = ApiKey(name, secrets.token_hex(16), "decide", 2**50)
        require(store.add_key(key), "refuses a new key to the service")
        require(not store.add_key(key._replace(digest="other")), "replaces a key to the service")
        require(store.revoke_key(name, 2**51), "cannot revoke a key to the service")
        require(store.revoke_key(name, 2**52), "cannot revoke a key twice")
        require(not store.revoke_key(f"{name} missing", 1), "revokes a key that does not exist")
        with opener.store() as reopened:
            kept = [entry for entry in reopened.api_keys() if entry.name == name]
            require(kept == [key._replace(revoked=2**51)], "loses or changes a key to the service")


CHECKS: dict[str, Callable[[Opener], None]] = {
    "campaigns": _check_campaigns,
    "unknown campaigns": _check_unknown,
    "events": _check_events,
    "failed transactions": _check_undone,
    "snapshots": _check_snapshots,
    "API keys": _check_api_keys,
    **CONCURRENT_CHECKS,
}
