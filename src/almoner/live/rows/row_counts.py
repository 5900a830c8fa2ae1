"""Counts of a campaign on rows: arrivals, rewards and money, for reports.

The same arithmetic as `almoner.kernels.live.replay` has for a policy of plain means, which decides
nothing here: a campaign on rows does without those kernels, which take half a minute to compile.
"""

from __future__ import annotations

from collections.abc import Sequence

from almoner.kernels.live import CANCEL, LEARN, SET_LEFT, TAKE
from almoner.kernels.state import LEFT, ROUND, State
from almoner.kernels.steps import SKIP

__all__ = ["count_decision", "count_events"]


def count_decision(state: State, context: int, action: int) -> None:
    """Count an arrival, and the reward that its action waits for."""
    state.progress[ROUND] += 1
    state.context_counts[context] += 1.0
    if action != SKIP:
        state.pending[context, action] += 1.0


def count_events(
    state: State,
    rows: Sequence[tuple[int, int, int, int]],
    rewards: Sequence[float],
    *,
    windowed: bool,
    learns_skips: bool,
) -> None:
    """Count events, each with the reward it may carry: see `almoner.kernels.live.replay`.

    Where rewards come within a window, they add to sums only: their decisions count by their age.
    """
    counted = 0.0 if windowed else 1.0
    for (kind, context, action, number), reward in zip(rows, rewards, strict=True):
        if kind == TAKE:
            count_decision(state, context, action)
        elif kind == SET_LEFT:
            state.progress[LEFT] = context
        elif kind == CANCEL:
            state.pending[context, action] -= 1.0
            state.progress[LEFT] = number
        elif kind == LEARN and action != SKIP:
            state.pending[context, action] -= counted
            state.counts[context, action] += counted
            state.sums[context, action] += reward
        elif kind == LEARN and learns_skips:
            state.skip_counts[context] += counted
            state.skip_sums[context] += reward
