"""Spending rules that the kernels do not know: the pace of a campaign, and its default action.

Before a decision they give the kernels the money that the plan may use, and the actions that the
arrival may get. They follow from the terms and from the events before, so that folding a log
gives the same state, to the last bit, as deciding did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from almoner.kernels.live import ACTED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.steps import SKIP
from almoner.live.costs.ledger import Ledger
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.policy.choice import Choice, Offer, PendingArrival
from almoner.live.policy.detail import logged_costs
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.policy.must_serve import MustServe
from almoner.live.spending.outlook import HELD_BY_PACE, CapState, Outlook
from almoner.live.spending.period_usage import PeriodUsage
from almoner.live.terms.pace import EVEN, time_zone
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import Event, EventRow

__all__ = ["Spending", "spending_rules"]

_DETAIL = Event._fields.index("detail")

OBSERVED = 20
"""Arrivals from which on their rate is known, if no forecast tells it."""


@dataclass(slots=True)
class Narrowed:
    """An arrival with the actions that the rules leave to it."""

    context: str
    available: Sequence[str]
    own_costs: Any = None
    row: Any = None
    key: Any = None
    visitor: Any = None


class FundedCampaign(Protocol):
    """The state of a campaign that the rules read."""

    terms: Terms
    policy: LivePolicy
    ledger: Ledger

    @property
    def committed(self) -> int:
        """The money that the policy treats as spent."""

    @property
    def shared(self) -> SharedReserves | None:
        """The open decisions, if reserves are shared."""

    def horizon_at(self, now: int, seen: int) -> int:
        """Return the total number of arrivals, by the horizon or the forecast."""


class SpendingLimits(NamedTuple):
    """An arrival as the rules leave it to the policy, and the arguments of the policy's choice.

    ``offers`` are those that the arrival allows, and ``allowed`` the actions that the rules do.
    """

    arrival: PendingArrival
    arguments: dict[str, Any]
    outlook: Outlook
    offers: Sequence[Offer]
    allowed: list[str]


def spending_rules(terms: Terms) -> Spending | None:
    """Return the rules that the terms of a campaign ask for; None without any."""
    return None if terms.pace is None and terms.default is None else Spending(terms)


class Spending:
    """The pace and the default of a campaign, with the money used in each period.

    Attributes
    ----------
    usage
        The money used in periods, for each length of period with a cap.
    serve
        The default action, if there is one.
    """

    def __init__(self, terms: Terms) -> None:
        pace = terms.pace
        self.even = pace == EVEN
        self.usage: list[PeriodUsage] = []
        if isinstance(pace, dict):
            zone = time_zone(pace["zone"])
            self.usage = [PeriodUsage(name, cap, zone) for name, cap in pace["caps"].items()]
        self.serve = None if terms.default is None else MustServe(terms)
        self._arrivals = 0
        self._since: int | None = None

    def amend(self, terms: Terms) -> None:
        """Go on with other costs of the default; a pace stays as it is."""
        if self.serve is not None:
            self.serve.amend(terms)

    def choose(
        self, campaign: FundedCampaign, arrival: PendingArrival, now: int, left: int
    ) -> Choice:
        """Decide for an arrival within the rules, and record it as taken."""
        policy, limits = campaign.policy, self.limits(campaign, arrival, now, left)
        chosen, *_ = policy.choose([limits.arrival], **limits.arguments)
        action, reason, probability, price = chosen
        default = None if self.serve is None else self.serve.name
        if action == SKIP and default in limits.allowed and limits.outlook.arrivals > 0:
            policy.take_instead(arrival.context, default)
            return policy.actions[default], ACTED, probability, price
        reason = self.reason(arrival.context, limits, action, reason)
        return action, reason, probability, price

    def limits(
        self, campaign: FundedCampaign, arrival: PendingArrival, now: int, left: int
    ) -> SpendingLimits:
        """Return what an arrival may get, and give the kernels the money of the plan."""
        policy = campaign.policy
        offers = policy.offers_to(arrival)
        outlook = self.outlook(campaign, now)
        if self.serve is not None and arrival.own_costs is not None:
            by_name = {offer[0]: offer for offer in offers}  # without stopped ones
            outlook = outlook._replace(default_offer=by_name.get(self.serve.name))
        if arrival.available is not None:
            offers = [offer for offer in offers if offer[0] in arrival.available]
        allowed = [offer[0] for offer in offers if outlook.allows(arrival.context, offer)]
        policy.set_left(policy.units(outlook.beyond_default))
        narrowed = arrival
        if len(allowed) < len(policy.actions):
            narrowed = Narrowed(arrival.context, allowed, arrival.own_costs, arrival.row)
        arguments = {
            "horizon": self._arrivals + outlook.arrivals,
            "left": left,
            "held": outlook.held,
            "blocked": None if outlook.shared is None else [False] * len(policy.actions),
            "funds": None if arrival.own_costs is None else outlook.beyond_default,
        }
        return SpendingLimits(narrowed, arguments, outlook, offers, allowed)

    def reason(self, context: str, limits: SpendingLimits, action: int, reason: int) -> int:
        """Return the reason of a choice, in which the rules have their part."""
        if action != SKIP:
            return ACTED
        if reason == POLICY_SKIP and self._is_default_held(context, limits):
            return HELD_BY_PACE
        if reason in (PAST_HORIZON, POLICY_SKIP) or not limits.offers:
            return reason
        return self._reason(context, limits.offers, limits.allowed, limits.outlook)

    def _is_default_held(self, context: str, limits: SpendingLimits) -> bool:
        """Return whether the pace alone keeps the default from taking the place of a skip."""
        name = None if self.serve is None else self.serve.name
        default = [offer for offer in limits.offers if offer[0] == name]
        return any(limits.outlook.within_budget(context, offer) for offer in default)

    def _reason(
        self,
        context: str,
        offers: Sequence[Offer],
        allowed: Sequence[str],
        outlook: Outlook,
    ) -> int:
        """Return why no action was taken, where none could be paid."""
        if allowed:
            return POLICY_SKIP  # an action could be paid, but would use the default's money
        if any(outlook.within_budget(context, offer) for offer in offers):
            return HELD_BY_PACE
        if any(reserve <= outlook.left for _, _, reserve in offers):
            return POLICY_SKIP
        return UNAFFORDABLE

    def outlook(self, campaign: FundedCampaign, now: int, ledger: Ledger | None = None) -> Outlook:
        """Return what the next arrival may cost, if it comes now."""
        coming = self._coming(campaign, now)
        return Outlook(
            ledger=campaign.ledger if ledger is None else ledger,
            arrivals=coming,
            seen=self._arrivals,
            line=self._line(campaign, now) if self.even else None,
            caps=tuple(self._cap(usage, campaign, now, coming) for usage in self.usage),
            serve=self.serve,
            committed=campaign.committed if ledger is None else ledger.committed,
            shared=campaign.shared,
        )

    def decided(self, event: EventRow) -> None:
        """Count a decision: its money, and its arrival if it was counted."""
        seq, _, at, _, _, counted, context, action, cost, reserve = event[:10]
        if counted is not None:
            self._arrivals += 1
            self._since = at if self._since is None else self._since
            if self.serve is not None:
                self.serve.arrived(context, logged_costs(event[_DETAIL]))
        if action is not None:
            for usage in self.usage:
                usage.decided(seq, at, reserve, cost)

    def changed(self, decision: int, before: Ledger, after: Ledger) -> None:
        """Count a change of the ledger that belongs to an earlier decision."""
        for usage in self.usage:
            usage.changed(decision, before, after)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a snapshot."""
        return {
            "arrivals": self._arrivals,
            "since": self._since,
            "usage": [usage.to_dict() for usage in self.usage],
            "serve": None if self.serve is None else self.serve.to_dict(),
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._arrivals, self._since = table["arrivals"], table["since"]
        for usage, values in zip(self.usage, table["usage"], strict=True):
            usage.restore(values)
        if self.serve is not None:
            self.serve.restore(table["serve"])

    def _coming(self, campaign: FundedCampaign, now: int) -> int:
        """Return the number of arrivals to come, with the one of now; 0 at the end."""
        return campaign.horizon_at(now, self._arrivals) - self._arrivals

    def _line(self, campaign: FundedCampaign, now: int) -> float:
        """Return the share of the campaign that has passed with this arrival."""
        horizon = campaign.terms.horizon
        if isinstance(horizon, ClosingTime):
            return horizon.share_due(now / 1e6)
        return min(1.0, (self._arrivals + 1) / horizon)

    def _cap(self, usage: PeriodUsage, campaign: FundedCampaign, now: int, coming: int) -> CapState:
        end = usage.end(now)
        held, expected = usage.used(end)
        arrivals = self._arrivals_until(campaign, now, end, coming)
        return CapState(usage.period, usage.cap, held, expected, end, arrivals)

    def _arrivals_until(
        self, campaign: FundedCampaign, now: int, end: int, coming: int
    ) -> float | None:
        """Return the arrivals up to the end of a period, with the one of now.

        By the forecast of a closing time, else by the rate so far: None while that is not known.
        """
        horizon = campaign.terms.horizon
        if isinstance(horizon, ClosingTime):
            due, then = horizon.share_due(now / 1e6), horizon.share_due(end / 1e6)
            share = (then - due) / (1.0 - due) if due < 1.0 else 0.0
            return 1.0 + max(0, coming - 1) * share
        passed = 0 if self._since is None else now - self._since
        if self._arrivals < OBSERVED or passed <= 0:
            return None
        return min(float(coming), 1.0 + (end - now) * (self._arrivals / passed))
