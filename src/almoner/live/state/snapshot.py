"""Snapshots: the state of a campaign as a string with a version and a checksum.

A snapshot only saves the time of folding the log from its beginning. If it is missing, of another
version, or damaged, it is ignored, and the whole log is read instead.
"""

from __future__ import annotations

import hashlib
import json
import logging

from almoner.concurrency.signals import raise_from_handler
from almoner.live.state.campaign_state import Campaign

__all__ = ["VERSION", "read_snapshot", "write_snapshot"]

VERSION = 5
"""Raised whenever the content of a snapshot or its meaning changes."""

log = logging.getLogger("almoner")


def write_snapshot(campaign: Campaign) -> str:
    """Return a snapshot of a campaign."""
    body = json.dumps(campaign.to_dict(), separators=(",", ":"))
    return json.dumps({"version": VERSION, "checksum": _checksum(body), "body": body})


def read_snapshot(campaign: Campaign, text: str | None) -> bool:
    """Restore a new campaign from a snapshot; return whether that was possible."""
    if text is None:
        return False
    try:
        table = json.loads(text)
        if table["version"] != VERSION:
            return False
        if table["checksum"] != _checksum(table["body"]):
            raise ValueError("its checksum is wrong")
        campaign.restore(json.loads(table["body"]))
    except Exception as reason:  # of any type: a snapshot is only a cache
        raise_from_handler(reason)
        log.warning("a damaged snapshot is ignored, the log is read instead: %s", reason)
        return False
    return True


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
