"""Tiny problems at the edges of the problem space: no budget, one action, ties, unequal costs."""

from __future__ import annotations

from almoner.problem import Problem

__all__ = ["TINY"]

_TWO = Problem(
    context_probs=[0.3, 0.7],
    reward_means=[[0.2, 0.9, 0.5], [0.6, 0.1, 0.3]],
    horizon=40,
    budget=13,
)

_COSTS = [[1.5, 4, 1], [2, 0.5, 3]]
_DEFAULTS = [0.3, 0.2]
"""Better than one action of each context, so that a bad action both costs and loses."""

TINY: dict[str, Problem] = {
    "ordinary": _TWO,
    "no budget": _TWO.replace(budget=0),
    "budget for everybody": _TWO.replace(budget=40),
    "more budget than rounds": _TWO.replace(budget=55),
    "a single round": _TWO.replace(horizon=1, budget=1),
    "less than one action's cost": _TWO.replace(budget=0.5),
    "a cost other than one": _TWO.replace(costs=0.1, budget=1.3),
    "a context that never comes": _TWO.replace(context_probs=[0, 1]),
    "all alike": _TWO.replace(reward_means=[[0.5] * 3] * 2),
    "nothing to gain": _TWO.replace(reward_means=[[0.0] * 3] * 2),
    "certain rewards": _TWO.replace(reward_means=[[1.0] * 3] * 2),
    "rewards between 0 and 1": _TWO.replace(reward_spread=0.2),
    "one action": Problem(
        context_probs=[0.3, 0.7], reward_means=[[0.2], [0.6]], horizon=30, budget=10
    ),
    "one context": Problem(context_probs=[1.0], reward_means=[[0.2, 0.6]], horizon=30, budget=10),
    "three contexts": Problem(
        context_probs=[0.2, 0.5, 0.3],
        reward_means=[[0.9, 0.1], [0.3, 0.4], [0.2, 0.7]],
        horizon=50,
        budget=20,
    ),
    "unequal costs": _TWO.replace(costs=_COSTS, budget=31),
    "costs that never use up the budget": _TWO.replace(costs=[0.3, 0.7, 0.4], budget=5.05),
    "only the dearest is out of reach": _TWO.replace(costs=_COSTS, budget=3.5),
    "known default rewards": _TWO.replace(default_rewards=_DEFAULTS, defaults_known=True),
    "default rewards to be learned": _TWO.replace(default_rewards=_DEFAULTS),
    "skipping is best": _TWO.replace(default_rewards=[0.95, 0.7]),
    "unequal costs and known default rewards": _TWO.replace(
        costs=_COSTS, budget=31, default_rewards=_DEFAULTS, defaults_known=True
    ),
    "unequal costs and default rewards to be learned": _TWO.replace(
        costs=_COSTS, budget=31, default_rewards=_DEFAULTS
    ),
}
"""Problems by their special feature."""
