"""Problems in the notation of the proofs at equal costs: contexts ranked by their best reward."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from almoner.errors import NotComputable
from almoner.lp import TOLERANCE
from almoner.money import on_grid
from almoner.problem import Problem
from almoner.types import Floats

__all__ = ["RankedProblem", "error_constants"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedProblem:
    """A problem with its contexts ranked, best first, and the position of ρ among the boundaries.

    ``probs``, ``means`` and ``best`` are π_j, u_jk and u*_j without the contexts of probability 0,
    ``margin`` is the index of the marginal context, and ``distance`` δ of Theorem 1, or its δ' on a
    boundary. ``value`` is v(ρ) for whole actions, ``unlimited`` is ū*, and ``cut`` the part of the
    upper bound for the rest of the budget, which pays for no whole action.
    """

    horizon: int
    budget: int
    ratio: float
    probs: Floats
    means: Floats
    best: Floats
    margin: int
    on_boundary: bool
    distance: float
    value: float
    cut: float
    unlimited: float

    @classmethod
    def of(cls, problem: Problem, *, merge: bool = False) -> RankedProblem:
        """Rank a problem; ``merge`` counts contexts that tie for the best reward as one."""
        grid = on_grid(problem.budget, problem.costs)
        if np.any(problem.costs != problem.costs.flat[0]):
            raise NotComputable(
                "the bounds need every action to cost the same, got costs from "
                f"{problem.costs.min():g} to {problem.costs.max():g}; use simulate"
            )
        if problem.default_rewards.any():
            raise NotComputable(
                "the bounds need skipping to bring nothing, got default_rewards up to "
                f"{problem.default_rewards.max():g}; use simulate"
            )
        order = np.argsort(-problem.reward_means.max(axis=1), kind="stable")
        order = order[problem.context_probs[order] > 0]
        probs, means = problem.context_probs[order], problem.reward_means[order]
        best = means.max(axis=1)
        if merge:
            first = np.flatnonzero(np.diff(best, prepend=math.inf) < -TOLERANCE)
            probs, means, best = np.add.reduceat(probs, first), means[first], best[first]
        edges = np.concatenate([[0.0], np.cumsum(probs)])
        ratio = min(1.0, grid.budget / problem.horizon)
        uncut = max(ratio, min(1.0, problem.ratio / float(problem.costs.flat[0])))
        value, uncut_value = (
            float(np.clip(each - edges[:-1], 0, probs) @ best) for each in (ratio, uncut)
        )
        away, near = np.abs(edges - ratio), TOLERANCE * np.maximum(edges, ratio)
        return cls(
            horizon=problem.horizon,
            budget=grid.budget,
            ratio=ratio,
            probs=probs,
            means=means,
            best=best,
            margin=int(np.sum(edges < ratio - near)) - 1,
            on_boundary=bool(np.any((away <= near)[1:-1])),
            distance=float(away[away > near].min()),
            value=value,
            cut=problem.horizon * (uncut_value - value),
            unlimited=float(probs @ best),
        )

    @property
    def spread(self) -> float:
        """u*_1 − u*_J."""
        return float(self.best[0] - self.best[-1])

    @property
    def contested(self) -> bool:
        """Whether regret depends on which contexts the budget serves."""
        return 0 < self.budget < self.horizon and self.spread > TOLERANCE

    @property
    def root(self) -> float:
        """2√(ρ(1−ρ)T), which bounds Σ_τ √Var(b_τ)/τ."""
        return 2 * math.sqrt(self.ratio * (1 - self.ratio) * self.horizon)

    @property
    def series(self) -> float:
        """Σ_τ e^{−2δ²τ} = 1 / (e^{2δ²} − 1), with half the distance for δ."""
        return 1 / math.expm1(self.distance**2 / 2)

    @property
    def error_cost(self) -> float:
        """The regret that the proof counts for a round with a ranking error."""
        return self.value if self.on_boundary else self.unlimited + self.value

    @property
    def action_gaps(self) -> Floats:
        """The gaps u*_j − u_jk that are not zero."""
        gaps = self.best[:, None] - self.means
        return gaps[gaps > TOLERANCE]

    def error_constants(self) -> tuple[Floats, Floats]:
        """Return the factors of log T in the errors of each pair above, and below, the margin."""
        if not self.contested:
            return np.empty(0), np.empty(0)
        chance, m = np.minimum(self.probs, self.distance / 2), self.margin
        above = error_constants(self.best[:m, None] - self.means[m], chance[m])
        below = error_constants(self.best[m] - self.means[m + 1 :], chance[m + 1 :, None])
        return above.ravel(), below.ravel()


def error_constants(gaps: Floats, chance: Floats) -> Floats:
    """Return 27 / (2gΔ²) + 2 (Lemma 6): from 2 log T / (g(1−ε)ε²Δ²) at ε = ⅔, and Σ_t 2/t."""
    squares: Floats = chance * np.where(gaps > TOLERANCE, gaps, 0) ** 2
    with np.errstate(divide="ignore"):
        return 13.5 / squares + 2
