"""Audit of hold-out, exploration and persons: probabilities of all options, rows of persons."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from itertools import groupby
from math import fsum
from operator import itemgetter
from typing import Any

from almoner.live.audit.own_costs import present_offers
from almoner.live.audit.pace import SLACK, AuditedPace
from almoner.live.terms.terms import Terms
from almoner.store.base import PersonRow
from almoner.store.events import Event

__all__ = ["AssignmentAuditor", "person_fault"]

_NO_GROUP = 255
"""The group of a decision without a person."""

TOLERANCE = 1e-9
"""Rounding errors of a sum of probabilities, at most."""

_ROW = {"costs", "scores", "features"}
"""Members of the detail of a reward that repeat the row of its decision, to be learned from."""


class AssignmentAuditor:
    """Checks the decisions of a campaign with a hold-out, exploration or limited persons."""

    def __init__(self, terms: Terms, pace: AuditedPace) -> None:
        self.terms, self._pace = terms, pace
        self.is_needed = terms.spreads or terms.per_person is not None
        # By decision: the probability of a skip, the number of the reason, and the group of the
        # person, 255 without one.
        self._probabilities, self._reasons = array("d"), bytearray()
        self._groups = bytearray()
        self._numbers: list[str | None] = []

    def decision_fault(self, event: Event, left: int, own: dict[str, int] | None) -> str | None:
        """Return what is wrong with a decision made when ``left`` could be reserved, if anything.

        ``own`` are the costs that its arrival had of its own, if any.

        Every option that could be taken must have a probability above 0 if the campaign explores,
        and no other one may have one.
        """
        terms = self.terms
        needed = {
            "person": terms.per_person is not None,
            "holdout": terms.holdout > 0,
            "explore": terms.explore > 0,
        }
        if not needed.get(event.reason or "", True):
            return f"is a skip for the reason {event.reason!r}, which the terms do not have"
        table = json.loads(event.detail or "{}")
        if not terms.spreads or event.round is None:
            none = not {"probabilities", "group"} & {*table}
            return None if none else f"must have no probabilities, has {event.detail!r}"
        shares, group = table.get("probabilities", {}), table.get("group")
        if group is not None and (group not in range(64) or not terms.holdout):
            return f"is for a person of the group {group!r}, which cannot be"
        self._note(event, shares.get("skip", 0.0), group)
        if abs(fsum(shares.values()) - 1) > TOLERANCE or min(shares.values()) <= 0:
            return f"has probabilities that do not add up to 1: {event.detail}"
        if shares.get(event.action or "skip") != event.probability:
            return f"has the probability {event.probability}, and lists {event.detail}"
        if event.reason in ("person", "horizon"):
            return None if set(shares) == {"skip"} else "could have been more than a skip"
        return self._spread_fault(event, shares, left, own)

    def _note(self, event: Event, skip: float, group: int | None) -> None:
        gap = event.seq + 1 - len(self._reasons)
        self._probabilities.extend([0.0] * gap)
        self._reasons.extend(bytes(gap))
        self._groups.extend(bytes(gap))
        self._groups[event.seq] = _NO_GROUP if group is None else group
        if event.reason not in self._numbers:
            self._numbers.append(event.reason)
        self._probabilities[event.seq] = skip
        self._reasons[event.seq] = self._numbers.index(event.reason)

    def _spread_fault(
        self, event: Event, shares: dict[str, float], left: int, own: dict[str, int] | None
    ) -> str | None:
        terms = self.terms
        likely = set(shares) - {"skip"}
        fitting = likely if self._is_unknown else self._fitting(event, left, SLACK, own)
        if not likely <= fitting:
            return f"gives a probability to {min(likely - fitting)!r}, which could not be taken"
        certain = likely if self._is_unknown else self._fitting(event, left, -SLACK, own)
        if terms.explore > 0 and not certain <= likely:
            return f"gives no probability to {min(certain - likely)!r}, which could be taken"
        least = (1 - terms.holdout) * terms.explore / (1 + len(likely))
        if shares.get("skip", 0.0) < terms.holdout + least - TOLERANCE:
            return f"skips with a probability of less than {terms.holdout + least}"
        if min((shares[action] for action in likely), default=1.0) < least - TOLERANCE:
            return f"has a probability below {least}, the least"
        return None

    @property
    def _is_unknown(self) -> bool:
        """Whether options that were not taken could have been is unknown: see `Audit`."""
        return self.terms.risk > 0 or (self.terms.pace == "even" and bool(self.terms.learned_costs))

    def _fitting(
        self, event: Event, left: int, slack: float, own: dict[str, int] | None
    ) -> set[str]:
        """Return the actions that could be taken, given the slack of an even spend."""
        terms, offers = self.terms, present_offers(self.terms, event.context or "", own)
        room, below_line = self._pace.room(event)
        below_line += slack * terms.budget
        allowed = terms.actions if event.available is None else json.loads(event.available)
        return {
            action
            for action, (cost, reserve) in offers.items()
            if reserve <= min(left, room) and (not cost or cost <= below_line)
        } & {*allowed} - {*terms.stopped}

    def reward_fault(self, event: Event) -> str | None:
        """Return what is wrong with a reward: it repeats a reason and the probability of a skip."""
        if event.reason == "window":  # of the campaign itself, as nobody has told one
            row = _ROW if self.terms.on_rows else set()
            empty = event.probability is None and {*json.loads(event.detail or "{}")} <= row
            return None if empty else "must have no probability, and no detail but its row"
        group = json.loads(event.detail or "{}").get("group")
        expected_group = self._group(event)
        if group != expected_group:
            return f"is for the group {group} of persons, and its decision for {expected_group}"
        if not self.terms.spreads:
            expected: tuple[Any, Any] = None, None
        elif event.round is None:  # of a decision while the campaign was not running
            expected = event.reason, event.probability
        else:
            decision = event.decision or 0
            expected = self._numbers[self._reasons[decision]], self._probabilities[decision]
        if (event.reason, event.probability) == expected:
            return None
        return (
            f"has the reason {event.reason!r} and the probability {event.probability}, where its "
            f"decision has {expected[0]!r} and {expected[1]}"
        )

    def _group(self, event: Event) -> int | None:
        """Return the group of the person that a rewarded decision was for, if there was one."""
        if event.round is None or not self.terms.spreads:
            return None
        group = self._groups[event.decision or 0]
        return None if group == _NO_GROUP else group


def person_fault(rows: Iterable[PersonRow], terms: Terms, acted: Any) -> str | None:
    """Return what is wrong with the rows of persons, if anything.

    ``acted`` returns whether a decision was an action that was not cancelled.
    """
    for _, actions in groupby(rows, itemgetter(0)):
        times = []
        for _, decision, at in actions:
            if terms.per_person is None or not acted(decision):
                return f"a row of a person speaks of decision {decision}, which was no action"
            times.append(at)
        limit, every = terms.per_person or (0, 0)
        times.sort()
        for first, last in zip(times, times[limit:], strict=False):
            if last - first < every:
                return f"a person got more than {limit} actions within {every / 1e6:g} seconds"
    return None
