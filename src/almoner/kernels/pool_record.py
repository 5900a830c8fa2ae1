"""Record of the pooled fit: how much better it predicts the rewards so far than no knowledge does.

Each pair is predicted without its own rewards (`almoner.kernels.pool_priors`). Its rewards then
have a likelihood under that prediction, and another one under a uniform mean. The sum of the
logarithms of their ratios says whether anything is to be borrowed: problems whose means have
nothing in common keep it near 0 or below, whatever the fitted variances are.
"""

from __future__ import annotations

from typing import Any

from almoner.jit import jit, jit_inline
from almoner.kernels.elementary import log

__all__ = ["log_gain"]


@jit_inline
def log_gain(count: Any, rewards: Any, mean: Any, prior: Any) -> Any:
    """Return the log-likelihood of a pair's rewards with a prior, less that of a uniform mean.

    Both laws are beta-binomial: with ``prior`` rewards of this mean before the first, and with two
    of mean ½.
    """
    wins, losses = mean * prior, (1.0 - mean) * prior
    more_wins, more_losses = wins + rewards, losses + count - rewards
    gain = _stirling(more_wins) - _stirling(wins) + _stirling(more_losses) - _stirling(losses)
    gain += _stirling(prior) - _stirling(prior + count)
    gain -= _stirling(1.0 + rewards) + _stirling(1.0 + count - rewards)
    gain += _stirling(2.0 + count)
    less = _rising(wins) * _rising(losses) * _rising(prior + count)
    less /= _rising(more_wins) * _rising(more_losses) * _rising(prior)
    less *= _rising(1.0 + rewards) * _rising(1.0 + count - rewards) / _rising(2.0 + count)
    return gain + log(less)


@jit
def _stirling(x: Any) -> Any:
    """Return log Γ(x + 4) for x > 0, by Stirling's series, to 1e-8.

    It is log Γ(x) but for the logarithm of `_rising`, which a sum of them has only once.
    """
    x += 4.0
    z = 1.0 / x
    y = z * z
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) * z
    return (x - 0.5) * log(x) - x + 0.9189385332046727 + series


@jit_inline
def _rising(x: Any) -> Any:
    """Return Γ(x + 4) / Γ(x) = x (x + 1)(x + 2)(x + 3)."""
    u = x * (x + 3.0)
    return u * (u + 2.0)
