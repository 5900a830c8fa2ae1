"""Named policies on rows: ours, and those that people use instead.

On rows the value of an action is the caller's score or a model's prediction, and one price decides:
an arrival takes the action with the largest value less price times cost, if that is above what
skipping brings. Ours solve the LP of a market of recent rows for that price.
"""

from __future__ import annotations

from collections.abc import Callable

from almoner.policy.base import Policy
from almoner.policy.rows import (
    DualDescent,
    EMAPacing,
    FixedRate,
    GivenScores,
    LinearModel,
    Market,
    PIDPacing,
    Priced,
    Unpriced,
)

__all__ = [
    "ROW_RECIPES",
    "dual_descent",
    "ema_pacing",
    "fixed_rate",
    "greedy_scores",
    "linear",
    "pid_pacing",
    "priced",
]


def priced(*, trust: float | None = None) -> Policy:
    """Decide by the caller's scores at the price of a market of recent rows.

    The price λ and the share of the steps at it solve the LP max Σ v − λ(Σ c − b/τ) over a `Market`
    of at least 256 rows, the latest and a random sample, whenever b/τ has moved by 2 %.

    Parameters
    ----------
    trust
        Recalibrate the scores of each action by a line through its rewards, where the scores as
        given count for this many rewards. Left out, they are used as given, on any scale.

    Examples
    --------
    >>> priced(trust=20).rewards
    GivenScores(trust=20.0)
    """
    return _on_scores(Priced(), trust=trust)


def linear(*, ridge: float = 10.0, learn_costs: bool = True) -> Policy:
    """Learn a linear model of each action's reward on features; decide at the market's price.

    The value of an action is the optimistic bound of its model (`LinearModel`), its expected cost
    the declared one times a ratio learned on the same features.

    Parameters
    ----------
    ridge
        Prior precision of each coefficient, per feature.
    learn_costs
        Learn the ratio of bill and declared cost.

    Examples
    --------
    >>> linear().allocation
    Priced()
    """
    return Policy(
        rewards=LinearModel(ridge=ridge, learn_costs=learn_costs),
        contexts=Market(size=256),  # models value all of its rows anew at each refresh
        allocation=Priced(),
    )


def dual_descent(*, step: float = 0.05) -> Policy:
    """Decide by scores at a price that dual descent moves (Balseiro, Lu and Mirrokni, 2023).

    For comparison: a step that is ten times off loses several per cent.

    Examples
    --------
    >>> dual_descent().allocation
    DualDescent(step=0.05)
    """
    return _on_scores(DualDescent(step=step))


def pid_pacing(*, proportional: float = 0.5, integral: float = 0.02) -> Policy:
    """Decide by scores at a price that a PID controller moves; for comparison.

    Examples
    --------
    >>> pid_pacing().allocation
    PIDPacing(proportional=0.5, integral=0.02)
    """
    return _on_scores(PIDPacing(proportional=proportional, integral=integral))


def ema_pacing(*, step: float = 0.05, weight: float = 0.05) -> Policy:
    """Decide by scores at a price that follows a moving average of the spend; for comparison.

    Examples
    --------
    >>> ema_pacing().allocation
    EMAPacing(step=0.05, weight=0.05)
    """
    return _on_scores(EMAPacing(step=step, weight=weight))


def greedy_scores() -> Policy:
    """Take the action with the best score until the money is gone; for comparison.

    Examples
    --------
    >>> greedy_scores().allocation
    Unpriced()
    """
    return _on_scores(Unpriced())


def fixed_rate() -> Policy:
    """Take the action with the best score while the spend is below its straight line.

    For comparison.

    Examples
    --------
    >>> fixed_rate().allocation
    FixedRate()
    """
    return _on_scores(FixedRate())


ROW_RECIPES: dict[str, Callable[..., Policy]] = {
    make.__name__: make
    for make in (
        priced, linear, dual_descent, pid_pacing, ema_pacing, greedy_scores, fixed_rate,
    )
}  # fmt: skip
"""Every recipe on rows by name."""


def _on_scores(
    rule: Priced | DualDescent | PIDPacing | EMAPacing | Unpriced | FixedRate,
    trust: float | None = None,
) -> Policy:
    return Policy(rewards=GivenScores(trust=trust), contexts=Market(), allocation=rule)
