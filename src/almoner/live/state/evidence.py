"""Evidence that comes with time: rewards within a window, bills of reserves that expire.

All of it ages at the same times (`almoner.live.rewards.ageing`), before a decision.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from almoner.live.costs.bills import Bills
from almoner.live.costs.open_reserves import add_reserve, end_reserve
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.policy.detail import written_detail
from almoner.live.rewards.ageing import Ageing
from almoner.live.rewards.reward_window import RewardWindow
from almoner.live.rows.arrival_row import learned_parts
from almoner.live.terms.terms import Terms
from almoner.store.events import Event, EventRow

if TYPE_CHECKING:
    from almoner.live.state.campaign_state import Campaign

__all__ = ["Evidence"]

_ROUND, _DETAIL = map(Event._fields.index, ("round", "detail"))


class Evidence:
    """The parts of a campaign that age, each None if its terms do not need it.

    Attributes
    ----------
    window
        The decisions that wait for rewards, if these come within a window.
    bills
        The bills, if costs are learned or reserves shared.
    shared
        The open decisions, if reserves are shared.
    ageing
        The times at which these age.
    """

    def __init__(self, terms: Terms) -> None:
        self.window: RewardWindow | None = None
        if terms.reward_window is not None:
            self.window = RewardWindow(terms, terms.reward_window)
        self.bills: Bills | None = None
        self.shared: SharedReserves | None = None
        if terms.learned_costs or terms.risk > 0.0:
            self.bills = Bills(terms)
            if terms.risk > 0.0:
                self.shared = SharedReserves(terms, self.bills.columns)
        self.ageing: Ageing | None = None
        if self.window is not None or self.bills is not None:
            self.ageing = Ageing(self._shortest(terms))

    def _shortest(self, terms: Terms) -> int | None:
        """Return the shortest time in which evidence comes."""
        windows = [] if terms.reward_window is None else [terms.reward_window]
        if self.bills is not None:
            windows += terms.expires.values()
        return min(windows, default=None)

    def is_due(self, at: int) -> bool:
        """Return whether evidence is to age before a decision at this time."""
        return self.ageing is not None and self.ageing.is_due(at)

    def age(self, campaign: Campaign, at: int) -> None:
        """Let the evidence age, and tell the policy."""
        if self.ageing is not None:
            self.ageing.note_ageing(at)
        self._age_bills(campaign, at)
        if self.window is not None:
            self.window.age(at, campaign.policy)

    def add(self, campaign: Campaign, decided: EventRow) -> None:
        """Add a decision."""
        _, _, at, _, _, _, context, action = decided[:8]
        row = campaign.contexts[context]
        if self.ageing is not None:
            self.ageing.note_decision(at)
        if self.window is not None:
            self.window.add(decided, row, _row_to_repeat(campaign, decided))
        if self.bills is not None and action is not None:
            add_reserve(self.bills, self.shared, row, decided)

    def end(self, campaign: Campaign, event: Event) -> None:
        """Add an event that ends a reserve, or a bill that comes after its end."""
        row = campaign.contexts[event.context or ""]
        if self.window is not None:
            self.window.end(event, row)
        if self.bills is None:
            return
        deadline, decision = campaign.expiring.entry(event.decision or 0)
        at = event.at if decision is None else decision.at
        end_reserve(self.bills, self.shared, row, event, deadline=deadline, at=at)

    def aged_reserves(self, campaign: Campaign, now: int) -> SharedReserves | None:
        """Return a copy of the open decisions at their present ages, if reserves are shared."""
        if self.shared is None or self.bills is None:
            return None
        aged = deepcopy(self.shared)
        aged.age(now, self.bills.expected(now, campaign.contexts))
        return aged

    def amend(self, campaign: Campaign) -> None:
        """Go on with the terms that the campaign has now."""
        terms = campaign.terms
        for part in (self.window, self.bills, self.shared):
            if part is not None:
                part.amend(terms)
        if self.bills is None and terms.learned_costs:
            self.bills = Bills(terms, since=campaign.seq)
            self.ageing = self.ageing or Ageing(None)
        if self.ageing is not None:
            self.ageing.window = self._shortest(terms)
            self._age_bills(campaign, self.ageing.at)

    def to_dict(self, campaign: Campaign) -> dict[str, Any]:
        """Return plain values for a snapshot; nothing if there is nothing that ages."""
        if self.ageing is None:
            return {}
        rows = len(campaign.contexts)
        parts = {"window": self.window, "bills": self.bills, "shared": self.shared}
        return {
            "evidence": {
                "ageing": self.ageing.to_list(),
                "costs": campaign.policy.lowered.costs.tolist(),
                **{name: part and part.to_dict(rows) for name, part in parts.items()},
            }
        }

    def restore(self, campaign: Campaign, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict` in a campaign with the same terms."""
        if "evidence" not in table:
            return
        values = table["evidence"]
        if self.bills is None and values["bills"] is not None:  # an amendment has ended learning
            self.bills = Bills(campaign.terms)
            self.ageing = self.ageing or Ageing(None)
            self.ageing.window = self._shortest(campaign.terms)
        if self.ageing is not None:
            self.ageing.restore(values["ageing"])
        parts = {"window": self.window, "bills": self.bills, "shared": self.shared}
        for name, part in parts.items():
            if part is not None:
                part.restore(values[name])
        if campaign.terms.learned_costs:
            campaign.policy.set_costs(np.array(values["costs"], np.int64))

    def _age_bills(self, campaign: Campaign, at: int) -> None:
        if self.bills is None:
            return
        policy, columns = campaign.policy, self.bills.columns
        expected = self.bills.expected(at, campaign.contexts)
        if campaign.terms.learned_costs:
            policy.set_costs(expected.costs[:, [columns[name] for name in policy.actions]])
        if self.shared is not None:
            self.shared.age(at, expected)
            policy.set_left(campaign.units_left(at))


def _row_to_repeat(campaign: Campaign, decided: EventRow) -> str | None:
    """Return the row of a decision that its silence repeats, if a policy learns from it."""
    policy = campaign.row_policy
    if policy is None or not policy.learns or decided[_ROUND] is None:
        return None
    return written_detail(learned_parts(decided[_DETAIL]))
