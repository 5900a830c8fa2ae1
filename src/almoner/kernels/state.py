"""Data of a run: `State` holds statistics, round and budget left; `Memo` and `Hulls` are caches.

Snapshots keep the state. The caches follow from the policy and the state, and only save time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almoner.jit import jit_inline
from almoner.kernels.indices import fill_levels
from almoner.lp import hull_steps
from almoner.policy.contexts import KnownContexts
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson, KnownRewards
from almoner.types import Floats, Ints

__all__ = [
    "ACTION_SPREAD",
    "AT_MOST",
    "CONTEXT_SPREAD",
    "EFFECT",
    "EVIDENCE",
    "EXPLORED",
    "FROZEN",
    "GRAND_MEAN",
    "KEPT_BELOW",
    "KEPT_LEAST",
    "LARGEST",
    "LAST_CONTEXT",
    "LAST_PRICE",
    "LEFT",
    "LEVEL",
    "MERGED",
    "NEW_COUNT",
    "NEW_MEAN",
    "NEW_SHARE",
    "OVERALL_MEAN",
    "REFIT_AT",
    "RESIDUAL",
    "REWARDS",
    "ROUND",
    "SEEN_SHARE",
    "STAKE",
    "THIS_CONTEXT",
    "UNIT_PRICE",
    "VALID_HORIZON",
    "VALID_LEAST",
    "VALID_MOST",
    "VALID_UNTIL",
    "WORKING",
    "Hulls",
    "Memo",
    "State",
    "empty_hulls",
    "new_hulls",
    "new_levels",
    "new_memo",
    "new_state",
    "reset",
]

ROUND, LEFT, FROZEN, EXPLORED, TESTED = 0, 1, 2, 3, 4
"""Indices in ``State.progress``: rounds completed, units left, and the rounds (0: none) in which
context shares were frozen, exploration ended, and its end was last tested for."""

GRAND_MEAN, CONTEXT_SPREAD, ACTION_SPREAD, RESIDUAL = 0, 1, 2, 3
"""Indices in ``State.fit``: μ of the pooled prior, and the variances of its effects and of ε."""

REWARDS, REFIT_AT, SEEN_SHARE, STAKE, EVIDENCE, OVERALL_MEAN = 4, 5, 6, 7, 8, 9
"""Indices in ``State.fit``: the number of rewards, the number at which to fit again, the share of
actions whose reward was seen, the loss that is insured, the log-likelihood ratio it takes, and, if
rewards come within a window, the mean of all decisions."""

EFFECT, LEVEL, NEW_MEAN, NEW_COUNT, NEW_SHARE = 0, 1, 2, 3, 4
"""Rows of ``State.action_fit``: β and the level of each action, and the prior of a context without
rewards: mean, count, and share of the action in its variance."""

LARGEST, AT_MOST = 0, 1
"""Indices in ``Memo.insured``: the largest mean of a pair not ruled out, and a bound above it."""

LAST_PRICE, UNIT_PRICE = 0, 1
"""Indices in ``Hulls.price``: the price found last, and the price of one more unit."""

VALID_UNTIL, VALID_HORIZON, VALID_LEAST, VALID_MOST = 0, 1, 2, 3
"""Indices in ``Memo.validity``: the last round, the horizon, the least and the most units left."""

KEPT_LEAST, KEPT_BELOW, LAST_CONTEXT, THIS_CONTEXT = 0, 1, 2, 3
"""Indices in ``Hulls.kept``: the units left for which the hulls of known statistics are valid, from
the first to below the second, and the contexts (-1: none) of the last decision and of this one."""

WORKING = 6
"""Number of rows of ``Memo.working``."""

MERGED = -2
"""A context that is merged into context i has ``MERGED`` - i in ``Hulls.sources``."""

TABLE = 1 << 18
"""Levels of the first quarter of a million rounds are tabulated, later ones computed."""


class State(NamedTuple):
    """Statistics of a run: counts and sums of rewards (contexts, actions), counts of contexts.

    ``pending`` counts the actions taken whose rewards have not come; ``skip_counts`` and
    ``skip_sums`` are of the rewards of skipping; ``progress`` holds the round and the units left.
    Where rewards come within a window, ``counts`` hold the share of the evidence that has come, and
    ``pending`` and ``skip_pending`` the rest of it (`almoner.kernels.window`).

    The others are written by `almoner.kernels.refit`: the pooled prior of each pair, the share of
    its variance that is due to its action, the effects of contexts and actions, and numbers of the
    fit. All but ``fit`` are empty if no prior is fitted.
    """

    counts: Floats
    sums: Floats
    pending: Floats
    context_counts: Floats
    skip_counts: Floats
    skip_sums: Floats
    skip_pending: Floats
    progress: Ints
    prior_means: Floats
    prior_counts: Floats
    action_shares: Floats
    context_effects: Floats
    action_fit: Floats
    fit: Floats


class Memo(NamedTuple):
    """Cache of means and of brackets of indices; it changes the speed of decisions, nothing else.

    ``means``, ``counts`` and ``roots`` hold ū, C and 1/√C of each pair, the rewards of its pooled
    prior included (the value before the first reward, 0 and 0 if there is none). The level
    of each context lies between ``bottom`` and ``top``, the index of each pair between ``least``
    and ``most``, the value of each context between ``low`` and ``high``, as long as the round, the
    horizon and the units left are within ``validity``, which `refresh` checks before every use.
    ``levels`` is the level common to all contexts, by round; ``row`` is scratch space for one
    number per action, ``values`` and ``unclear`` for one per context, ``working`` for six per pair
    and ``columns`` for two per action, both of them empty if nothing is refitted. ``insured`` holds
    the largest mean of each pair that its own rewards have not ruled out, and a bound of that, NaN
    if they are to be computed; it is empty for an index without insurance.
    """

    means: Floats
    counts: Floats
    roots: Floats
    least: Floats
    most: Floats
    low: Floats
    high: Floats
    bottom: Floats
    top: Floats
    levels: Floats
    row: Floats
    values: Floats
    unclear: npt.NDArray[np.uint32]
    validity: Ints
    working: Floats
    columns: Floats
    insured: Floats


class Hulls(NamedTuple):
    """Cache for decisions where costs differ: the hull steps of every context, and the price.

    ``gains`` are the gains over skipping of all pairs; a context has ``sizes`` steps, each with its
    slope, the cost it ``spans`` and the action at its top; ``weights`` are the contexts' weights.
    ``sources`` is the context that a hull was copied from, the context itself if other hulls are
    copies of it, or -1: copies are valid as long as the hull at the source is unchanged. A context
    may be merged into another one instead: its hull is empty, and the other one has its weight too.
    ``price`` holds the start of the next search for the price, and the price to report.

    Where the statistics are known, ``ranked`` holds the slopes of all steps, negated and rising, at
    a budget that affords every action, ``filled`` the sums of their costs in that order, from 0 on,
    and ``kept`` the units left for which the hulls are valid; else ``ranked`` is empty.
    """

    gains: Floats
    slopes: Floats
    spans: Ints
    tops: Ints
    sizes: Ints
    sources: Ints
    weights: Floats
    price: Floats
    ranked: Floats
    filled: Floats
    kept: Ints


def new_hulls(policy: LoweredPolicy) -> Hulls | None:
    """Return hulls if the policy needs a price; None compiles to a kernel without that path."""
    if policy.priced == 0:
        return None
    shape = policy.costs.shape
    slopes, costs = np.empty(0), np.empty(0)
    if policy.reward == KnownRewards.code and policy.context == KnownContexts.code:
        amounts = policy.costs.astype(np.float64)
        slopes, costs, _ = hull_steps(policy.context_weights, policy.prior, amounts)
        slopes, costs = slopes[costs > 0.0], costs[costs > 0.0]  # what is free needs no budget
    return empty_hulls(*shape)._replace(
        ranked=-slopes, filled=np.concatenate([[0.0], np.cumsum(costs)])
    )


def empty_hulls(contexts: int, actions: int) -> Hulls:
    """Return hulls to be computed, without steps ranked beforehand."""
    shape = contexts, actions
    return Hulls(
        gains=np.full(shape, -np.inf),
        slopes=np.empty(shape),
        spans=np.empty(shape, np.int64),
        tops=np.empty(shape, np.int64),
        sizes=np.empty(shape[0], np.int64),
        sources=np.full(shape[0], -1),
        weights=np.empty(shape[0]),
        price=np.zeros(2),
        ranked=np.empty(0),
        filled=np.zeros(1),
        kept=np.array([0, 0, -1, -1]),
    )


def new_state(policy: LoweredPolicy) -> State:
    """Return the state before the first round."""
    contexts, actions = shape = policy.costs.shape
    pooled = (contexts * policy.pooled, actions * policy.pooled)
    state = State(
        counts=np.zeros(shape),
        sums=np.zeros(shape),
        pending=np.zeros(shape),
        context_counts=np.zeros(contexts),
        skip_counts=np.zeros(contexts),
        skip_sums=np.zeros(contexts),
        skip_pending=np.zeros(contexts),
        progress=np.zeros(5, np.int64),
        prior_means=np.zeros(pooled),
        prior_counts=np.zeros(pooled),
        action_shares=np.zeros(pooled),
        context_effects=np.zeros(pooled[0]),
        action_fit=np.zeros((5, pooled[1])),
        fit=np.zeros(10),
    )
    state.progress[LEFT] = policy.budget
    return state


def new_memo(policy: LoweredPolicy, state: State, levels: Floats | None = None) -> Memo:
    """Return the memo of a state, with unbounded brackets that are due for a refresh.

    ``levels`` may be those of another memo of the same policy, which saves computing them.
    """
    contexts, actions = policy.costs.shape
    learned = policy.reward != KnownRewards.code  # known means stay as they are
    insured = policy.reward == InsuredWilson.code
    refitted = insured or policy.pooled == 1
    counts, sums = state.counts * learned, state.sums
    if policy.pooled:
        counts, sums = counts + state.prior_counts, sums + state.prior_counts * state.prior_means
    seen = counts > 0
    counted = np.where(seen, counts, 1.0)
    means = np.where(seen, sums / counted, policy.prior)
    if policy.windowed and learned:
        lone = np.where(state.prior_counts > 0, 0.0, 1.0) if policy.pooled else 1.0
        evidence = counts + lone
        means = np.minimum(1.0, (sums + lone * state.fit[OVERALL_MEAN]) / evidence)
        counts = counted = evidence + np.maximum(0.0, state.pending)
        seen = counts > 0
    return Memo(
        means=means,
        counts=counts,
        roots=np.where(seen, 1 / np.sqrt(counted), 0.0),
        least=np.full(counts.shape, -np.inf),
        most=np.full(counts.shape, np.inf),
        low=np.full(contexts, -np.inf),
        high=np.full(contexts, np.inf),
        bottom=np.zeros(contexts),
        top=np.full(contexts, -1.0),
        levels=new_levels(policy) if levels is None else levels,
        row=np.empty(actions),
        values=np.empty(contexts),
        unclear=np.empty(contexts, np.uint32),
        validity=np.zeros(4, np.int64),
        working=np.empty((contexts if refitted else 0, WORKING, actions)),
        columns=np.empty((2, actions * policy.pooled)),
        insured=np.full((contexts if insured else 0, actions, 2), np.nan),
    )


def new_levels(policy: LoweredPolicy) -> Floats:
    """Return the level common to all contexts, by round."""
    levels = np.empty(min(policy.horizon, TABLE) + 1)
    fill_levels(policy.reward, policy.width, levels)
    return levels


@jit_inline
def reset(policy: LoweredPolicy, state: State, memo: Memo) -> None:
    """Reset state and memo to before the first round, without allocation."""
    for context in range(policy.costs.shape[0]):
        state.context_counts[context] = 0.0
        state.skip_counts[context] = 0.0
        state.skip_sums[context] = 0.0
        state.skip_pending[context] = 0.0
        for action in range(policy.costs.shape[1]):
            state.counts[context, action] = 0.0
            state.sums[context, action] = 0.0
            state.pending[context, action] = 0.0
            memo.means[context, action] = policy.prior[context, action]
            memo.counts[context, action] = 0.0
            memo.roots[context, action] = 0.0
    state.progress[ROUND], state.progress[LEFT] = 0, policy.budget
    state.progress[FROZEN], state.progress[EXPLORED], state.progress[TESTED] = 0, 0, 0
    memo.validity[VALID_UNTIL] = 0
    state.fit[:] = 0.0
    memo.insured[:] = math.nan
    if policy.pooled == 1:
        state.prior_means[:] = 0.0
        state.prior_counts[:] = 0.0
        state.action_shares[:] = 0.0
        state.context_effects[:] = 0.0
        state.action_fit[:] = 0.0
