"""Limits that the pace of a campaign sets now, for its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from almoner.live.reports.report import CapReport
from almoner.live.spending.outlook import Outlook
from almoner.live.terms.pace import EVEN, time_zone
from almoner.live.terms.terms import Terms

__all__ = ["cap_reports", "is_paced"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def cap_reports(terms: Terms, outlook: Outlook) -> list[CapReport]:
    """Return the limits of the present periods."""
    amount = terms.unit.amount
    reports = []
    if isinstance(terms.pace, dict):
        zone = time_zone(terms.pace["zone"])
        for cap in outlook.caps:
            affordable = cap.affordable(outlook.arrivals)
            reports.append(
                CapReport(
                    period=cap.period,
                    cap=amount(cap.cap),
                    used=amount(cap.held),
                    left=amount(cap.room),
                    ends=(_EPOCH + timedelta(microseconds=cap.end)).astimezone(zone).isoformat(),
                    holds_back=_is_below(affordable, outlook.money),
                )
            )
    if outlook.ceiling is not None:
        used = outlook.ledger.committed
        reports.append(
            CapReport(
                period=EVEN,
                cap=amount(outlook.ceiling),
                used=amount(used),
                left=amount(max(0, outlook.ceiling - used)),
                ends=None,
                holds_back=_is_below(outlook.funds, outlook.money),
            )
        )
    return reports


def is_paced(offers: Mapping[str, Sequence[tuple[str, int, int]]], outlook: Outlook) -> bool:
    """Return whether only limits of the pace forbid every action in every context."""
    pairs = [(context, offer) for context, row in offers.items() for offer in row]
    allowed = any(outlook.allows(context, offer) for context, offer in pairs)
    return not allowed and any(outlook.within_budget(context, offer) for context, offer in pairs)


def _is_below(affordable: float | None, money: int) -> bool:
    return affordable is not None and affordable < money
