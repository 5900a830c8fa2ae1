"""Loop that plays other rules than those of the package, with its own refits and eager rounding.

Only decisions differ from `thrifty`: the kernels of the package compute what is learned, with the
pooled prior and the insurance. Rewards may come late. Indices are kept for 2 % of the
rounds past or left, and computed anew after a reward of their pair and after a refit.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit, jit_inline
from almoner.kernels.draws import SERVE_LANE, TIE_LANE, round_key, uniform
from almoner.kernels.environment import Environment, draw_context, streams_of
from almoner.kernels.reward_noise import draw_reward
from almoner.kernels.state import LEFT, REFIT_AT, ROUND, STAKE, Memo, State, reset
from almoner.kernels.steps import SKIP, decide, learn, serve_share, take
from almoner.lp import TOLERANCE
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats
from benchmarks.learner.other_indices import Rule, own_value, value
from benchmarks.learner.sampling import challenger, most_informative

__all__ = ["PACKAGE", "play_other"]

PACKAGE = -1
"""Index of a rule that the package decides by its own kernels."""

OTHERS = 0.8
"""Share of its level at which a context that waits has its bound; also the one that has arrived, as
long as nothing is borrowed."""

KEPT, INSURED_LOSS, PER_PENDING = 0.02, 0.15, 4.0
CHALLENGE_LANE = 900


@jit
def play_other(
    rule: Rule,
    policy: LoweredPolicy,
    environment: Environment,
    state: State,
    memo: Memo,
    boundary: Floats,
    root: np.uint64,
    delay: int,
    out: Floats,
) -> None:
    """Play a replication for each row of ``out``: its loss at the price, and the units left."""
    T = policy.horizon
    contexts, actions, rewards = np.empty(T, np.int64), np.empty(T, np.int64), np.empty(T)
    tables = np.empty((2, *memo.means.shape))
    picked = np.empty(memo.means.shape[0], np.int64)
    for run in range(len(out)):
        reset(policy, state, memo)
        streams = streams_of(root, run)
        valid, fitted, premium = 0, -1.0, 0.0
        for t in range(T):
            s = t - delay - 1
            if s >= 0:
                j, k = contexts[s], actions[s]
                learn(policy, state, memo, j, k, s, rewards[s], round_key(streams.choices, s))
                if k != SKIP and rule.kind != PACKAGE:
                    _compute(rule, policy, state, memo, boundary, tables, j, k)
                    picked[j] = SKIP
            if rule.kind != PACKAGE and (t >= valid or state.fit[REFIT_AT] != fitted):
                valid = t + max(1, int(KEPT * min(t, T - t)))
                fitted = state.fit[REFIT_AT]
                picked[:] = SKIP
                for j in range(tables.shape[1]):
                    for k in range(tables.shape[2]):
                        _compute(rule, policy, state, memo, boundary, tables, j, k)
            context = draw_context(environment, round_key(streams.contexts, t))
            key = round_key(streams.choices, t)
            if rule.kind == PACKAGE:
                action, _ = decide(policy, state, memo, None, context, key)
            else:
                action = _decide(policy, state, memo, tables, context, key)
                stake = rule.premium * state.fit[STAKE] / INSURED_LOSS
                if action != SKIP and rule.sampling == 1:
                    if picked[context] == SKIP:
                        picked[context] = most_informative(state, memo, context, key)
                    action = picked[context]
                elif action != SKIP and uniform(key, CHALLENGE_LANE) < rule.challenge:
                    rival = challenger(state, memo, context, action, key)
                    loss = memo.means[context, action] - memo.means[context, rival]
                    if premium + loss <= stake:
                        premium, action = premium + max(0.0, loss), rival
            take(policy, state, memo, None, context, action)
            contexts[t], actions[t] = context, action
            rewards[t] = draw_reward(environment, context, action, round_key(streams.rewards, t))
            out[run, 0] += environment.losses[context, action + 1]
        out[run, 1] = state.progress[LEFT]


@jit_inline
def _compute(
    rule: Rule,
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    boundary: Floats,
    tables: Floats,
    context: int,
    action: int,
) -> None:
    """Compute the indices of a pair: for other contexts, and for its own."""
    t, left = state.progress[ROUND], float(state.progress[LEFT])
    rate, arrived = (policy.horizon - t) / (t + 1.0), state.context_counts[context]
    level = max(1.0, min(arrived * rate, left))
    tables[0, context, action] = value(rule, state, memo, boundary, context, action, level, OTHERS)
    level = max(1.0, min((arrived + 1.0) * rate, left))
    share = 1.0 if state.prior_counts[context, action] > 0.0 else OTHERS
    tables[1, context, action] = own_value(
        rule, policy, state, memo, boundary, context, action, level, share
    )


@jit_inline
def _decide(
    policy: LoweredPolicy, state: State, memo: Memo, tables: Floats, context: int, key: np.uint64
) -> int:
    """Return the action by eager rounding, or SKIP: `almoner.kernels.steps` on given indices."""
    t, left, weights = state.progress[ROUND], state.progress[LEFT], state.context_counts
    remaining = policy.horizon - t
    if left < policy.cheapest:
        return SKIP
    row, best = tables[1, context], -math.inf
    for k in range(len(row)):
        best = max(best, row[k])
    ties = 0
    for k in range(len(row)):
        ties += row[k] >= best - TOLERANCE
    pick, action = int(uniform(key, TIE_LANE) * ties), 0
    for k in range(len(row)):
        if row[k] >= best - TOLERANCE:
            action = k if pick == 0 else action
            pick -= 1
    ahead, tied, between, floor = 0.0, 0.0, False, 0.0
    for k in range(len(row)):
        if state.counts[context, k] > 0.0:
            floor = max(floor, memo.means[context, k])
    for j in range(len(weights)):
        if j == context or weights[j] <= 0.0:
            continue
        other = -math.inf
        for k in range(len(row)):
            other = max(other, tables[0, j, k])
        ahead += weights[j] * (other > best + TOLERANCE)
        tied += weights[j] * (abs(other - best) <= TOLERANCE)
        between = between or floor < other < best - TOLERANCE
    room, own = left / remaining * (t + 1.0) - ahead, weights[context] + 1.0
    if PER_PENDING * state.pending[context, action] > state.counts[context, action]:
        share = 0.0 if room <= 0.0 else min(1.0, room / (own + tied))
    else:
        share = serve_share(policy, left >= remaining, room, own, ahead, tied)
    if share == 0.0 and room > TOLERANCE * (t + 1.0) and between:
        share = 1.0
    return action if uniform(key, SERVE_LANE) < share else SKIP
