"""Snapshots: where a campaign stood, as text with a version and a checksum.

A snapshot only saves the time of folding the log from its beginning. One that is missing, of
another version, or damaged is no loss: it is ignored, and the log is read instead.
"""

from __future__ import annotations

import hashlib
import json
import logging

from almoner.live.campaign import Campaign

__all__ = ["VERSION", "read_snapshot", "write_snapshot"]

VERSION = 2
"""Raised whenever what a snapshot holds, or what it means, changes."""

log = logging.getLogger("almoner")


def write_snapshot(campaign: Campaign) -> str:
    """Return a snapshot of a campaign."""
    body = json.dumps(campaign.to_dict(), separators=(",", ":"))
    return json.dumps({"version": VERSION, "checksum": _checksum(body), "body": body})


def read_snapshot(campaign: Campaign, text: str | None) -> bool:
    """Bring a new campaign to where a snapshot was taken; return whether that could be done."""
    if text is None:
        return False
    try:
        table = json.loads(text)
        if table["version"] != VERSION:
            return False
        if table["checksum"] != _checksum(table["body"]):
            raise ValueError("its checksum is wrong")
        campaign.restore(json.loads(table["body"]))
    except Exception as reason:  # whatever is wrong with a cache, the log does without it
        log.warning("a damaged snapshot is ignored, the log is read instead: %s", reason)
        return False
    return True


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
