"""Audit of offers: context, action, cost and reserve of a decision, against the terms."""

from __future__ import annotations

from almoner.live.audit.decision_record import AuditedOffer
from almoner.live.audit.own_costs import present_offers
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

    def add(self, offer: AuditedOffer, own: dict[str, int] | None = None) -> int:
        """Number an offer made first on these terms; refuse one that they do not have.

        With costs of the arrival's own the offer is valid for this decision only.
        """
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
            self._check_money(context, action, cost, reserve, own)
        if offer not in self._numbers:
            self._numbers[offer] = len(self._offers)
            self._offers.append(offer)
        if own is None:
            self.valid[offer] = self._numbers[offer]
        return self._numbers[offer]

    def _check_money(
        self,
        context: str,
        action: str,
        cost: int | None,
        reserve: int | None,
        own: dict[str, int] | None,
    ) -> None:
        """Refuse a cost and a reserve other than terms and arrival say; a learned one may differ.

        The cost of an action that an arrival gives no cost for is learned as otherwise.
        """
        terms = self._terms
        agreed = present_offers(terms, context, own)[action]
        learned = action in terms.learned_costs and action not in (own or {})
        learned |= getattr(terms.policy.rewards, "learn_costs", False)  # on features
        learned &= 0 <= (cost or 0) <= agreed[1]
        if reserve != agreed[1] or not (learned or cost == agreed[0]):
            raise Fault(
                f"reserves {reserve} for an expected cost of {cost}, where the terms say "
                f"{agreed[1]} for {agreed[0]}"
            )
