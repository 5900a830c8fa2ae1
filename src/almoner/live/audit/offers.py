"""Audit of offers: context, action, cost and reserve of a decision, against the terms."""

from __future__ import annotations

from almoner.live.audit.decision_record import AuditedOffer
from almoner.live.audit.rows import Fault
from almoner.live.terms.terms import Terms

__all__ = ["OfferAuditor"]


class OfferAuditor:
    """Numbers the different offers of a log; ``valid`` are those that the present terms have."""

    def __init__(self, terms: Terms, offers: list[AuditedOffer]) -> None:
        self._terms, self._offers = terms, offers
        self._numbers: dict[AuditedOffer, int] = {}
        self.valid: dict[AuditedOffer, int] = {}

    def amend(self, terms: Terms) -> None:
        """Go on with other terms."""
        self._terms = terms
        self.valid.clear()

    def add(self, offer: AuditedOffer) -> int:
        """Number an offer made first on these terms; refuse one that they do not have."""
        context, action, cost, reserve = offer
        terms = self._terms
        if context is None or not (context in terms.contexts or terms.new_contexts):
            raise Fault(f"is for the undeclared context {context!r}")
        if action is None:
            if (reserve, cost) != (None, None):
                raise Fault("reserves money for a skip")
        elif action not in terms.costs or action in terms.stopped:
            how = "stopped" if action in terms.stopped else "unknown"
            raise Fault(f"takes the {how} action {action!r}")
        else:
            self._check_money(context, action, cost, reserve)
        if offer not in self._numbers:
            self._numbers[offer] = len(self._offers)
            self._offers.append(offer)
        return self.valid.setdefault(offer, self._numbers[offer])

    def _check_money(
        self, context: str, action: str, cost: int | None, reserve: int | None
    ) -> None:
        """Refuse a cost and a reserve other than the terms say; a learned cost may be lower."""
        terms = self._terms
        pairs = zip(terms.costs_in(context), terms.reserves_in(context), strict=True)
        agreed = dict(zip(terms.actions, pairs, strict=True))[action]
        learned = action in terms.learned_costs and 0 <= (cost or 0) <= agreed[1]
        if reserve != agreed[1] or not (learned or cost == agreed[0]):
            raise Fault(
                f"reserves {reserve} for an expected cost of {cost}, where the terms say "
                f"{agreed[1]} for {agreed[0]}"
            )
