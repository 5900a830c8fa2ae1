"""Small problems for tests of bounds, asymmetric so that a wrong sign or index shows."""

from __future__ import annotations

from almoner.problem import Problem


def three(budget: float, horizon: int = 100, **changes: object) -> Problem:
    """Best rewards .9, .6, .1 with probabilities .2, .3, .5, listed in another order.

    The second context has probability 0. Boundaries: 0, .2, .5, 1. Action gaps: .4 in the best
    context, .2 in the next, none in the worst, where both actions tie.
    """
    return Problem(
        context_probs=[0.5, 0, 0.2, 0.3],
        reward_means=[[0.1, 0.1], [1.0, 0.0], [0.5, 0.9], [0.6, 0.4]],
        horizon=horizon,
        budget=budget,
    ).replace(**changes)


def two(budget: float, horizon: int = 1000) -> Problem:
    """Best rewards .8 (30 %) and .4 (70 %), the worse context first; action gaps .3 and .1."""
    return Problem(
        context_probs=[0.7, 0.3],
        reward_means=[[0.3, 0.4], [0.8, 0.5]],
        horizon=horizon,
        budget=budget,
    )


def tied(budget: float) -> Problem:
    """The two better of three contexts bring the same at best."""
    return Problem(
        context_probs=[0.3, 0.3, 0.4],
        reward_means=[[0.7, 0.5], [0.7, 0.6], [0.2, 0.2]],
        horizon=100,
        budget=budget,
    )
