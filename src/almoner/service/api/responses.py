"""Types of JSON responses, beside `CampaignView`, `Plan`, and the library's own records.

Money is an amount in the campaign's currency, rewards and prices are in the unit of its rewards,
time is in ISO 8601.
"""

from __future__ import annotations

from msgspec import Struct

from almoner.live.decision import Decision
from almoner.live.export import LoggedDecision
from almoner.live.reports.open_decisions import OpenReserve
from almoner.live.reports.report import CurvePoint, Report

__all__ = [
    "AmendmentPreview",
    "CampaignList",
    "CampaignStatus",
    "Curve",
    "Decisions",
    "ErrorAnswer",
    "Forgotten",
    "Health",
    "Latest",
    "ListedCampaign",
    "OpenDecisions",
]


class ErrorAnswer(Struct, kw_only=True):
    """An error: a code for programs, a sentence for people."""

    error: str
    message: str


class CampaignStatus(Struct, kw_only=True):
    """The status of a campaign."""

    name: str
    status: str


CampaignStatus.__name__ = "State"  # its name in the OpenAPI document, for generated clients


class AmendmentPreview(Struct, kw_only=True):
    """A change of a campaign in words, and its reports as it is and as it would be."""

    changes: list[str]
    before: Report
    after: Report


class OpenDecisions(Struct, kw_only=True):
    """Decisions whose reserve is not settled, oldest first."""

    decisions: list[OpenReserve]


class Forgotten(Struct, kw_only=True):
    """A person was forgotten: how many actions had been kept of them."""

    actions: int


class ListedCampaign(Struct, kw_only=True):
    """A campaign in the list; the status is broken where its log cannot be read."""

    name: str
    status: str
    budget: float | None = None
    spent: float | None = None
    reserved: float | None = None
    left: float | None = None
    arrivals: int | None = None
    arrivals_left: float | None = None
    currency: str | None = None
    message: str | None = None


class CampaignList(Struct, kw_only=True):
    """All campaigns of the store, oldest first."""

    campaigns: list[ListedCampaign]


class Decisions(Struct, kw_only=True):
    """The decisions of a batch, in the order of its contexts."""

    decisions: list[Decision]


class Curve(Struct, kw_only=True):
    """The course of a campaign so far, in a few hundred points."""

    points: list[CurvePoint]


class Latest(Struct, kw_only=True):
    """The latest decisions, newest first."""

    decisions: list[LoggedDecision]


class Health(Struct, kw_only=True):
    """The state of the service."""

    status: str
