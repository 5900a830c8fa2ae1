"""Record of the pooled fit: how much better it predicts the rewards so far than no knowledge does.

Each pair is predicted without its own rewards (`almoner.kernels.pool_priors`). Its rewards then
have a likelihood under that prediction, and another one under a uniform mean. The sum of the
logarithms of their ratios says whether anything is to be borrowed: problems whose means have
nothing in common keep it near 0 or below, whatever the fitted variances are.
"""

from __future__ import annotations

import math

from almoner.jit import jit, jit_inline

__all__ = ["log_gain", "log_gamma"]


@jit_inline
def log_gain(count: float, rewards: float, mean: float, prior: float) -> float:
    """Return the log-likelihood of a pair's rewards with a prior, less that of a uniform mean.

    Both laws are beta-binomial: with ``prior`` rewards of this mean before the first, and with two
    of mean ½.
    """
    wins, losses = mean * prior, (1.0 - mean) * prior
    gain = log_gamma(wins + rewards) - log_gamma(wins)
    gain += log_gamma(losses + count - rewards) - log_gamma(losses)
    gain += log_gamma(prior) - log_gamma(prior + count)
    gain -= log_gamma(1.0 + rewards) + log_gamma(1.0 + count - rewards)
    return gain + log_gamma(2.0 + count)


@jit
def log_gamma(x: float) -> float:
    """Return log Γ(x) for x > 0, by its recurrence and Stirling's series, to 1e-8."""
    product = x * (x + 1.0) * (x + 2.0) * (x + 3.0)
    x += 4.0
    y = 1.0 / (x * x)
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series - math.log(product)
