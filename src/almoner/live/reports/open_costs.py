"""Expected cost of the open decisions now, and whether the budget bears another one.

The ledger has their expected costs as of each decision. With a risk, a decision without a bill is
expected to cost less the older it is, and the campaign plans with that.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from almoner.live.state.campaign_state import Campaign

__all__ = ["OpenCosts", "open_costs"]


class OpenCosts(NamedTuple):
    """Expected cost of the open decisions, money left, and whether one more is admitted.

    ``left`` is what a new decision may reserve; with a risk, the money neither spent nor expected
    to be. Amounts are in units.
    """

    planned: int
    left: int
    admits: bool


def open_costs(campaign: Campaign, now: int, *, cheapest: int = 0) -> OpenCosts:
    """Return the expected cost of the open decisions; ``cheapest`` is the least reserve of all."""
    ledger, aged = campaign.ledger, campaign.evidence.aged_reserves(campaign, now)
    if aged is None:
        return OpenCosts(ledger.planned, ledger.left, ledger.left >= cheapest)
    planned = ceil(aged.expected)
    amounts = {offer[1:] for offers in campaign.policy.offers.values() for offer in offers}
    admits = any(aged.admits(ledger, cost=cost, reserve=reserve) for cost, reserve in amounts)
    return OpenCosts(planned, max(0, ledger.budget - ledger.spent - planned), admits)
