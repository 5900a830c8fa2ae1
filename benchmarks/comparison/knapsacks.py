"""Bandits with knapsacks as policies in Python: PrimalDualBwK and LagrangeBwK, on contexts.

Both were written for arms without contexts. Here an arm is a map from contexts to actions; the best
one at a price is found context by context, with the shares of the contexts as they were seen. Both
use the index of UCB-ALP, so that the comparison is about the price, and costs are known.

Badanidiyuru, Kleinberg and Slivkins, FOCS 2013; Immorlica, Sankararaman, Schapire and Slivkins,
FOCS 2019.
"""

from __future__ import annotations

import math

import numpy as np

import almoner as al
from almoner.types import Floats

__all__ = ["LagrangeBwK", "PrimalDualBwK"]


class _UCB:
    """Sums and counts of rewards, UCB indices, the budget in units of the dearest action."""

    def __init__(self, problem: al.Problem) -> None:
        self.costs = problem.costs / problem.costs.max()
        self.horizon = problem.horizon
        self.budget = problem.budget / float(problem.costs.max())
        self.amounts = problem.costs
        self.counts, self.sums = np.zeros((2, *problem.costs.shape))
        self.seen = np.zeros(len(problem.costs))

    def indices(self, t: int) -> Floats:
        """Return the index of every pair, 1 if it is untried."""
        counts = np.maximum(self.counts, 1)
        bounds = self.sums / counts + np.sqrt(0.5 * math.log(t) / counts)
        return np.where(self.counts > 0, bounds, 1.0)

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        """Count the reward."""
        self.counts[arrival.context, action] += 1
        self.sums[arrival.context, action] += reward

    def best(self, arrival: al.Arrival, surplus: Floats) -> int:
        """Return the affordable action of the most surplus, ties at random; or skip."""
        affordable = self.amounts[arrival.context] <= arrival.budget_left
        values = np.where(affordable, surplus, -np.inf)
        top = float(values.max())
        if not top > 0:
            return al.SKIP
        tied = np.flatnonzero(values >= top - 1e-12)
        return int(tied[int(arrival.uniform(1) * len(tied))])


class LagrangeBwK(_UCB):
    """Play the Lagrangian: UCB for the actions, Hedge for the weight of money against time."""

    def __init__(self, problem: al.Problem) -> None:
        super().__init__(problem)
        self.log_weight = 0.0
        self.rate = math.sqrt(math.log(2) / self.horizon)

    def decide(self, arrival: al.Arrival) -> int:
        """Return the action, and move the weights by its cost."""
        ratio = self.horizon / self.budget
        weight = 1 / (1 + math.exp(-self.log_weight))
        context = arrival.context
        surplus = self.indices(arrival.round)[context] - weight * ratio * self.costs[context]
        action = self.best(arrival, surplus)
        spent = 0.0 if action == al.SKIP else float(self.costs[context, action])
        payoff = (ratio * spent - 1) / max(1.0, ratio - 1)  # from −1 to 1
        self.log_weight = max(-700.0, self.log_weight + self.rate * payoff)
        return action


class PrimalDualBwK(_UCB):
    """Take the map of the best ratio of reward to cost, costs weighed by multiplicative weights."""

    def __init__(self, problem: al.Problem) -> None:
        super().__init__(problem)
        self.money, self.time = 0.0, 0.0  # logarithms of the weights
        self.rate = math.log1p(math.sqrt(math.log(2) / max(self.budget, 1.0)))
        self.ratio = 1.0

    def decide(self, arrival: al.Arrival) -> int:
        """Return the action, and move the weights by its cost."""
        self.seen[arrival.context] += 1
        shares = self.seen / self.seen.sum()
        each = self.budget / self.horizon  # time, in the unit of money
        weight = 1 / (1 + math.exp(self.time - self.money))
        indices = self.indices(arrival.round)
        for _ in range(3):  # Dinkelbach's iteration, from the ratio of the round before
            surplus = indices - self.ratio * weight * self.costs
            actions, rows = surplus.argmax(axis=1), np.arange(len(surplus))
            served = shares * (surplus[rows, actions] > 0)
            reward = float(served @ indices[rows, actions])
            cost = weight * float(served @ self.costs[rows, actions]) + (1 - weight) * each
            self.ratio = reward / max(cost, 1e-12)
        context = arrival.context
        action = self.best(arrival, indices[context] - self.ratio * weight * self.costs[context])
        self.money += 0.0 if action == al.SKIP else self.rate * float(self.costs[context, action])
        self.time += self.rate * each
        return action
