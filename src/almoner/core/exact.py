"""Exact values by recursion over the budget left: of the best policy, and of a given one."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from almoner.checks import Floats
from almoner.compiled import compiled, exposed
from almoner.core.general import SKIP, find_price, options_at, priced_ratio, raise_hulls
from almoner.core.state import LEFT, ROUND, Hulls, Memo, State
from almoner.core.steps import ratio_of, serve_share
from almoner.policy.allocation import RoundedLP, SkipAlways
from almoner.policy.plan import Plan

__all__ = ["optimal_gain", "optimal_gain_on_grid", "policy_gain", "policy_gain_on_grid"]

REACH = 4.0
"""Half-width of the band of budgets that matter, in √T around the straight line.

By Hoeffding's inequality the budget leaves ±4√T with a probability below 2e-14.
"""

NEGLIGIBLE = 1e-22
"""Budgets less likely than this are left out of a distribution."""

_ROUNDED, _SKIP_ALWAYS = RoundedLP.code, SkipAlways.code


@compiled
def optimal_gain(gains: Floats, mass: Floats, worth: Floats, horizon: int, budget: int) -> float:
    """Return the most that ``budget`` unit-cost actions can gain in ``horizon`` rounds.

    ``gains`` are the positive best gains g of the contexts, falling; ``mass`` and ``worth`` the
    running sums of their probabilities π and of π·g. With D(b) = V(τ, b) − V(τ, b−1), what the
    b-th unit of budget is worth with τ rounds to go, and φ(d) = Σ_j π_j (g_j − d)⁺, dynamic
    programming reads

        V(τ+1, b) = V(τ, b) + φ(D(b)),    D'(b) = D(b) + φ(D(b)) − φ(D(b−1)).

    D falls in b, so φ is linear on runs of b between the gains, and within a run D' is an average
    of neighbours: no cancellation, no search. Outside a band of a few √T around the straight line
    from (T, B) the fluid limit is taken for D, because the budget never gets there.
    """
    count = len(gains)
    if budget <= 0 or count == 0:
        return 0.0
    reach = int(REACH * math.sqrt(horizon)) + 10
    now, after = np.zeros(budget + 2), np.zeros(budget + 2)
    now[0] = after[0] = math.inf
    starts = np.ones(count, np.int64)
    value, anchor, top = 0.0, 0, 0
    for tau in range(1, horizon + 1):
        centre = (budget * tau) // horizon
        low, high = max(1, centre - reach), min(budget, centre + reach)
        for b in range(top + 1, high + 1):
            now[b] = _fluid_price(gains, mass, b / (tau - 1)) if tau > 1 else 0.0
        top = high
        if centre > anchor:
            value += now[centre]
            anchor = centre
        if anchor > 0:
            value += _phi(gains, mass, worth, now[anchor])
        _advance(gains, mass, worth, starts, now, after, low, high)
        now, after = after, now
    return value


@compiled
def _advance(
    gains: Floats,
    mass: Floats,
    worth: Floats,
    starts: npt.NDArray[np.int64],
    now: Floats,
    after: Floats,
    low: int,
    high: int,
) -> None:
    """Write D with one round more into ``after``; ``starts`` holds where each run of b begins."""
    count = len(gains)
    after[low - 1] = now[low - 1]
    for place in range(count):
        start = max(starts[place], low)
        while start <= high and now[start] >= gains[place]:
            start += 1
        starts[place] = start
    for b in range(low, min(starts[0], high + 1)):
        after[b] = now[b]
    for place in range(count):
        start, stop = starts[place], high + 1 if place + 1 == count else starts[place + 1]
        if start >= stop:
            continue
        here = worth[place] - mass[place] * now[start]
        after[start] = now[start] + here - _phi(gains, mass, worth, now[start - 1])
        weight = mass[place]
        for b in range(start + 1, stop):
            after[b] = now[b] + weight * (now[b - 1] - now[b])


@compiled
def _phi(gains: Floats, mass: Floats, worth: Floats, price: float) -> float:
    """Return Σ_j π_j (g_j − price)⁺."""
    above = 0
    while above < len(gains) and gains[above] > price:
        above += 1
    return worth[above - 1] - mass[above - 1] * price if above > 0 else 0.0


@compiled
def _fluid_price(gains: Floats, mass: Floats, ratio: float) -> float:
    """Return what a little more budget is worth when randomness averages out."""
    for place in range(len(gains)):
        if mass[place] > ratio:
            return gains[place]
    return 0.0


@compiled
def optimal_gain_on_grid(
    probs: Floats,
    gains: Floats,
    costs: npt.NDArray[np.int64],
    horizon: int,
    budget: int,
    edges: Floats,
    heights: Floats,
) -> float:
    """Return the most that ``budget`` units can gain where costs differ but are whole numbers.

    Plain dynamic programming, V(τ+1, b) = Σ_j π_j max over what b affords of g_jk + V(τ, b − c_jk),
    action by action over runs of b, in the band that the budget never leaves. Outside it the fluid
    limit τ·v(b/τ) is taken, where v runs straight between the points (``edges``, ``heights``).
    """
    dearest = costs.max()
    reach = int(REACH * dearest * math.sqrt(horizon)) + dearest
    now, after, best = np.zeros(budget + 1), np.zeros(budget + 1), np.zeros(budget + 1)
    top = budget
    for tau in range(1, horizon + 1):
        centre = (budget * tau) // horizon
        low, high = max(0, centre - reach), min(budget, centre + reach)
        for b in range(max(0, low - dearest), low):
            now[b] = _fluid_gain(edges, heights, b, tau - 1)
        for b in range(top + 1, high + 1):
            now[b] = _fluid_gain(edges, heights, b, tau - 1)
        top = high
        after[low : high + 1] = 0.0
        for context in range(len(probs)):
            best[low : high + 1] = now[low : high + 1]
            for action in range(gains.shape[1]):
                gain, cost = gains[context, action], costs[context, action]
                first = max(low, cost)
                here, there = best[first : high + 1], now[first - cost : high + 1 - cost]
                for place in range(len(here)):
                    value = gain + there[place]
                    here[place] = value if value > here[place] else here[place]
            for b in range(low, high + 1):
                after[b] += probs[context] * best[b]
        now, after = after, now
    return now[budget]


@compiled
def _fluid_gain(edges: Floats, heights: Floats, b: int, tau: int) -> float:
    """Return τ·v(b/τ) of a concave v given by its corners, the first of which is (0, 0)."""
    for place in range(1, len(edges)):
        if b <= edges[place] * tau:
            slope = (heights[place] - heights[place - 1]) / (edges[place] - edges[place - 1])
            return tau * heights[place - 1] + (b - edges[place - 1] * tau) * slope
    return tau * heights[-1]


@compiled
def policy_gain(
    plan: Plan, probs: Floats, gains: Floats, own: Floats, ahead: Floats, tied: Floats
) -> float:
    """Return the expected gain of a policy that only looks at the rounds and the budget left.

    ``probs`` and ``gains`` are the truth of each context: its probability and what the policy's
    action brings there; ``own``, ``ahead`` and ``tied`` the weights as the policy sees them. The
    distribution of the budget left is carried forward, round by round.
    """
    chances, later = np.zeros(plan.budget + 1), np.zeros(plan.budget + 1)
    chances[plan.budget] = 1.0
    low = high = plan.budget
    total = 0.0
    for t in range(1, plan.horizon + 1):
        remaining = plan.horizon - t + 1
        for left in range(max(low - 1, 0), high + 1):
            later[left] = 0.0
        for left in range(low, high + 1):
            chance, taken, gain = chances[left], 0.0, 0.0
            if left > 0:
                ratio = ratio_of(plan, left, remaining)
                for context in range(len(probs)):
                    share = serve_share(
                        plan,
                        left >= remaining,
                        ratio - ahead[context],
                        own[context],
                        ahead[context],
                        tied[context],
                    )
                    taken += probs[context] * share
                    gain += probs[context] * share * gains[context]
                later[left - 1] += chance * taken
            total += chance * gain
            later[left] += chance * (1.0 - taken)
        chances, later = later, chances
        low = max(low - 1, 0)
        while high > low and chances[high] < NEGLIGIBLE:
            high -= 1
        while low < high and chances[low] < NEGLIGIBLE:
            low += 1
    return total


@exposed  # not `compiled`: that would count references to what the steps hand out uncounted
def policy_gain_on_grid(
    plan: Plan,
    state: State,
    memo: Memo,
    hulls: Hulls,
    probs: Floats,
    gains: Floats,
    chances: Floats,
    later: Floats,
) -> float:
    """Return the expected gain of a policy with known statistics where costs differ.

    ``probs`` and ``gains`` are the truth: of each context, and of each pair when the policy picks
    it, which is the average over those that it cannot tell from it. As in `policy_gain`, but a
    round may take any of the costs from the budget, so the distribution has gaps. The policy's
    hulls depend on the budget only where it no longer affords everything. ``chances`` and ``later``
    are scratch space, a number for every budget from 0 on.
    """
    if plan.rule == _SKIP_ALWAYS:
        return 0.0
    dearest, none = plan.dearest, np.uint64(0)
    chances[plan.budget] = 1.0
    low = high = plan.budget
    total = 0.0
    for t in range(1, plan.horizon + 1):
        remaining, raised = plan.horizon - t + 1, False
        state.clock[ROUND] = t - 1
        for left in range(max(low - dearest, 0), high + 1):
            later[left] = 0.0
        for left in range(low, high + 1):
            chance = chances[left]
            if chance < NEGLIGIBLE:
                continue
            if left < plan.cheapest:
                later[left] += chance
                continue
            if not raised:
                state.clock[LEFT] = left
                raise_hulls(plan, state, memo, hulls, -1, none)
                raised = left >= dearest
            price, rate = find_price(plan, hulls, 1.0, priced_ratio(plan, left, remaining))
            for context in range(len(probs)):
                base, step, share = options_at(plan, hulls, context, price, rate)
                likely = chance * probs[context]
                if step != SKIP:
                    later[left - plan.costs[context, step]] += likely * share
                    total += likely * share * gains[context, step]
                if base != SKIP:
                    later[left - plan.costs[context, base]] += likely * (1.0 - share)
                    total += likely * (1.0 - share) * gains[context, base]
                else:
                    later[left] += likely * (1.0 - share)
        chances, later = later, chances
        low = max(low - dearest, 0)
        while high > low and chances[high] < NEGLIGIBLE:
            high -= 1
        while low < high and chances[low] < NEGLIGIBLE:
            low += 1
    return total
