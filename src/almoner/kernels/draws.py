"""Counter-based random numbers: draws as pure functions of seed, replication, stream, round, lane.

A 64-bit *key* identifies one round of one stream of one replication; `uniform` reads any number of
independent *lanes* from it. The generator is SplitMix64 (Steele, Lea and Flood, 2014), whose state
is a counter: the draws of a round depend on no earlier draw, so results do not change with threads,
chunks or the number of draws a policy makes. Every lane stands in the table below: two uses of one
lane would be correlated.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit, jit_callable, jit_inline, jit_separate
from almoner.kernels.normal import normal_quantile

__all__ = [
    "BINARISE_LANE",
    "CONTEXTS",
    "EXPLORE_LANE",
    "HOLDOUT_LANE",
    "MARKET_LANE",
    "ONLY_LANE",
    "PICK_LANE",
    "POLICY",
    "REDRAW_LANE",
    "REWARDS",
    "SECOND_GAMMA_LANE",
    "SERVE_LANE",
    "THOMPSON_LANE",
    "TIE_LANE",
    "beta",
    "beta_above_one",
    "comparison_draw",
    "round_key",
    "stream_key",
    "uniform",
]

CONTEXTS, REWARDS, POLICY = np.uint64(0), np.uint64(1), np.uint64(2)
"""Streams of a replication."""

ONLY_LANE = 0
"""Lane of the one draw that a round makes in each of the streams CONTEXTS and REWARDS."""

SERVE_LANE, TIE_LANE, BINARISE_LANE = 0, 1, 2
"""Lanes of the stream POLICY: whether to serve, which of the tied actions, success of a reward."""

HOLDOUT_LANE, EXPLORE_LANE, PICK_LANE = 3, 4, 5
"""Lanes of the stream POLICY in a live campaign: whether an arrival is held out, whether it is
decided at random, and which option is then taken."""

MARKET_LANE = 6
"""Lane of the stream POLICY on rows: the place of an arrival in the market."""

THOMPSON_LANE = 8
"""First of the lanes of Thompson's indices in the stream POLICY: one per pair, then one per context
for skipping. Where costs are equal only the pairs of the context that has arrived are drawn; the
lane of the first pair of another context compares its best draw with a value."""

SECOND_GAMMA_LANE = 2**64 - 1
"""Lane of the key of a Thompson index whose own lanes give the second of its two gamma draws; the
first has the lanes from 1 on."""

REDRAW_LANE = -1
"""Factor from the number of a redraw to its lane in the stream POLICY."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_STREAMS = np.uint64(4)

TRIES = 64
"""Limit of rejections: a try is accepted with a probability above 0.95 at every shape from 1 on
(Marsaglia and Tsang, section 5), so all of these fail with a probability below 1e-83."""


@jit_callable
def mix(x: np.uint64) -> np.uint64:
    """Return SplitMix64's finaliser of x: a bijection of 64 bits."""
    x = (x ^ (x >> _S30)) * _MIX1
    x = (x ^ (x >> _S27)) * _MIX2
    return x ^ (x >> _S31)


@jit_callable
def stream_key(root: np.uint64, run: int, stream: np.uint64) -> np.uint64:
    """Return the key of one stream of one replication."""
    return mix(root ^ mix(np.uint64(run) * _STREAMS + stream + _GOLDEN))


@jit_callable
def round_key(stream: np.uint64, t: int) -> np.uint64:
    """Return the key of round t within a stream."""
    return mix(stream + np.uint64(t) * _GOLDEN)


@jit_callable
def uniform(key: np.uint64, lane: int) -> float:
    """Return the uniform draw in [0, 1) of one lane of a key."""
    bits = key if lane == 0 else mix(key + np.uint64(lane) * _GOLDEN)
    return np.float64(bits >> _S11) * 2.0**-53


@jit
def gamma(shape: float, key: np.uint64) -> float:
    """Return a Gamma(shape, 1) draw (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = uniform(key, 1) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    for lane in range(2, 2 + 3 * TRIES, 3):
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, lane)))
        x = radius * math.cos(2.0 * math.pi * uniform(key, lane + 1))
        v = 1.0 + c * x
        v = v * v * v
        accept = 1.0 - uniform(key, lane + 2)
        if v > 0.0 and math.log(accept) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v
    return boost * d


@jit_separate
def beta(a: float, b: float, key: np.uint64) -> float:
    """Return a Beta(a, b) draw as a ratio of two Gamma draws."""
    x = gamma(a, mix(key ^ _MIX1))
    y = gamma(b, mix(key ^ _MIX2))
    if x + y == 0.0:  # both shapes near 0: all mass is at 0 and 1
        return 1.0 if uniform(key, 1) * (a + b) < a else 0.0
    return x / (x + y)


@jit
def beta_above_one(a: float, b: float, key: np.uint64) -> float:
    """Return a Beta(a, b) draw, for a and b of at least 1, as a ratio of two gamma draws."""
    x = _gamma_above_one(a, key)
    return x / (x + _gamma_above_one(b, round_key(key, SECOND_GAMMA_LANE)))


@jit_inline
def _gamma_above_one(shape: float, key: np.uint64) -> float:
    """Return a Gamma(shape, 1) draw, for a shape of at least 1 (Marsaglia and Tsang, 2000).

    Their squeeze spares nearly all logarithms.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    for lane in range(1, 1 + 2 * TRIES, 2):
        x = normal_quantile(uniform(key, lane))
        v = 1.0 + c * x
        if v > 0.0:
            v, square, accept = v * v * v, x * x, 1.0 - uniform(key, lane + 1)
            if accept < 1.0 - 0.0331 * square * square:
                return d * v
            if math.log(accept) < 0.5 * square + d - d * v + d * math.log(v):
                return d * v
    return d


@jit_inline
def comparison_draw(key: np.uint64, pair: int) -> float:
    """Return the uniform draw that compares the best Thompson index of a context with a value.

    ``pair`` is the number of the first pair of the context, which is not drawn for.
    """
    return uniform(key, THOMPSON_LANE + pair)
