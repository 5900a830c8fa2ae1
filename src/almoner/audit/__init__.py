"""Audit: proves from a log alone that a campaign never overspent and never contradicted itself.

It does its own arithmetic, so that a mistake in the ledger would show here.
"""

from __future__ import annotations

import json

from almoner.audit.books import Audit, Books
from almoner.campaign import Campaign
from almoner.errors import BrokenLedger, UnknownCampaign
from almoner.snapshot import read_snapshot
from almoner.store.base import Store
from almoner.terms import Terms

__all__ = ["Audit", "audit"]


def audit(store: Store, name: str) -> Audit:
    """Go through the log of a campaign; raise `BrokenLedger` at the first thing that is wrong.

    Examples
    --------
    >>> from almoner import Agent
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=10)
    >>> coupon = agent.decide("new")
    >>> found = audit(agent.store, "spring")
    >>> found.decisions, found.spent, found.reserved, found.left
    (1, 0, 5000000, 5000000)
    """
    stored = store.terms(name)
    if stored is None:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    terms = Terms.from_json(stored)
    books = Books(name, terms)
    with store.writing(name) as writer:  # before the log, which must have come at least as far
        snapshot = writer.snapshot()
    reached, saved, again = _reached(snapshot), Campaign(terms), Campaign(terms)
    readable = read_snapshot(saved, snapshot)
    for event in store.events(name):
        books.enter(event)
        if readable and event.seq <= reached:
            again.apply([event])
            if event.seq == reached and again.to_dict() != saved.to_dict():
                raise BrokenLedger(
                    f"campaign {name!r}: the snapshot after event {reached} is not what the log "
                    "says; delete the snapshot"
                )
    if books.last < reached:
        raise BrokenLedger(
            f"campaign {name!r}: events are missing: a snapshot was taken after event {reached}, "
            f"but the log ends after event {books.last}"
        )
    return books.close()


def _reached(snapshot: str | None) -> int:
    """Return after which event a snapshot was taken, of whatever version; 0 if it cannot be read.

    What it holds may mean something else in another version, but not how far the log had come.
    """
    try:
        return int(json.loads(json.loads(snapshot or "")["body"])["seq"])
    except (KeyError, TypeError, ValueError):
        return 0
