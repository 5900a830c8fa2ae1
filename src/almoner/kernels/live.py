"""What a live campaign asks of the kernels: requests decided and booked, a log replayed.

Nothing here decides anything: `decide`, `take` and `learn` do, as in a simulation. This adds what
people and logs want to know of a decision, its price and why it is a skip, and spares calls from
Python: to hand over a plan and a state takes longer than to decide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from almoner.jit import jit_callable, jit_entry, jit_inline
from almoner.kernels.draws import REDRAW_LANE, round_key
from almoner.kernels.ranking import level_at, level_of, value_of, weights_of
from almoner.kernels.state import EXPLORED, LEFT, ROUND, UNIT_PRICE, Hulls, Memo, State
from almoner.kernels.steps import SKIP, decide, learn, ratio_of, take
from almoner.lp import TOLERANCE
from almoner.policy.allocation import Procrastinate, SkipAlways
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import ExploreFirst, Thompson
from almoner.types import Floats, Ints, Mask

__all__ = [
    "ACTED",
    "CANCEL",
    "LEARN",
    "NOT_ALLOWED",
    "PAST_HORIZON",
    "POLICY_SKIP",
    "SET_LEFT",
    "TAKE",
    "UNAFFORDABLE",
    "Batch",
    "advance",
    "advance_without_gil",
    "new_batch",
    "replay",
]

TAKE, LEARN, CANCEL, SET_LEFT = 0, 1, 2, 3
"""Kinds of a row to `replay`: a decision to take, a reward to learn, an action that will have no
reward, units left to set."""

ACTED, POLICY_SKIP, UNAFFORDABLE, PAST_HORIZON, NOT_ALLOWED = 0, 1, 2, 3, 4
"""Why a skip, if it is one: the policy saves, nothing can be afforded, the horizon is reached, the
request allows nothing."""

REDRAWS = 256
"""A share of this many draws has a standard error of at most 1/32."""

_PROCRASTINATE, _SKIP_ALWAYS = Procrastinate.code, SkipAlways.code
_THOMPSON, _EXPLORE = Thompson.code, ExploreFirst.code


class Batch(NamedTuple):
    """Requests that stand in line, a place for each, and what becomes of them.

    ``contexts`` and ``allowed`` (places, actions) say what is asked; ``choices`` gets the action
    and why it is a skip, ``odds`` the probability and the price of a unit of budget (NaN if there
    is none). ``tally`` is scratch space for one number per action and one for skips; ``price`` is
    the last one known.
    """

    contexts: Ints
    allowed: Mask
    choices: Ints
    figures: Floats
    draw_counts: Floats
    price: Floats


def new_batch(actions: int, *, size: int) -> Batch:
    """Return an empty line, in which requests allow everything."""
    return Batch(
        contexts=np.zeros(size, np.int64),
        allowed=np.ones((size, actions), np.bool_),
        choices=np.zeros((size, 2), np.int64),
        figures=np.zeros((size, 2)),
        draw_counts=np.zeros(actions + 1),
        price=np.zeros(1),
    )


@jit_entry
def advance(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    batch: Batch,
    size: int,
    reserves: Ints,
    left: int,
) -> None:
    """Decide for the first ``size`` in line and take what was decided, one after the other.

    An action is admitted while its reserve fits what is ``left``. Afterwards the line allows
    everything again.
    """
    for i in range(size):
        context, allowed = batch.contexts[i], batch.allowed[i]
        any_allowed = False
        for action in range(len(allowed)):
            any_allowed |= allowed[action]
            allowed[action] &= reserves[context, action] <= left
        action, probability = _drawn(
            policy, state, memo, hulls, stream, context, allowed, batch.draw_counts
        )
        batch.price[0] = _price(policy, state, memo, hulls, context, batch.price[0])
        batch.figures[i, 0], batch.figures[i, 1] = probability, batch.price[0]
        take(policy, state, memo, hulls, context, action)
        batch.choices[i, 0] = action
        batch.choices[i, 1] = _reason(policy, state, context, action, allowed, any_allowed)
        if action != SKIP:
            left -= reserves[context, action]
        allowed[:] = True


@jit_callable
def advance_without_gil(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    batch: Batch,
    size: int,
    reserves: Ints,
    left: int,
) -> None:
    """Do what `advance` does, and let other threads run meanwhile: for what takes long."""
    advance(policy, state, memo, hulls, stream, batch, size, reserves, left)


@jit_inline
def _drawn(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    context: int,
    allowed: Mask,
    draw_counts: Floats,
) -> tuple[int, float]:
    """Return the action and its probability.

    Thompson's probabilities have no closed form. They are estimated as the share of many draws that
    choose the same, that of the decision itself included, so that what is done never has
    probability 0.
    """
    key = round_key(stream, state.progress[ROUND])
    draws = REDRAWS if policy.reward == _THOMPSON else 1
    draw_counts[:] = 0.0
    action, probability = SKIP, 1.0
    for again in range(draws - 1, -1, -1):  # the decision itself comes last, and leaves its price
        drawn = key if again == 0 else round_key(key, REDRAW_LANE * again)
        action, probability = decide(policy, state, memo, hulls, context, drawn, allowed)
        draw_counts[action + 1] += 1.0
    return action, probability if draws == 1 else draw_counts[action + 1] / draws


@jit_inline
def _reason(
    policy: LoweredPolicy, state: State, context: int, action: int, allowed: Mask, any_allowed: bool
) -> int:
    """Return why a decision that was taken is a skip."""
    if action != SKIP:
        return ACTED
    if state.progress[ROUND] > policy.horizon:
        return PAST_HORIZON
    if not any_allowed:
        return NOT_ALLOWED
    for other in range(len(allowed)):
        if allowed[other] and policy.costs[context, other] <= state.progress[LEFT]:
            return POLICY_SKIP
    return UNAFFORDABLE


@jit_entry
def replay(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    rows: Ints,
    rewards: Floats,
) -> None:
    """Fold the rows of a log into a state.

    A row holds its kind and the context, the action and the round (counted from 0) of what is
    booked or learned; the context, the action and the units left after it is withdrawn; or just
    the units left.
    """
    for row in range(len(rows)):
        kind, one, action, t = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]
        if kind == TAKE:
            take(policy, state, memo, hulls, one, action)
        elif kind == LEARN:
            learn(policy, state, memo, one, action, t, rewards[row], round_key(stream, t))
        elif kind == CANCEL:
            state.pending[one, action] -= 1.0
            state.progress[LEFT] = t
        else:
            state.progress[LEFT] = one


@jit_inline
def _price(
    policy: LoweredPolicy, state: State, memo: Memo, hulls: Hulls | None, context: int, start: float
) -> float:
    """Return the price of a unit of budget now; NaN where the policy has none."""
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    if remaining < 1 or left < policy.cheapest or policy.rule in (_PROCRASTINATE, _SKIP_ALWAYS):
        return math.nan
    if hulls is not None:
        exploring = policy.reward == _EXPLORE and state.progress[EXPLORED] == 0
        return math.nan if exploring else hulls.price[UNIT_PRICE]
    if policy.reward == _THOMPSON:
        return math.nan
    _, total, _ = weights_of(policy, state, t)
    room = ratio_of(policy, left, remaining) * total
    start = 0.0 if math.isnan(start) else start
    return _marginal_value(policy, state, memo, context, room, start)


@jit_inline
def _marginal_value(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, room: float, price: float
) -> float:
    """Return the value at which the contexts, best first, use up ``room``; 0 if all of them fit.

    It walks from a price near by, and returns the lowest that fits, wherever it began. A context's
    value is worked out only where its bracket holds the price, so a step up or down never passes
    the value sought. Each step goes to a value or to an end of a bracket, and never back: at most
    three of each context, upwards or downwards.
    """
    t, left = state.progress[ROUND] + 1, float(state.progress[LEFT])
    weights, total, arrival = weights_of(policy, state, t)
    common, none = level_at(policy, memo, t), np.uint64(0)
    slack = TOLERANCE * max(total, room)
    low, high = 0.0, math.inf
    for _ in range(3 * policy.costs.shape[0] + 3):
        used, tied, above, under = 0.0, 0.0, math.inf, 0.0
        for other in range(policy.costs.shape[0]):
            weight = weights[other] + (arrival if other == context else 0.0)
            value, top = memo.low[other], memo.high[other]
            if top < price - TOLERANCE:
                value = top
            elif value <= price + TOLERANCE and value < top:
                level = level_of(policy, common, weight / total, t, left)
                value = value_of(policy, state, memo, other, level, none)
            if value > price + TOLERANCE:
                used += weight
                above = min(above, value if weight > 0.0 else math.inf)
            elif value >= price - TOLERANCE:
                tied += weight
            elif weight > 0.0:
                under = max(under, value)
        if used > room + slack:
            low, following = price, above
        elif used + tied <= room + slack and price > 0.0:
            high, following = price, under
        else:
            break
        if not (low < following < high or following == 0.0):
            break
        price = following
    return price
