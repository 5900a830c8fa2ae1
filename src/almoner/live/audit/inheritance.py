"""Check of what a campaign began with: inherited rewards against the terms that asked for them.

The campaign before may have had more rewards since, so that its own log is not asked.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.live.terms.terms import LEARNED, SKIP_NAME, Terms

__all__ = ["inheritance_fault"]

TOLERANCE = 1e-9
"""Share of a count up to which a sum may differ by rounding."""


def inheritance_fault(terms: Terms) -> str | None:
    """Return what is wrong with the rewards that a campaign began with, if anything is."""
    asked = terms.after is not None or terms.prior is not None
    if (terms.inherited is not None) != asked:
        return "inherits rewards that nobody asked for" if not asked else "lacks what it inherits"
    if terms.inherited is None:
        return None
    pairs: dict[str, Any] = terms.inherited.get("pairs", {})
    for context, row in pairs.items():
        if context not in terms.contexts and not terms.new_contexts:
            return f"inherits rewards of the undeclared context {context!r}"
        for action, (count, total) in row.items():
            known = action in terms.costs or (
                action == SKIP_NAME and terms.default_rewards == LEARNED
            )
            if not known:
                return f"inherits rewards of the unknown action {action!r}"
            if not 0 < count < math.inf or not 0 <= total <= count * (1 + TOLERANCE):
                return f"inherits {count} rewards of {action!r} for {context!r} that add to {total}"
    delays = terms.inherited.get("delays", [])
    if delays and (terms.after is None or terms.reward_window is None):
        return "inherits delays of rewards that nobody asked for"
    if not all(0 <= count < math.inf for count in delays):
        return f"inherits delays of rewards that cannot be: {delays}"
    return _prior_fault(terms, pairs)


def _prior_fault(terms: Terms, pairs: dict[str, Any]) -> str | None:
    """Return a pair whose rewards are fewer than the weight of its prior, or others without after.

    A mean m in a range from low to high counts as w rewards of (m - low)/(high - low).
    """
    if terms.prior is None:
        return None
    low, high = terms.reward_range or (0.0, 1.0)
    weights = terms.prior["weight"]
    for context, row in terms.prior["means"].items():
        for action, mean in row.items():
            if action not in pairs.get(context, {}):
                continue
            weight = weights[context][action] if isinstance(weights, dict) else weights
            count, total = pairs[context][action]
            share = (mean - low) / (high - low)
            slack = TOLERANCE * max(1.0, count)
            exact = terms.after is None
            if count < weight - slack or (exact and abs(count - weight) > slack):
                return f"inherits {count} rewards of {action!r} for {context!r}, not {weight}"
            if exact and abs(total - weight * share) > slack:
                return f"inherits a sum of {total} of {action!r} for {context!r}"
    return None
