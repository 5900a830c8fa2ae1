"""Snapshots: the state of a campaign as a string with a version and a checksum.

A snapshot only saves the time of folding the log from its beginning. If it is missing, of another
version, or damaged, it is ignored, and the whole log is read instead. It may also hold the counts
that reports need, which are of the same event.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any, Protocol

from almoner.concurrency.signals import raise_from_handler
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.terms import Terms
from almoner.store.events import EventRow

__all__ = ["VERSION", "Counts", "read_snapshot", "write_snapshot"]

VERSION = 8
"""Raised whenever the content of a snapshot or its meaning changes."""

log = logging.getLogger("almoner")


class Counts(Protocol):
    """Counts of the events of a log, folded beside the campaign: the history that reports need."""

    seq: int

    @property
    def waiting(self) -> int:
        """The number of arrivals that a snapshot lists one by one."""

    def apply(self, events: Sequence[EventRow]) -> None:
        """Fold in events of the log, in their order."""

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for a snapshot."""

    def restore(self, table: dict[str, Any], terms: Terms) -> None:
        """Restore the result of `to_dict`; ``terms`` are those after the last event."""


def write_snapshot(campaign: Campaign, counts: Counts | None = None) -> str:
    """Return a snapshot of a campaign, with counts after the same event, if given."""
    table = {"version": VERSION, **_sealed(campaign.to_dict())}
    if counts is not None:
        table["counts"] = _sealed(counts.to_dict())
    return json.dumps(table)


def read_snapshot(campaign: Campaign, text: str | None, counts: Counts | None = None) -> bool:
    """Restore a new campaign from a snapshot; return whether that was possible.

    If new counts are given, they are restored too; they stay empty if the snapshot has none.
    """
    if text is None:
        return False
    try:
        table = json.loads(text)
        if table["version"] != VERSION:
            return False
        campaign.restore(_opened(table))
        if counts is not None and "counts" in table:
            counts.restore(_opened(table["counts"]), campaign.terms)
            if counts.seq != campaign.seq:
                raise ValueError("its counts are of another event")
    except Exception as reason:  # of any type: a snapshot is only a cache
        raise_from_handler(reason)
        log.warning("a damaged snapshot is ignored, the log is read instead: %s", reason)
        return False
    return True


def _sealed(values: dict[str, Any]) -> dict[str, str]:
    """Return plain values as JSON with its checksum."""
    body = json.dumps(values, separators=(",", ":"))
    return {"checksum": _checksum(body), "body": body}


def _opened(table: dict[str, Any]) -> Any:
    """Return the values of `_sealed`; refuse a wrong checksum."""
    if table["checksum"] != _checksum(table["body"]):
        raise ValueError("its checksum is wrong")
    return json.loads(table["body"])


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
