"""Statistics where rewards come within a window, and silence until its end is a reward of 0.

A decision of age a counts as F(a) rewards, F being the share of the rewards above 0 that have come
by then, and as one reward once its window has ended. For a pair with sum of rewards S, N decisions
and E = Σ F(a) of them,

- ``State.sums`` holds S, ``State.counts`` E, and ``State.pending`` N − E;
- the mean is S/E, with a prior, and at most 1: S may exceed E by chance;
- the count of the index is N, with the prior's: evidence that is on its way is not bought again.

`almoner.live.rewards.reward_window` computes E from the ages of decisions, now and then, and
`mature` recomputes everything that depends on it. A reward adds to S when it comes (`learn`), a
decision to N when it is made (`take`).
"""

from __future__ import annotations

from almoner.jit import jit_entry
from almoner.kernels.refit import refit, update_mean
from almoner.kernels.state import REWARDS, VALID_UNTIL, Memo, State
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson, KnownRewards

__all__ = ["mature"]

_KNOWN, _INSURED = KnownRewards.code, InsuredWilson.code


@jit_entry
def mature(policy: LoweredPolicy, state: State, memo: Memo) -> None:
    """Recompute the means of all pairs, and the fit, after the evidence has aged."""
    if policy.reward == _KNOWN:
        return
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            update_mean(policy, state, memo, context, action)
    state.fit[REWARDS] += 1.0  # so that every fit has another number
    if policy.pooled == 1 or policy.reward == _INSURED:
        refit(policy, state, memo)
    memo.validity[VALID_UNTIL] = 0
