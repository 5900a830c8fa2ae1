"""Exact value of a policy that knows all statistics: the distribution of the budget, by rounds.

Such a policy depends on the rounds and the budget left only. With equal costs a round takes O(n·J)
for n budgets of positive probability and J contexts; with unequal costs O(n·J·K), K the actions.
"""

from __future__ import annotations

import numpy as np

from almoner.jit import jit, jit_callable
from almoner.kernels.hulls import compute_hulls
from almoner.kernels.price import find_price
from almoner.kernels.priced import SKIP, options_at, priced_ratio
from almoner.kernels.state import LEFT, ROUND, Hulls, Memo, State
from almoner.kernels.steps import ratio_of, serve_share
from almoner.policy.allocation import RoundedLP, SkipAlways
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats

__all__ = ["policy_gain", "policy_gain_on_grid", "rank_weights"]

NEGLIGIBLE = 1e-22
"""Budgets less likely than this are left out of the distribution.

That leaves out at most 1e-22 for each budget of each round, and a path left out could have gained
at most 1 in each of T rounds. With equal costs only the ends are cut, no more than T + 2B times, so
the error is below 1e-22 · T(T + 2B): 3e-12 at T = 10^5. With unequal costs gaps are cut too, and it
is below 1e-22 · T²·n for n budgets in the distribution: 3e-11 at T = 10^4, n = 3,000.
"""

_ROUNDED, _SKIP_ALWAYS = RoundedLP.code, SkipAlways.code


@jit
def rank_weights(values: Floats, weights: Floats, near: float) -> tuple[Floats, Floats]:
    """Return the weight of the contexts ranked above each one, and of the others tied with it.

    They are summed in their order, as in a run: at one half the last bit decides what `rounded`
    does.
    """
    ahead, tied = np.zeros(len(values)), np.zeros(len(values))
    for context in range(len(values)):
        for other in range(len(values)):
            if values[other] > values[context] + near:
                ahead[context] += weights[other]
            elif other != context and values[other] >= values[context] - near:
                tied[context] += weights[other]
    return ahead, tied


@jit
def policy_gain(
    policy: LoweredPolicy, probs: Floats, gains: Floats, own: Floats, ahead: Floats, tied: Floats
) -> float:
    """Return the expected gain of a policy with known statistics at equal costs.

    ``probs`` and ``gains`` are true: the probability of each context, and the gain of the policy's
    action there; ``own``, ``ahead`` and ``tied`` are the weights that the policy uses. The
    distribution of the budget left is carried forward, round by round.
    """
    chances, later = np.zeros(policy.budget + 1), np.zeros(policy.budget + 1)
    chances[policy.budget] = 1.0
    low = high = policy.budget
    total = 0.0
    for t in range(1, policy.horizon + 1):
        remaining = policy.horizon - t + 1
        for left in range(max(low - 1, 0), high + 1):
            later[left] = 0.0
        for left in range(low, high + 1):
            chance, taken, gain = chances[left], 0.0, 0.0
            if left > 0:
                ratio = ratio_of(policy, left, remaining)
                for context in range(len(probs)):
                    share = serve_share(
                        policy,
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


@jit_callable  # not `jit`: that counts references, which the inlined steps do not
def policy_gain_on_grid(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    probs: Floats,
    gains: Floats,
    chances: Floats,
    later: Floats,
) -> float:
    """Return the expected gain of a policy with known statistics where costs differ.

    ``probs`` and ``gains`` are true: the probability of each context, and the gain of each pair,
    averaged over the pairs that the policy finds tied with it. As in `policy_gain`, but a round
    takes one of several costs from the budget, so the distribution has gaps. The policy's hulls
    depend on the budget only where it does not afford every action. ``chances`` and ``later`` are
    scratch space, a number for every budget from 0 on.
    """
    if policy.rule == _SKIP_ALWAYS:
        return 0.0
    dearest, none = policy.dearest, np.uint64(0)
    chances[policy.budget] = 1.0
    low = high = policy.budget
    total = 0.0
    for t in range(1, policy.horizon + 1):
        remaining, raised = policy.horizon - t + 1, False
        state.progress[ROUND] = t - 1
        for left in range(max(low - dearest, 0), high + 1):
            later[left] = 0.0
        for left in range(low, high + 1):
            chance = chances[left]
            if chance < NEGLIGIBLE:
                continue
            if left < policy.cheapest:
                later[left] += chance
                continue
            if not raised:
                state.progress[LEFT] = left
                compute_hulls(policy, state, memo, hulls, -1, none)
                raised = left >= dearest
            price, rate = find_price(policy, hulls, 1.0, priced_ratio(policy, left, remaining))
            for context in range(len(probs)):
                base, step, share = options_at(policy, hulls, context, price, rate)
                likely = chance * probs[context]
                if step != SKIP:
                    later[left - policy.costs[context, step]] += likely * share
                    total += likely * share * gains[context, step]
                if base != SKIP:
                    later[left - policy.costs[context, base]] += likely * (1.0 - share)
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
