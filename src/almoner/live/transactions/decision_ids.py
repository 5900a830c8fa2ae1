"""Ids of decisions, unique in a store: each campaign has a range of numbers of its own."""

from __future__ import annotations

from almoner.errors import UnknownDecision
from almoner.live.decision import is_id, unknown
from almoner.store.base import IDS, Store

__all__ = ["DecisionIds"]


class DecisionIds:
    """Converts the numbers of decisions in a campaign's log to ids, and back.

    Parameters
    ----------
    store, name
        The campaign.

    Attributes
    ----------
    first
        The number to which a campaign adds the number in its log.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name
        self.first = store.first_id(name)

    def seq(self, decision: object) -> int | None:
        """Return the number in the log of an id; None if it is not one of this campaign."""
        if not is_id(decision):
            return None
        seq: int = decision - self.first  # type: ignore[operator]
        return seq if 0 < seq < IDS else None

    def unknown(self, decision: object) -> UnknownDecision:
        """Return the error for an id that this campaign does not have; it names another one's."""
        if is_id(decision) and self.seq(decision) is None:
            number: int = decision  # type: ignore[assignment]
            other = self._store.campaign_with((number - 1) // IDS * IDS)
            if other is not None and other != self._name:
                return UnknownDecision(
                    f"decision {number} belongs to campaign {other!r}, not to {self._name!r}; send "
                    "it there"
                )
        return unknown(decision)
