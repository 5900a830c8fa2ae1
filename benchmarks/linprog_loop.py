"""The allocation problem by scipy's linprog, without its closed form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

import almoner as al

__all__ = ["by_solver", "optimum"]

Floats = npt.NDArray[np.float64]


SCALE = 1e6
"""HiGHS takes reduced costs below 1e-7 for 0. Unscaled, it would ignore the random tie-breakers
and serve tied contexts in an order of its own, which changes the reward here by 7 %."""


def by_solver(values: Floats, probs: Floats, ratio: float) -> Floats:
    """Return the serving probabilities of one round of UCB-ALP: one variable per context."""
    solution = linprog(
        -SCALE * probs * values, A_ub=probs[None, :], b_ub=[ratio], bounds=(0, 1), method="highs"
    )
    chances: Floats = solution.x
    return chances


def optimum(problem: al.Problem) -> float:
    """Return the value of the allocation problem at any costs: one variable per pair."""
    contexts, actions = problem.reward_means.shape
    weights = np.repeat(problem.context_probs, actions)
    spend = sparse.csr_array((weights * problem.costs.ravel())[None, :])
    one_action = sparse.kron(sparse.eye_array(contexts), np.ones((1, actions)))
    solution = linprog(
        -weights * problem.reward_means.ravel(),
        A_ub=sparse.vstack([spend, one_action], format="csr"),
        b_ub=np.append(problem.ratio, np.ones(contexts)),
        method="highs",
    )
    return -float(solution.fun)
