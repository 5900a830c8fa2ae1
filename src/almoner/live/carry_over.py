"""Carry-over: counts and sums of rewards that a new campaign begins with.

They come from a prior, from an earlier campaign of the same store, or from both, matched by the
names of contexts and actions, and are copied into the terms, so that the log stands alone. The
policy takes them for rewards that it has seen. Where rewards come within a window, so are the
delays of those of the earlier campaign.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from almoner import checks
from almoner.errors import InvalidTerms, UnknownCampaign
from almoner.live.estimates.estimates import pair_means
from almoner.live.reports.history import History
from almoner.live.reports.make_report import present_estimates, present_means
from almoner.live.reports.reporter import Reporter
from almoner.live.rewards.cohorts import EDGES
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.prior import Prior
from almoner.live.terms.terms import LEARNED, SKIP_NAME, Terms
from almoner.policy.rewards import KnownRewards
from almoner.store.base import Store
from almoner.types import Floats

__all__ = ["expected_means", "inherit"]

Pairs = dict[str, dict[str, list[float]]]
"""Count and sum of rewards by context and action."""

log = logging.getLogger("almoner")


def inherit(terms: Terms, store: Store | None, now: int) -> Terms:
    """Return terms with the numbers that their prior and the campaign before them come to.

    ``now`` is the time in microseconds, by which decisions of a reward window have aged.
    """
    if terms.prior is None and terms.after is None:
        return terms
    if isinstance(terms.policy.rewards, KnownRewards):
        raise InvalidTerms(
            "a policy that takes means as known learns nothing, and has no use for after or prior; "
            "leave them out, or choose a policy that learns, such as thrifty()"
        )
    pairs: Pairs = {}
    inherited: dict[str, Any] = {"pairs": pairs}
    if terms.prior is not None:
        _add(terms, pairs, _of_prior(terms), "the prior")
    if terms.after is not None:
        earlier = _read(store, terms.after, now)
        _refuse_other_unit(terms, earlier.terms)
        known = _of_campaign(terms, earlier)
        _add(terms, pairs, known, f"campaign {terms.after!r}")
        inherited["arrivals"] = _arrivals(terms, earlier)
        inherited |= _delays(terms, earlier, now)
        counts = (count for row in known.values() for count, _ in row.values())
        if terms.memory and not any(counts):
            log.warning("campaign %r has no rewards yet: nothing is inherited from it", terms.after)
    return replace(terms, inherited=inherited)


def expected_means(terms: Terms) -> tuple[Floats, Floats]:
    """Return the means of pairs and of skips in [0, 1] that a campaign would begin with.

    After an earlier campaign they are the estimates with which this one would plan; else those of
    the prior as they are guessed, and for other pairs what the policy infers from these, or the
    middle of the range, and for a skip 0. Guesses without weight always count.
    """
    campaign = Campaign(terms)
    known = present_means(campaign)
    skips = np.array([terms.default_in(context) for context in terms.contexts])
    if terms.after is None:
        known = pair_means(campaign.policy.statistics.by_pair())
    elif terms.default_rewards == LEARNED:
        skips = present_estimates(campaign, History(terms), known, 0.0).default_rewards.copy()
    means, skips = known.means[: len(terms.contexts)].copy(), skips[: len(terms.contexts)]
    if terms.default_rewards == LEARNED:
        skips = skips.clip(0.0, 1.0)
    for row, context in enumerate(terms.contexts):
        guesses = _guesses(terms, context)
        for column, action in enumerate(terms.actions):
            means[row, column] = guesses.get(action, means[row, column])
        if terms.default_rewards == LEARNED:
            skips[row] = guesses.get(SKIP_NAME, skips[row])
    return means, skips


def _guesses(terms: Terms, context: str) -> dict[str, float]:
    """Return the means in a context, in [0, 1], that are taken as they are guessed."""
    if terms.prior is None:
        return {}
    return {
        action: terms.scale.to_unit("a prior mean", mean, error=InvalidTerms)
        for name, action, weight, mean in Prior(**terms.prior).pairs()
        if name == context and (terms.after is None or weight == 0)
    }


def _add(terms: Terms, pairs: Pairs, more: Pairs, source: str) -> None:
    """Add counts and sums of the pairs whose names this campaign has; refuse if there is none."""
    names = {*terms.actions, *([SKIP_NAME] if terms.default_rewards == LEARNED else [])}
    matched = False
    for context, row in more.items():
        if context not in terms.contexts and not terms.new_contexts:
            continue
        for action, (count, total) in row.items():
            if action not in names:
                continue
            matched = True
            if count > 0:
                before = pairs.setdefault(context, {}).get(action, [0.0, 0.0])
                pairs[context][action] = [before[0] + count, before[1] + total]
    if not matched:
        raise InvalidTerms(
            f"{source} has no context and action of this campaign; give it the same names, or "
            "leave it out"
        )


def _of_prior(terms: Terms) -> Pairs:
    pairs: Pairs = {}
    for context, action, weight, mean in Prior(**(terms.prior or {})).pairs():
        name = f"the prior mean of {action!r} for {context!r}"
        unit = terms.scale.to_unit(name, mean, error=InvalidTerms)
        pairs.setdefault(context, {})[action] = [weight, weight * unit]
    return pairs


def _read(store: Store | None, name: str, now: int) -> Campaign:
    """Return an earlier campaign of a store as its log has it now."""
    stored = None if store is None else store.terms(name)
    if store is None or stored is None:
        near = "" if store is None else checks.nearest(name, store.campaigns())
        raise UnknownCampaign(
            f"after must name a campaign of this store, got after={name!r}; "
            f"{near or 'leave it out to begin without one'}"
        )
    reporter = Reporter(store, name, Terms.from_json(stored), lambda: now)
    campaign = reporter.view(lambda campaign: campaign)
    if campaign.window is not None:  # nobody else has this copy
        campaign.window.age(now, campaign.policy)
    return campaign


def _refuse_other_unit(terms: Terms, earlier: Terms) -> None:
    """Refuse rewards of another unit, whose means say nothing here."""
    one, other = (
        (each.reward_range is not None and (each.currency or "any")) for each in (terms, earlier)
    )
    if one != other:
        raise InvalidTerms(
            f"campaign {terms.after!r} has rewards {earlier.scale} and this one {terms.scale}; "
            "give this one the same reward_range and currency, or leave after out"
        )


def _of_campaign(terms: Terms, earlier: Campaign) -> Pairs:
    """Return the counts and sums of a campaign at the weight of ``memory``.

    They include those that it has itself inherited.
    """
    memory, pairs, state = terms.memory or 0.0, Pairs(), earlier.state
    learned = earlier.policy.statistics.by_action()
    for context, row in earlier.contexts.items():
        pairs[context] = {
            action: _at_weight(memory, counts.item(row), sums.item(row))
            for action, (counts, sums, _) in learned.items()
        }
        if earlier.terms.default_rewards == LEARNED:
            skips = state.skip_counts.item(row), state.skip_sums.item(row)
            pairs[context][SKIP_NAME] = _at_weight(memory, *skips)
    if earlier.terms.reward_range == terms.reward_range:
        return pairs
    return {
        context: {
            action: [count, _converted(terms, earlier.terms, action, context, count, total)]
            for action, (count, total) in row.items()
        }
        for context, row in pairs.items()
    }


def _at_weight(memory: float, count: float, total: float) -> list[float]:
    """Return count and sum at a weight; of a reward window the sum may exceed the count."""
    return [memory * count, memory * min(count, total)]


def _converted(
    terms: Terms, earlier: Terms, action: str, context: str, count: float, total: float
) -> float:
    """Return a sum of rewards of an earlier campaign in this one's range."""
    if count == 0:
        return 0.0
    name = f"the mean of {action!r} for {context!r} in campaign {terms.after!r}"
    mean = earlier.scale.value(total / count)
    return count * terms.scale.to_unit(name, mean, error=InvalidTerms)


def _delays(terms: Terms, earlier: Campaign, now: int) -> dict[str, list[float]]:
    """Return the rewards of a campaign by their delay, at the weight of ``memory``, if known.

    Nothing is known of delays beyond its own window; later ones than that of this campaign are left
    out.
    """
    window, before = terms.reward_window, earlier.window
    if window is None or before is None or window > before.length:
        return {}
    counts = np.array(before.expected_delays(now))
    if window < before.length:
        middles = (EDGES[:-1] + EDGES[1:]) / 2 * before.length / window
        bins = np.searchsorted(EDGES, middles, side="right") - 1
        counts = np.bincount(bins[middles < 1], counts[middles < 1], len(EDGES) - 1)
    return {"delays": ((terms.memory or 0.0) * counts).tolist()}


def _arrivals(terms: Terms, earlier: Campaign) -> dict[str, float]:
    """Return the arrivals of the contexts that both campaigns have."""
    counts = earlier.state.context_counts
    return {
        context: float(counts[row])
        for context, row in earlier.contexts.items()
        if terms.new_contexts or context in terms.contexts
    }
