"""Amendments in words: each changed term with its value before and after."""

from __future__ import annotations

from decimal import Decimal

from almoner.live.terms.action import PerContext
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import in_words

__all__ = ["changes_in_words"]


def changes_in_words(before: Terms, after: Terms) -> list[str]:
    """Return the changes from some terms to others, a phrase for each."""
    return [
        *_budget(before, after),
        *_horizon(before, after),
        *(f"{name} added" for name in after.actions if name not in before.costs),
        *(f"{name} stopped" for name in after.stopped if name not in before.stopped),
        *(f"{name} restarted" for name in before.stopped if name not in after.stopped),
        *(phrase for name in before.actions for phrase in _action(name, before, after)),
    ]


def _budget(before: Terms, after: Terms) -> list[str]:
    if before.budget == after.budget:
        return []
    was, now = before.unit.amounts(before.budget, after.budget)
    return [f"budget {_digits(was)} → {_digits(now)}{_currency(after)}"]


def _horizon(before: Terms, after: Terms) -> list[str]:
    was, now = before.horizon, after.horizon
    if isinstance(was, ClosingTime) and isinstance(now, ClosingTime):
        ends = [f"{end.at:%Y-%m-%d %H:%M %Z}" for end in (was, now)]
        moved = [f"end {ends[0]} → {ends[1]}"] if was.at != now.at else []
        expected = [f"{end.arrivals:,.0f}" for end in (was, now)]
        return moved + ([f"arrivals {expected[0]} → {expected[1]}"] if len({*expected}) > 1 else [])
    return [f"arrivals {was:,} → {now:,}"] if was != now else []


def _action(name: str, before: Terms, after: Terms) -> list[str]:
    phrases = []
    for term, was, now in (
        ("cost", before.costs[name], after.costs[name]),
        ("reserve", before.reserves[name], after.reserves[name]),
    ):
        if was != now and not (term == "reserve" and now == after.costs[name]):
            phrases.append(f"{term} of {name} {_amount(before, was)} → {_amount(after, now)}")
    expiries = [
        in_words(terms.expires[name]) if name in terms.expires else "none"
        for terms in (before, after)
    ]
    if expiries[0] != expiries[1]:
        phrases.append(f"expiry of {name} {expiries[0]} → {expiries[1]}")
    ends = ["charged" if name in terms.charged else "released" for terms in (before, after)]
    if ends[0] != ends[1]:
        phrases.append(f"{name} on expiry {ends[0]} → {ends[1]}")
    sources = [
        "learned" if name in terms.learned_costs else "declared" for terms in (before, after)
    ]
    if sources[0] != sources[1]:
        phrases.append(f"cost of {name} {sources[0]} → {sources[1]}")
    return phrases


def _amount(terms: Terms, units: PerContext) -> str:
    if isinstance(units, dict):
        return "by context"
    return f"{_digits(terms.unit.amount(units))}{_currency(terms)}"


def _digits(amount: float) -> str:
    """Return an amount with all of its digits.

    >>> _digits(3_000_000.0), _digits(0.7), _digits(1234567.89)
    ('3,000,000', '0.7', '1,234,567.89')
    """
    return f"{Decimal(repr(amount)):,f}".removesuffix(".0")


def _currency(terms: Terms) -> str:
    return f" {terms.currency}" if terms.currency else ""
