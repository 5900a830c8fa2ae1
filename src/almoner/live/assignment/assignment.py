"""Assignment of an arrival beside its policy: persons who have enough, hold-out, exploration.

With the policy's probability π(a) of an action, the share h held out, the share e decided at random
and m options that could be taken, skipping among them,

    P(a) = (1 − h)((1 − e) π(a) + e/m),    P(skip) = h + (1 − h)((1 − e) π(skip) + e/m)

are logged with every decision, so that other policies can be evaluated on the log.
"""

from __future__ import annotations

from math import ceil, nan
from typing import Any

from almoner.kernels.draws import EXPLORE_LANE, HOLDOUT_LANE, PICK_LANE
from almoner.kernels.live import ACTED, PAST_HORIZON
from almoner.kernels.steps import SKIP
from almoner.live.policy.choice import Choice, PendingArrival
from almoner.live.policy.detail import logged_probabilities
from almoner.live.spending.spending import SpendingLimits
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.terms import SKIP_NAME, Terms
from almoner.store.events import Event

__all__ = [
    "EXPLORED",
    "HAS_ENOUGH",
    "HELD_OUT",
    "assign",
    "probabilities",
    "skip_probability",
]

HAS_ENOUGH, HELD_OUT, EXPLORED = 101, 102, 103
"""Reasons of a skip beside those of the kernels: the person has had enough; the arrival is held
out; a skip was drawn at random."""

NEGLIGIBLE = 1e-12
"""Probabilities of a skip below this are rounding errors of those of the actions."""


def assign(
    campaign: Campaign, arrival: PendingArrival, now: int
) -> tuple[Choice, dict[str, float] | None]:
    """Decide for one arrival, and record it as taken.

    Returns the choice, and the probabilities of all options by name if the campaign logs them.
    """
    terms, policy, visitor = campaign.terms, campaign.policy, arrival.visitor
    limits, left = None, campaign.ledger.left
    if campaign.spending is None:
        horizon = campaign.horizon_at(now, campaign.arrivals)
        arguments: dict[str, Any] = {
            "horizon": horizon,
            "left": left,
            "blocked": _blocked(campaign, arrival),
            "funds": None if arrival.own_costs is None else campaign.funds(now),
        }
        asked = arrival
    else:
        limits = campaign.spending.limits(campaign, arrival, now, left)
        asked, arguments = limits.arrival, limits.arguments
        horizon = arguments["horizon"]
    if visitor is not None and visitor.has_enough and campaign.arrivals < horizon:
        policy.take(arrival, SKIP, horizon=horizon)
        return (SKIP, HAS_ENOUGH, 1.0, nan), {SKIP_NAME: 1.0} if terms.spreads else None
    if not terms.spreads:
        (action, reason, probability, price), *_ = policy.choose((asked,), **arguments)
        reason = _reason(campaign, arrival, limits, action, reason)
        return (action, reason, probability, price), None
    arguments["horizon"] = _planned_horizon(terms, campaign.arrivals, horizon)
    (action, reason, _, price), spread, options = policy.weigh(asked, **arguments)
    reason = _reason(campaign, arrival, limits, action, reason)
    if reason == PAST_HORIZON:
        shares = [1.0] + [0.0] * len(spread)
    else:
        action, reason = _drawn(campaign, arrival, action, reason, options)
        shares = probabilities(spread, options, holdout=terms.holdout, explore=terms.explore)
    policy.take(arrival, action)
    names = (SKIP_NAME, *policy.actions)
    spread_over = {name: p for name, p in zip(names, shares, strict=True) if p > 0}
    return (action, reason, shares[action + 1], price), spread_over


def _blocked(campaign: Campaign, arrival: PendingArrival) -> list[bool] | None:
    """Return which actions shared reserves cannot bear; None if reserves are not shared."""
    shared = campaign.evidence.shared
    if shared is None:
        return None
    return shared.blocked(campaign.ledger, campaign.policy.offers_to(arrival))


def _reason(
    campaign: Campaign,
    arrival: PendingArrival,
    limits: SpendingLimits | None,
    action: int,
    reason: int,
) -> int:
    """Return the reason of the policy's choice, in which a pace may have its part."""
    if campaign.spending is None or limits is None:
        return reason
    return campaign.spending.reason(arrival.context, limits, action, reason)


def probabilities(
    spread: list[float], options: list[bool], *, holdout: float, explore: float
) -> list[float]:
    """Return the probability of a skip and of each action.

    Parameters
    ----------
    spread, options
        The probability of each action under the policy, and whether it could be taken.
    holdout, explore
        The shares of arrivals that are held out, and of the others that are decided at random.

    Examples
    --------
    >>> probabilities([0.5, 0.0], [True, True], holdout=0.2, explore=0.3)
    [0.56, 0.36, 0.08]
    """
    skip = 1.0 - sum(spread)
    each = explore / (1 + sum(options))
    mixed = [(1 - explore) * (skip if skip > NEGLIGIBLE else 0.0) + each] + [
        (1 - explore) * p + each * fits for p, fits in zip(spread, options, strict=True)
    ]
    actions = [(1 - holdout) * p for p in mixed[1:]]
    return [min(1.0, holdout + (1 - holdout) * mixed[0]), *actions]


def skip_probability(decided: Event) -> float | None:
    """Return the probability with which a decision would have been a skip."""
    shares = logged_probabilities(decided.detail)
    if shares is None:  # the campaign was not running
        return decided.probability
    return shares[SKIP_NAME]


def _drawn(
    campaign: Campaign, arrival: PendingArrival, action: int, reason: int, options: list[bool]
) -> tuple[int, int]:
    """Return the action and the reason of a skip, after the draws of hold-out and exploration."""
    terms, policy, visitor = campaign.terms, campaign.policy, arrival.visitor
    held = policy.draw(HOLDOUT_LANE) if visitor is None else visitor.draw
    if held < terms.holdout:
        return SKIP, HELD_OUT
    possible = [index for index, fits in enumerate(options) if fits]
    if possible and policy.draw(EXPLORE_LANE) < terms.explore:
        drawn = int(policy.draw(PICK_LANE) * (1 + len(possible)))
        return (SKIP, EXPLORED) if drawn == 0 else (possible[drawn - 1], ACTED)
    return action, reason


def _planned_horizon(terms: Terms, arrivals: int, horizon: int) -> int:
    """Return the horizon that the policy plans for: arrivals that will be held out cost nothing."""
    if arrivals >= horizon or terms.counts_rounds:
        return horizon
    return arrivals + max(1, ceil((1 - terms.holdout) * (horizon - arrivals)))
