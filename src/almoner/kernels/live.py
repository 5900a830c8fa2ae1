"""Kernels of a live campaign: decide batches of arrivals, and fold the events of a log.

Decisions are made by `decide` and `take`, as in a simulation, and recorded with the probability of
the action, the price, and the reason of a skip. One call handles a whole batch: passing the policy
and the state from Python takes longer than a decision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.jit import jit_callable, jit_entry, jit_inline
from almoner.kernels.draws import REDRAW_LANE, round_key
from almoner.kernels.live_price import unit_price
from almoner.kernels.packed import Packed, unpacked
from almoner.kernels.pair_index import expire_insured
from almoner.kernels.refit import refit
from almoner.kernels.state import LEFT, REWARDS, ROUND, Hulls, Memo, State
from almoner.kernels.steps import SKIP, count_in_window, decide, learn, take
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson, Thompson
from almoner.types import Floats, Ints, Mask

__all__ = [
    "ACTED",
    "CANCEL",
    "LEARN",
    "NOT_ALLOWED",
    "PAST_HORIZON",
    "POLICY_SKIP",
    "PRICE",
    "PROBABILITY",
    "REDRAWS",
    "REFIT",
    "SET_LEFT",
    "TAKE",
    "UNAFFORDABLE",
    "ArrivalBatch",
    "advance",
    "advance_without_gil",
    "new_batch",
    "replay",
]

TAKE, LEARN, CANCEL, SET_LEFT, REFIT = 0, 1, 2, 3, 4
"""Kinds of rows for `replay`: take a decision, learn a reward, cancel an action (it will have no
reward), set the units left, compute the prior and the insurance anew."""

ACTED, POLICY_SKIP, UNAFFORDABLE, PAST_HORIZON, NOT_ALLOWED = 0, 1, 2, 3, 4
"""Reasons of a skip: none, as an action was taken; the policy's choice; no allowed action is
affordable; the horizon has passed; the arrival allows no action."""

PROBABILITY, PRICE = 0, 1
"""Columns of ``ArrivalBatch.figures``."""

REDRAWS = 256
"""Draws that estimate a probability: their share has a standard error of at most 1/32."""

_THOMPSON, _INSURED = Thompson.code, InsuredWilson.code


class ArrivalBatch(NamedTuple):
    """A batch of arrivals, a row for each, and their decisions.

    ``contexts`` and ``allowed`` (arrivals, actions) are the input. The output is in ``choices``,
    the action and the reason of a skip, and in ``figures``, the probability of the action and the
    price of a unit of budget (NaN if there is none). ``draw_counts`` is scratch space for a number
    per action and one for skipping; ``price`` is the last price.
    """

    contexts: Ints
    allowed: Mask
    choices: Ints
    figures: Floats
    draw_counts: Floats
    price: Floats


LiveArrays = tuple[LoweredPolicy, State, Memo, Hulls | None, np.uint64, ArrivalBatch]
"""The policy, the state and the caches of a campaign, the stream of its draws, and the batch."""


def new_batch(actions: int, *, size: int) -> ArrivalBatch:
    """Return an empty batch, in which every action is allowed."""
    return ArrivalBatch(
        contexts=np.zeros(size, np.int64),
        allowed=np.ones((size, actions), np.bool_),
        choices=np.zeros((size, 2), np.int64),
        figures=np.zeros((size, 2)),
        draw_counts=np.zeros(actions + 1),
        price=np.zeros(1),
    )


@jit_entry
def advance(
    campaign: LiveArrays | Packed, size: int, reserves: Ints, left: int
) -> tuple[int, int, float, float]:
    """Decide the first ``size`` arrivals of a batch in order, and take each decision.

    Returns the action, the reason, the probability and the price of the last one, which Python
    takes longer to read from the batch.

    An action is allowed while its reserve fits the money ``left``. Afterwards the batch allows
    every action again.
    """
    policy, state, memo, hulls, stream, batch = unpacked(campaign)
    action, reason, probability = SKIP, ACTED, 1.0
    for i in range(size):
        context, allowed = batch.contexts[i], batch.allowed[i]
        any_allowed = False
        for action in range(len(allowed)):
            any_allowed |= allowed[action]
            allowed[action] &= reserves[context, action] <= left
        action, probability = _decide_with_probability(
            policy, state, memo, hulls, stream, context, allowed, batch.draw_counts
        )
        batch.price[0] = unit_price(policy, state, memo, hulls, context, batch.price[0])
        batch.figures[i, PROBABILITY], batch.figures[i, PRICE] = probability, batch.price[0]
        take(policy, state, memo, hulls, context, action)
        reason = _reason(policy, state, context, action, allowed, any_allowed)
        batch.choices[i, 0], batch.choices[i, 1] = action, reason
        if action != SKIP:
            left -= reserves[context, action]
        allowed[:] = True
    return int(action), reason, float(probability), float(batch.price[0])


@jit_callable
def advance_without_gil(
    campaign: LiveArrays | Packed, size: int, reserves: Ints, left: int
) -> tuple[int, int, float, float]:
    """Call `advance` without the GIL, so that other threads run: for batches that take long."""
    return advance(campaign, size, reserves, left)


@jit_inline
def _decide_with_probability(
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

    Thompson's probabilities have no closed form. They are estimated as the share of `REDRAWS` draws
    that choose the same, the decision itself included, so that no action taken has probability 0.
    """
    key = round_key(stream, state.progress[ROUND])
    draws = REDRAWS if policy.reward == _THOMPSON else 1
    draw_counts[:] = 0.0
    action, probability = SKIP, 1.0
    for redraw in range(draws - 1, -1, -1):  # the decision last, so that the price is its own
        drawn = key if redraw == 0 else round_key(key, REDRAW_LANE * redraw)
        action, probability = decide(policy, state, memo, hulls, context, drawn, allowed)
        draw_counts[action + 1] += 1.0
    return action, probability if draws == 1 else draw_counts[action + 1] / draws


@jit_inline
def _reason(
    policy: LoweredPolicy, state: State, context: int, action: int, allowed: Mask, any_allowed: bool
) -> int:
    """Return the reason of a decision that was just taken."""
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


@jit_inline
def _has_counts(state: State) -> bool:
    """Return whether any pair has rewards, inherited ones included."""
    for context in range(state.counts.shape[0]):
        for action in range(state.counts.shape[1]):
            if state.counts[context, action] > 0.0:
                return True
    return False


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

    A row is (TAKE or LEARN, context, action, round counted from 0), (CANCEL, context, action, units
    left), (SET_LEFT, units left, …) or (REFIT, …); ``rewards`` holds the reward of each row.
    """
    for row in range(len(rows)):
        kind, context, action, t = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]
        if kind == TAKE:
            take(policy, state, memo, hulls, context, action)
        elif kind == LEARN:
            learn(policy, state, memo, context, action, t, rewards[row], round_key(stream, t))
        elif kind == CANCEL:
            state.pending[context, action] -= 1.0
            expire_insured(policy, memo, context, action)
            if policy.windowed == 1:
                count_in_window(policy, state, memo, context, action)
            state.progress[LEFT] = rows[row, 3]
        elif kind == REFIT:
            learned = state.fit[REWARDS] > 0.0 or policy.windowed == 1 or _has_counts(state)
            if learned and (policy.pooled == 1 or policy.reward == _INSURED):
                refit(policy, state, memo)
        else:
            state.progress[LEFT] = rows[row, 1]
