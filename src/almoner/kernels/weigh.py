"""Kernel of a live campaign that decides one arrival without taking the decision.

It also returns the probabilities of all actions, and which of them could be taken: what a campaign
needs that holds arrivals out, or decides some of them at random.
"""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.draws import REDRAW_LANE, round_key
from almoner.kernels.live import (
    ACTED,
    NOT_ALLOWED,
    PAST_HORIZON,
    POLICY_SKIP,
    PRICE,
    PROBABILITY,
    REDRAWS,
    UNAFFORDABLE,
    ArrivalBatch,
)
from almoner.kernels.live_price import unit_price
from almoner.kernels.state import LEFT, ROUND, Hulls, Memo, State
from almoner.kernels.steps import SKIP, decide
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import Thompson
from almoner.types import Floats, Ints

__all__ = ["OPTION", "SPREAD", "record_choice", "weigh"]

SPREAD, OPTION = 0, 1
"""Rows of the result of `weigh`: the probability of each action, and 1 if it could be taken."""

_THOMPSON = Thompson.code


@jit_callable
def weigh(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    batch: ArrivalBatch,
    reserves: Ints,
    left: int,
    weighed: Floats,
) -> None:
    """Decide the first arrival of a batch as `almoner.kernels.live.advance` does, but not take it.

    ``weighed`` (2, actions) receives the probability of each action under the policy, and 1 where
    an action is allowed and affordable before the horizon.
    """
    context, allowed = batch.contexts[0], batch.allowed[0]
    past = state.progress[ROUND] >= policy.horizon
    any_allowed, options = False, 0.0
    weighed[:] = 0.0
    for action in range(len(allowed)):
        any_allowed |= allowed[action]
        allowed[action] &= reserves[context, action] <= left
        if allowed[action] and policy.costs[context, action] <= state.progress[LEFT] and not past:
            weighed[OPTION, action] = 1.0
            options += 1.0
    key, spread = round_key(stream, state.progress[ROUND]), weighed[SPREAD]
    draws = REDRAWS if policy.reward == _THOMPSON else 1
    batch.draw_counts[:] = 0.0
    action, probability = SKIP, 1.0
    for redraw in range(draws - 1, -1, -1):  # the decision last, so that the price is its own
        drawn = key if redraw == 0 else round_key(key, REDRAW_LANE * redraw)
        action, probability = decide(policy, state, memo, hulls, context, drawn, allowed, spread)
        batch.draw_counts[action + 1] += 1.0
    if draws > 1:  # the shares of all draws, as of the one action in `advance`
        probability = batch.draw_counts[action + 1] / draws
        for other in range(len(allowed)):
            spread[other] = batch.draw_counts[other + 1] / draws
    batch.price[0] = unit_price(policy, state, memo, hulls, context, batch.price[0])
    batch.figures[0, PROBABILITY], batch.figures[0, PRICE] = probability, batch.price[0]
    record_choice(batch, action, options > 0.0, any_allowed, past)


@jit_inline
def record_choice(
    batch: ArrivalBatch, action: int, any_option: bool, any_allowed: bool, past: bool
) -> None:
    """Write the action of the first arrival with the reason of a skip, and allow all again."""
    batch.choices[0, 0] = action
    reason = ACTED
    if action == SKIP:
        reason = POLICY_SKIP if any_option else UNAFFORDABLE
        if not any_allowed:
            reason = NOT_ALLOWED
        if past:
            reason = PAST_HORIZON
    batch.choices[0, 1] = reason
    batch.allowed[0, :] = True
