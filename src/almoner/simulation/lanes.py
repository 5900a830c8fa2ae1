"""Choice between the kernels that play eight replications at once and those that play one.

All of it is decided here. Results do not depend on it: the kernels agree to the last bit.
"""

from __future__ import annotations

import math
import os
import threading
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from almoner.policy.allocation import (
    AdaptiveLP,
    EagerRounding,
    FixedLP,
    Procrastinate,
    RoundedLP,
    SkipAlways,
)
from almoner.policy.contexts import (
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.lowering import LoweredPolicy, for_kernels
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    EmpiricalMean,
    HorizonUCB,
    InsuredWilson,
    KnownRewards,
    LogPlus,
    Wilson,
)
from almoner.types import Floats, Ints

if TYPE_CHECKING:
    from almoner.kernels.environment import Environment

__all__ = ["describe_lanes", "play_in_lanes", "replications_at_once"]

FEWEST_RUNS = 4
"""Eight replications in lanes take about as long as three without."""

MOST_PAIRS = 2000
"""Kernels of lanes compute affine indices of all pairs; with more, brackets do better."""

MOST_CURVED_PAIRS, MOST_CURVED_ACTIONS = 250, 8
"""With more, some lane needs nearly every index; those that are not affine take long then."""

MOST_STEPS = 60
"""Kernels of lanes compute every hull and the price anew; with more steps, copies do better."""

_EXACT = 2**53
"""Budgets up to here are exact as floats."""

_AFFINE = {spec.code for spec in (KnownRewards, EmpiricalMean, UCB)}
_CURVED = {spec.code for spec in (KLUCB, LogPlus, HorizonUCB, Wilson, InsuredWilson)}
_CONTEXTS = {
    spec.code for spec in (KnownContexts, EmpiricalContexts, TruncatedContexts, NoContexts)
}
_RULES = {
    spec.code for spec in (AdaptiveLP, FixedLP, Procrastinate, RoundedLP, EagerRounding, SkipAlways)
}
_COUNTED = {EmpiricalContexts.code, TruncatedContexts.code}

_failures: list[str] = []
_compiling = threading.Lock()


def describe_lanes() -> str:
    """Return which lanes simulations run in, or why in none."""
    if reason := _why_off():
        return f"off ({reason})"
    from almoner.kernels.lanes.vector import WIDTH, instructions

    return f"{WIDTH} × float64 ({instructions()})"


def replications_at_once(lowered: LoweredPolicy, runs: int) -> int:
    """Return how many replications a kernel plays at once: 1 without lanes."""
    if runs < FEWEST_RUNS or not _is_playable(lowered) or _why_off():
        return 1
    from almoner.kernels.lanes.vector import WIDTH

    return WIDTH


def _is_playable(lowered: LoweredPolicy) -> bool:
    """Return whether kernels of lanes have this policy, at this size."""
    if lowered.reward not in _AFFINE | _CURVED or lowered.context not in _CONTEXTS:
        return False
    if lowered.rule not in _RULES:
        return False
    small = max(lowered.budget, lowered.dearest) <= _EXACT and lowered.costs.size <= MOST_PAIRS
    if lowered.priced:
        sorted_once = lowered.reward == KnownRewards.code and lowered.context == KnownContexts.code
        late = lowered.reward in _CURVED and lowered.context == TruncatedContexts.code
        return small and not sorted_once and not late and lowered.costs.size <= MOST_STEPS
    if lowered.reward in _CURVED:
        few = lowered.costs.shape[1] <= MOST_CURVED_ACTIONS
        small &= few and lowered.costs.size <= MOST_CURVED_PAIRS
    return small and _sums_agree(lowered)


def _sums_agree(lowered: LoweredPolicy) -> bool:
    """Return whether weights add up to the same bits as without lanes.

    Counts do in any order, and so do the known weights of up to three contexts, of which two can be
    ahead of one. For more, only decisions by affine indices follow the order of the other kernel.
    """
    if lowered.reward in _CURVED:
        return lowered.context == EmpiricalContexts.code or (
            lowered.context != TruncatedContexts.code and len(lowered.costs) <= 3
        )
    return lowered.context in _COUNTED or lowered.rule != EagerRounding.code


def _why_off() -> str:
    """Return why there are no lanes; empty if there are."""
    if os.environ.get("ALMONER_LANES") == "0":
        return "ALMONER_LANES=0"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return "NUMBA_DISABLE_JIT"
    return _failures[0] if _failures else _probe()


@cache
def _probe() -> str:
    """Try a small kernel of lanes; return why it fails, empty if it does not."""
    try:
        from almoner.kernels.lanes.probe import probe
        from almoner.kernels.lanes.state import aligned

        array = aligned(3)
        array[:] = np.arange(1, 4)[:, None]
        probe(array)
    except Exception as error:  # whatever a new numba or LLVM raises, there are other kernels
        return f"they do not compile: {type(error).__name__}"
    return "" if array[1, 0] == math.sqrt(2.0) else "they compute other numbers"


def play_in_lanes(
    lowered: LoweredPolicy,
    environment: Environment,
    root: np.uint64,
    first: int,
    out: Floats,
    marks: Ints,
    noted: Floats,
    pairs: Ints,
) -> bool:
    """Play a replication per row of ``out``; return False, and do nothing, if that fails."""
    from almoner.kernels.lanes.brackets import new_brackets
    from almoner.kernels.lanes.loop import play_lanes
    from almoner.kernels.lanes.priced import new_lane_hulls
    from almoner.kernels.lanes.refit_buffers import new_refit_buffers
    from almoner.kernels.lanes.state import new_lanes
    from almoner.kernels.state import new_levels

    policy = for_kernels(lowered)
    wide = environment._replace(aliases=environment.aliases.astype(np.uint64))
    curved, priced = policy.reward in _CURVED, policy.priced == 1
    levels = new_levels(policy)
    terms = (
        policy,
        wide,
        new_lanes(policy),
        new_brackets(policy) if curved and not priced else None,
        new_lane_hulls(policy) if priced else None,
        new_refit_buffers(policy, levels),
        levels,
        np.column_stack([np.zeros(len(policy.costs)), policy.costs]),
    )
    with _compiling:
        if not _failures:
            try:
                play_lanes(*terms, root, first, marks, out[:0], noted[:0], pairs)  # compiles only
            except Exception as error:
                _failures.append(f"they do not compile: {type(error).__name__}")
        if _failures:
            return False
    play_lanes(*terms, root, first, marks, out, noted, pairs)
    return True
