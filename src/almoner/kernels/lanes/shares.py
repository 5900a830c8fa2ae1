"""Allocation rules of eight replications: the probability of serving, at equal costs."""

from __future__ import annotations

from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.lanes.vector import floats, where
from almoner.policy.allocation import (
    AdaptiveLP,
    EagerRounding,
    FixedLP,
    Procrastinate,
    RoundedLP,
    SkipAlways,
)
from almoner.policy.lowering import LoweredPolicy

__all__ = ["budget_ratio", "priced_ratio", "serve_share"]

_ADAPTIVE, _FIXED, _PROCRASTINATE = AdaptiveLP.code, FixedLP.code, Procrastinate.code
_ROUNDED, _EAGER, _SKIP = RoundedLP.code, EagerRounding.code, SkipAlways.code


@jit_inline
def budget_ratio(policy: LoweredPolicy, left: Any, remaining: int) -> Any:
    """Return the budget per round of the LP: b/τ, or B/T for a fixed LP."""
    if policy.rule == _FIXED:
        return floats(policy.held * (policy.budget / policy.horizon))
    return policy.held * (left / remaining)


@jit_inline
def priced_ratio(policy: LoweredPolicy, left: Any, remaining: int) -> Any:
    """Return the budget per round of the LP where costs differ (`almoner.kernels.priced`)."""
    adaptive = policy.held * (left / remaining)
    if policy.rule != _FIXED:
        return adaptive
    plentiful = (left >= float(remaining) * policy.dearest) & (float(policy.override) > left * 0.0)
    return where(plentiful, adaptive, policy.held * (policy.budget / policy.horizon))


@jit_inline
def serve_share(
    policy: LoweredPolicy, plentiful: Any, room: Any, own: Any, ahead: Any, tied: Any
) -> Any:
    """Return the probability of serving a context (`almoner.kernels.steps.serve_share`)."""
    share = floats(0.0)
    if policy.rule == _SKIP:
        return share
    if policy.rule in (_ADAPTIVE, _FIXED):
        share = where(room >= own + tied, 1.0, room / (own + tied))
        share = where(room <= 0.0, 0.0, share)
    if policy.rule == _PROCRASTINATE:
        share = where(ahead > 0.0, 0.0, own / (own + tied))
    if policy.rule == _ROUNDED:
        share = where(room - tied >= 0.5 * own, 1.0, room / (own + tied))
        share = where((room <= 0.0) | (room < 0.5 * own), 0.0, share)
    if policy.rule == _EAGER:
        fits = (ahead <= 0.0) | ((room > 0.0) & (room >= 0.5 * own))
        share = where(fits, 1.0, share)
    if policy.rule != _FIXED or policy.override == 1:
        share = where(plentiful, 1.0, share)
    return share
