"""The loop of a simulation for eight replications at once (`almoner.kernels.loop` plays one)."""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.brackets import epoch_end
from almoner.kernels.draws import round_key
from almoner.kernels.environment import Environment
from almoner.kernels.lanes.bracketed import decide_by_brackets
from almoner.kernels.lanes.brackets import (
    Brackets,
    bound_all_levels,
    refresh_all,
    refresh_lanes,
    update_pair,
    vectors_of_brackets,
)
from almoner.kernels.lanes.environment import (
    CHOICES,
    CONTEXTS,
    REWARDS,
    draw_context,
    draw_rewards,
    start_streams,
)
from almoner.kernels.lanes.priced import LaneHulls, decide_by_price, vectors_of_hulls
from almoner.kernels.lanes.refit_buffers import RefitBuffers, reset_refit_buffers
from almoner.kernels.lanes.refits import refit_due, refit_lanes
from almoner.kernels.lanes.state import (
    DRAWN,
    EXPECTED,
    LOSS,
    WRONG,
    LaneState,
    level_at,
    reset,
    vectors_of,
)
from almoner.kernels.lanes.steps import decide, learn, take
from almoner.kernels.lanes.vector import WIDTH, any_lane, floats, where
from almoner.kernels.state import LEFT
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats, Ints

__all__ = ["play_lanes"]

_INSURED = InsuredWilson.code


@jit_callable
def play_lanes(
    policy: LoweredPolicy,
    environment: Environment,
    arrays: LaneState,
    bracket_arrays: Brackets | None,
    hull_arrays: LaneHulls | None,
    buffers: RefitBuffers | None,
    levels: Floats,
    costs: Floats,
    root: np.uint64,
    first: int,
    marks: Ints,
    out: Floats,
    noted: Floats,
    pairs: Ints,
) -> None:
    """Play replications ``first``, ``first + 1``, … as `almoner.kernels.loop.play` does.

    Eight of them have the same round. If their number is no multiple of eight, the last lanes play
    replications that nobody reads.
    """
    state = vectors_of(arrays)
    brackets = None if bracket_arrays is None else vectors_of_brackets(bracket_arrays)
    hulls = None if hull_arrays is None else vectors_of_hulls(hull_arrays)
    for row in range(0, out.shape[0], WIDTH):
        reset(policy, state)
        start_streams(root, first + row, arrays.streams)
        if hulls is not None:
            hulls.price[0] = floats(0.0)
        if buffers is not None:
            reset_refit_buffers(buffers)
        used, mark, last, bottom = min(WIDTH, out.shape[0] - row), 0, 0, 0.0
        for t in range(policy.horizon):
            while mark < len(marks) and marks[mark] == t + 1:
                for i in range(used):
                    noted[row + i, mark, 0] = arrays.progress[LEFT, i]
                    noted[row + i, mark, 1] = arrays.figures[LOSS, i]
                mark += 1
            if t + 1 > last:
                last = epoch_end(policy, t + 1)
                bottom = min(level_at(policy, levels, t + 1), level_at(policy, levels, last))
                if brackets is not None:
                    refresh_all(policy, state, brackets, levels, t + 1, last)
            terms = policy, environment, arrays, state, bracket_arrays, brackets, hulls, buffers
            _play_round(*terms, levels, costs, bottom, last, t)
        for i in range(used):
            out[row + i, 0], out[row + i, 1] = arrays.figures[EXPECTED, i], arrays.figures[DRAWN, i]
            out[row + i, 2], out[row + i, 5] = arrays.figures[LOSS, i], arrays.figures[WRONG, i]
            out[row + i, 3] = policy.budget - arrays.progress[LEFT, i]
            out[row + i, 4] = 0.0
            for context in range(pairs.shape[0]):
                for option in range(pairs.shape[1]):
                    pairs[context, option] += np.int64(arrays.taken[context, option, i])


@jit_inline
def _play_round(
    policy: LoweredPolicy,
    environment: Environment,
    arrays: LaneState,
    state: LaneState,
    bracket_arrays: Brackets | None,
    brackets: Brackets | None,
    hulls: LaneHulls | None,
    buffers: RefitBuffers | None,
    levels: Floats,
    costs: Floats,
    bottom: float,
    last: int,
    t: int,
) -> None:
    """Play a round of eight replications, in an epoch of brackets that ends in round ``last``.

    ``bottom`` is the least level of the epoch; ``state`` and ``brackets`` are arrays of vectors.
    """
    context = draw_context(environment, round_key(state.streams[CONTEXTS], t))
    key = round_key(state.streams[CHOICES], t)
    if hulls is not None:
        option = decide_by_price(policy, state, hulls, levels, costs, t + 1, context, key)
    elif brackets is not None:
        served, action = decide_by_brackets(
            policy, state, brackets, levels, t + 1, last, context, key
        )
        option = where(served, action + 1, 0)
    else:
        served, action = decide(policy, state, levels, bottom, t + 1, context, key)
        option = where(served, action + 1, 0)
    take(policy, state, levels, t + 1, context, costs[context, option])
    mean = environment.worth[context, option]
    reward = draw_rewards(environment, context, option, mean, state.streams[REWARDS], t, arrays.row)
    learn(policy, state, context, option, reward)
    if brackets is not None and t + 1 < last:
        update_pair(policy, state, brackets, context, option, option != 0)
    if buffers is not None:
        due = refit_due(state, option)
        if any_lane(due):
            if brackets is not None:
                bound_all_levels(policy, state, brackets, levels, t + 2, last, due)
            refit_lanes(policy, arrays, bracket_arrays, buffers, due, t + 1)
            if brackets is not None and policy.reward != _INSURED and t + 1 < last:
                refresh_lanes(policy, state, brackets, levels, t + 2, last, due)
    state.figures[EXPECTED] += mean
    state.figures[DRAWN] += reward
    state.figures[LOSS] += environment.losses[context, option]
    state.figures[WRONG] += environment.wrong[context, option]
