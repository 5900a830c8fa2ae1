"""Plan of a campaign at given estimates: the static LP, with its default action or hold-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from almoner.live.estimates.estimates import Estimates, optimum
from almoner.live.terms.terms import Terms
from almoner.lp import Solution
from almoner.types import Ints

__all__ = ["plan_at"]


def plan_at(
    terms: Terms,
    estimates: Estimates,
    *,
    reserves: Ints,
    funds: int,
    ratio: float | None = None,
) -> Solution:
    """Return the optimum among the actions whose reserves fit the funds.

    With a hold-out the budget is for the others: the probabilities are theirs, while value, ratio
    and boundaries are per arrival of all.

    With a default action it is the best plan which takes it instead of skipping: the default is
    paid first, and the rest of the ratio buys improvements, at what they cost more. Where the ratio
    does not even pay for the default in every round, as many are served with it as it pays for.
    """
    ratio = estimates.ratio if ratio is None else ratio
    if terms.holdout > 0:
        share = 1.0 - terms.holdout
        best = optimum(estimates, reserves=reserves, funds=funds, ratio=ratio / share)
        idle = float(estimates.context_probs @ estimates.default_rewards)
        value, boundaries = share * best.value + terms.holdout * idle, share * best.boundaries
        boundaries.setflags(write=False)
        return replace(best, value=value, boundaries=boundaries, ratio=ratio)
    if terms.default is None:
        return optimum(estimates, reserves=reserves, funds=funds, ratio=ratio)
    default = terms.actions.index(terms.default)
    own = estimates.costs[:, default]
    needed = float(estimates.context_probs @ own)
    improvements = estimates._replace(costs=np.maximum(0.0, estimates.costs - own[:, None]))
    rest = max(0.0, ratio - needed)
    best = optimum(improvements, reserves=reserves, funds=funds, ratio=rest)
    probabilities = np.array(best.probabilities)
    if (reserves[:, default] <= funds).all():
        probabilities[:, default] += 1.0 - probabilities.sum(axis=1).clip(0.0, 1.0)
    boundaries, value, price = best.boundaries + needed, best.value, best.price
    if ratio < needed:
        served = ratio / needed
        probabilities, value, price = probabilities * served, value * served, value / needed
        boundaries = np.append(needed, boundaries)
    probabilities.setflags(write=False)
    boundaries.setflags(write=False)
    return replace(
        best,
        probabilities=probabilities,
        value=value,
        price=price,
        boundaries=boundaries,
        ratio=ratio,
    )
