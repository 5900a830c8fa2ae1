"""Choices by draws from the posterior: a challenger, and information-directed sampling."""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit
from almoner.kernels.draws import beta, round_key
from almoner.kernels.state import Memo, State
from benchmarks.learner.other_indices import shape_of

__all__ = ["challenger", "most_informative"]

LANE = 1_000
TRIES, DRAWS = 20, 64


@jit
def challenger(state: State, memo: Memo, context: int, leader: int, key: np.uint64) -> int:
    """Return the best action of a draw in which it is another than the leader (top-two sampling).

    After 20 draws without one it is the leader.
    """
    for attempt in range(TRIES):
        best, rival = -1.0, leader
        for k in range(memo.means.shape[1]):
            draw = _draw(state, memo, context, k, attempt, key)
            best, rival = (draw, k) if draw > best else (best, rival)
        if rival != leader:
            return rival
    return leader


@jit
def most_informative(state: State, memo: Memo, context: int, key: np.uint64) -> int:
    """Return the action with the least squared regret for its information, both from draws.

    The information of an action is the variance of its mean given which action is best (Russo and
    Van Roy, 2018).
    """
    K = memo.means.shape[1]
    draws, means = np.empty(K), np.zeros(K)
    given, wins, largest = np.zeros((K, K)), np.zeros(K), 0.0
    for number in range(DRAWS):
        for k in range(K):
            draws[k] = _draw(state, memo, context, k, number, key)
        best = int(np.argmax(draws))
        wins[best] += 1.0
        given[best] += draws
        means += draws / DRAWS
        largest += draws[best] / DRAWS
    least, chosen = math.inf, int(np.argmax(means))
    for k in range(K):
        information = 0.0
        for best in range(K):
            if wins[best] > 0.0:
                information += wins[best] / DRAWS * (given[best, k] / wins[best] - means[k]) ** 2
        ratio = (largest - means[k]) ** 2 / max(information, 1e-12)
        least, chosen = (ratio, k) if ratio < least else (least, chosen)
    return chosen


@jit
def _draw(
    state: State, memo: Memo, context: int, action: int, number: int, key: np.uint64
) -> float:
    a, b = shape_of(state, memo, context, action)
    return beta(a, b, round_key(key, LANE + number * memo.means.shape[1] + action))
