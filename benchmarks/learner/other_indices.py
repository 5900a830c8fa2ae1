"""Indices that could take the place of the Wilson bound of `thrifty`, on the same pooled posterior.

The posterior of a pair has the mean and the count of the package's own state, the rewards that are
borrowed included. Costs are equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from almoner.jit import jit, jit_inline
from almoner.kernels.beta_distribution import beta_cdf
from almoner.kernels.indices import exploration_level, kl_bound, score_bound
from almoner.kernels.normal import normal_quantile
from almoner.kernels.pair_index import evidence_after
from almoner.kernels.state import EVIDENCE, LEVEL, ROUND, SEEN_SHARE, STAKE, Memo, State
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats
from benchmarks.learner.gittins import STEP

__all__ = [
    "BAYES_PLAYS",
    "BAYES_ROUNDS",
    "GITTINS",
    "WILSON",
    "Rule",
    "own_value",
    "shape_of",
    "value",
]

WILSON, GITTINS, BAYES_ROUNDS, BAYES_PLAYS = range(4)
"""Indices: the bound of `thrifty`, the same with the computed boundary of Gittins, and quantiles of
the posterior (Bayes-UCB) at 1 − 1/t, and at 1 − 1/(1 + n/C) for n plays left after C."""

CLOSE = 1e-7


class Rule(NamedTuple):
    """A rule: an index, with the insurance of `thrifty` or not, and what is tried beside it.

    ``sampling`` is 1 if the action of a context is chosen by information-directed sampling.
    ``challenge`` is the share of plays that go to a challenger, as long as these have cost at most
    ``premium`` of the reward of the campaign.
    """

    kind: int
    insured: int = 0
    sampling: int = 0
    challenge: float = 0.0
    premium: float = 0.05


@jit_inline
def value(
    rule: Rule,
    state: State,
    memo: Memo,
    boundary: Floats,
    context: int,
    action: int,
    level: float,
    share: float,
) -> float:
    """Return the index of a pair whose context has this many plays left, at a share of its level.

    Quantiles have no level, and no share.
    """
    mean, count = memo.means[context, action], memo.counts[context, action]
    if count == 0.0:
        return 1.0
    plays = max(1.0, state.fit[SEEN_SHARE] * level)
    if rule.kind >= BAYES_ROUNDS:
        tail = 1.0 / (1.0 + plays / count)
        if rule.kind == BAYES_ROUNDS:
            tail = 1.0 / (2.0 + state.progress[ROUND])
        a, b = shape_of(state, memo, context, action)
        return float(beta_quantile(a, b, tail))
    if mean >= 1.0:
        return float(1.0 + 1e-9 * count)
    if rule.kind == GITTINS:
        at = math.log1p(plays / count) / STEP
        entry = min(int(at), len(boundary) - 2)
        g = boundary[entry] + (at - entry) * (boundary[entry + 1] - boundary[entry])
    else:
        g = exploration_level(plays / count)
    common = state.action_shares[context, action]
    g = (1.0 - common) * g + common * state.action_fit[LEVEL, action]
    return float(score_bound(mean, share * g / count))


@jit_inline
def own_value(
    rule: Rule,
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    boundary: Floats,
    context: int,
    action: int,
    level: float,
    share: float,
) -> float:
    """Return the index of a pair while its own context is decided, insured if the rule says so."""
    index = value(rule, state, memo, boundary, context, action, level, share)
    margin = state.fit[STAKE] / level
    if rule.insured == 0 or state.fit[EVIDENCE] <= 0.0 or margin >= 1.0:
        return index
    count, total = state.counts[context, action], state.sums[context, action]
    at_most = 1.0 + 1e-9 * count
    if total < count:
        asked = min(state.fit[EVIDENCE], evidence_after(policy, count))
        at_most = kl_bound(total / count, asked / (count + state.pending[context, action]))
    return float(max(index, at_most - margin))


@jit_inline
def shape_of(state: State, memo: Memo, context: int, action: int) -> tuple[float, float]:
    """Return the Beta posterior of a pair; its prior is uniform where nothing is borrowed."""
    count = memo.counts[context, action]
    uniform = 1.0 if state.prior_counts[context, action] == 0.0 else 0.0
    wins = memo.means[context, action] * count
    return max(0.01, wins + uniform), max(0.01, count - wins + uniform)


@jit
def beta_quantile(a: float, b: float, tail: float) -> float:
    """Return the value that a Beta(a, b) draw exceeds with probability ``tail``.

    By the secant method within a bracket, from the Wilson bound on.
    """
    low, high = 0.0, 1.0
    z = normal_quantile(1.0 - tail)
    x = score_bound(a / (a + b), 0.5 * z * z / (a + b))
    before, error_before = a / (a + b), beta_cdf(a, b, a / (a + b)) - 1.0 + tail
    for _ in range(40):
        error = beta_cdf(a, b, x) - 1.0 + tail
        low, high = (x, high) if error < 0.0 else (low, x)
        if abs(error) < 1e-3 * tail or high - low < CLOSE:
            break
        step = np.inf if error == error_before else error * (x - before) / (error - error_before)
        before, error_before = x, error
        x = x - step if low < x - step < high else 0.5 * (low + high)
    return x
