"""Statuses of a campaign, and reasons of a skip.

Logs, snapshots, reports and public attributes hold the plain strings (``.value``): stores and the
hash chain accept no subclasses of str.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["EXPLANATIONS", "SkipReason", "Status"]


class Status(StrEnum):
    """The status of a campaign."""

    RUNNING = "running"
    PAUSED = "paused"
    CLOSED = "closed"


class SkipReason(StrEnum):
    """The reason of a skip."""

    POLICY = "policy"
    BUDGET = "budget"
    PACE = "pace"
    HORIZON = "horizon"
    UNAVAILABLE = "unavailable"
    PAUSED = "paused"
    CLOSED = "closed"
    PERSON = "person"
    HOLDOUT = "holdout"
    EXPLORE = "explore"


EXPLANATIONS: dict[str, str] = {
    SkipReason.POLICY: "the policy saves the budget for better use",
    SkipReason.BUDGET: "too little of the budget is left to reserve for any action here",
    SkipReason.PACE: "the pace allows no more spending in its period, though money is left",
    SkipReason.HORIZON: "the campaign has come to its end",
    SkipReason.UNAVAILABLE: "no action was available",
    SkipReason.PAUSED: "the campaign is paused",
    SkipReason.CLOSED: "the campaign is closed",
    SkipReason.PERSON: "the person has had as many actions as one may get for now",
    SkipReason.HOLDOUT: "it is held out, to learn what happens without the campaign",
    SkipReason.EXPLORE: "it was drawn at random, to learn what a skip brings",
}
"""Skip reasons in words."""
