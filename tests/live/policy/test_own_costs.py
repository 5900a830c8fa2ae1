"""Arrivals with costs of their own: the plan against linear programs solved by brute force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import almoner as al
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.types import Floats

HORIZON = 60


@dataclass
class Arrival:
    """An arrival to decide, at costs of its own in units."""

    context: str
    own_costs: dict[str, int] | None
    available: list[str] | None = None
    key: None = None
    visitor: None = None
    row: None = None


def campaign(**terms: Any) -> Campaign:
    """Return a new campaign in units of a cent."""
    defaults = {"horizon": HORIZON, "unit": "0.01", "seed": 5}
    agent = al.Agent.open("memory:", name="plan", **{**defaults, **terms})
    return Campaign(agent.opening_terms)


def weigh(state: Campaign, arrival: Arrival, *, left: int | None = None) -> Any:
    """Return the choice, the probability of each action, and which could be taken."""
    money = state.funds(0)
    return state.policy.weigh(
        arrival, horizon=HORIZON, left=money if left is None else left, funds=money
    )


def best_value(
    weights: Floats, gains: Floats, costs: Floats, ratio: float, fixed: Floats | None = None
) -> float:
    """Return the optimum of the LP; ``fixed`` are the probabilities of its last context."""
    contexts, actions = gains.shape
    bounds = [(0.0, 1.0)] * gains.size
    if fixed is not None:
        bounds[-actions:] = [(p, p) for p in fixed]
    once = np.kron(np.eye(contexts), np.ones(actions))
    spend = (weights[:, None] * costs).reshape(1, -1)
    result = linprog(
        -(weights[:, None] * gains).ravel(),
        A_ub=np.vstack([once, spend]),
        b_ub=np.append(np.ones(contexts) + 1e-12, ratio * (1 + 1e-12)),
        bounds=bounds,
    )
    assert result.status == 0, result.message
    return -float(result.fun)


def plan_with_arrival(
    shares: Floats, gains: Floats, costs: Floats, own: Floats, row: int, left: float
) -> tuple[Floats, Floats, Floats]:
    """Return weights, gains and costs of the LP: the arrival as a context of its own, last."""
    weight = min(shares[row], 1.0 / HORIZON)
    weights = np.append(shares, weight)
    weights[row] -= weight
    all_costs = np.vstack([costs, own])
    all_gains = np.where(all_costs <= left, np.vstack([gains, gains[row]]), -1.0)
    return weights, all_gains, all_costs


def known(means: Floats, shares: Floats) -> al.Policy:
    """Return the adaptive LP with known statistics."""
    return al.alp(reward_means=means.tolist(), context_probs=shares.tolist())


def priced(costs: Any, names: list[str]) -> dict[str, al.Action]:
    """Return actions with costs in cents by context and action."""
    return {
        f"a{k}": al.Action(cost={name: costs[j][k] / 100 for j, name in enumerate(names)})
        for k in range(len(costs[0]))
    }


def named(own: Any) -> dict[str, int]:
    """Return costs by action."""
    return {f"a{k}": int(cost) for k, cost in enumerate(own)}


@pytest.mark.parametrize("equal", [True, False], ids=["equal costs", "unequal costs"])
@pytest.mark.parametrize("seed", range(40))
def test_probabilities_solve_the_lp_with_the_arrival_as_a_context_of_its_own(
    seed: int, equal: bool
) -> None:
    """The LP with the arrival's probabilities fixed has the same value as without.

    Costs of the arrival's own range from nothing to a third of the budget, which an action in a
    plan for 60 arrivals may well be worth in part only.
    """
    rng = np.random.default_rng(seed)
    names = ["x", "y", "z"]
    means = rng.random((3, 3)).round(3)
    costs = rng.integers(20, 400, (3, 3)).astype(np.float64)
    if equal:
        costs[:] = 100.0
    shares = rng.dirichlet(np.ones(3)).round(3)
    shares[-1] = 1 - shares[:-1].sum()
    budget = int(rng.uniform(0.1, 0.9) * HORIZON * costs.mean())
    state = campaign(
        contexts=names,
        actions=priced(costs.tolist(), names),
        budget=budget / 100,
        policy=known(means, shares),
    )
    for row, name in enumerate(names):
        own = rng.integers(0, budget // 3, 3).astype(np.float64)
        (_, _, probability, _), spread, options = weigh(state, Arrival(name, named(own)))
        assert options == [True] * 3
        assert 0 < probability <= 1
        plan = plan_with_arrival(shares, means, costs, own, row, budget)
        best = best_value(*plan, budget / HORIZON)
        fixed = best_value(*plan, budget / HORIZON, np.array(spread))
        assert fixed == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_learned_shares_count_the_arrival_and_weigh_one_of_those_to_come(seed: int) -> None:
    """After 20 arrivals, the counts with this one are the shares; the arrival weighs 1/40."""
    rng = np.random.default_rng(seed)
    names, counts = ["x", "y"], np.zeros(2)
    means = rng.random((2, 2)).round(3)
    costs = rng.integers(20, 400, (2, 2)).astype(np.float64)
    state = campaign(
        contexts=names,
        actions=priced(costs.tolist(), names),
        budget=50,
        policy=al.ealp(reward_means=means.tolist()),
    )
    for name in rng.choice(names, 20):
        state.policy.take(Arrival(name, None), -1)
        counts[names.index(name)] += 1
    own = rng.integers(0, 800, 2).astype(np.float64)
    _, spread, _ = weigh(state, Arrival("x", named(own)))
    counts[0] += 1
    shares, remaining = counts / 21, HORIZON - 20
    weight = min(shares[0], 1 / remaining)
    weights = np.array([shares[0] - weight, shares[1], weight])
    plan = weights, np.vstack([means, means[0]]), np.vstack([costs, own])
    best = best_value(*plan, 5_000 / remaining)
    fixed = best_value(*plan, 5_000 / remaining, np.array(spread))
    assert fixed == pytest.approx(best, abs=1e-9)


def test_a_cheaper_arrival_is_served_for_sure_and_a_dearer_one_skipped() -> None:
    """One context, gain 0.5 at a cost of 1.00, 30 for 60 arrivals: half of them are served.

    At 0.99 the slope is above the price of 0.5, at 1.01 below it; a rate only where they are equal.
    """
    state = campaign(
        contexts=["x"],
        actions={"a0": 1.0},
        budget=30,
        policy=known(np.array([[0.5]]), np.array([1.0])),
    )
    spreads = [weigh(state, Arrival("x", {"a0": cost}))[1] for cost in (99, 100, 101)]
    assert spreads == [[1.0], [0.5], [0.0]]
    _, spread, _ = weigh(state, Arrival("x", {"a0": 0}))
    assert spread == [1.0]


def test_a_cost_above_the_budget_is_unaffordable_and_one_below_it_competes() -> None:
    """Gains 0.9 and 0.1 at costs of 1, 6 for 60 arrivals, all y but this one, x.

    At 5.99 of its own the slope of x is 0.150, above the price of 0.1, and a cent is left for y.
    """
    state = campaign(
        contexts=["x", "y"],
        actions={"a0": 1.0},
        budget=6,
        policy=known(np.array([[0.9], [0.1]]), np.array([1 / 60, 59 / 60])),
    )
    money = state.funds(0)
    (_, _, _, price), spread, options = state.policy.weigh(
        Arrival("x", {"a0": 599}), horizon=HORIZON, left=money, funds=money
    )
    assert (spread, options) == ([1.0], [True])
    assert price * state.policy.per_unit == pytest.approx(0.1)
    _, spread, options = weigh(state, Arrival("x", {"a0": 700}))
    assert (spread, options) == ([0.0], [False])  # the budget has 6.00 at most


@pytest.mark.parametrize(
    ("policy", "costs"),
    [
        (al.thrifty(), {"a0": 1.0, "a1": 1.0}),
        (al.thrifty(), {"a0": 1.0, "a1": 2.5}),
        (al.ucb_ealp(), {"a0": 1.0, "a1": 2.5}),
        (al.thompson_rounded(), {"a0": 1.0, "a1": 2.5}),
        (al.epsilon_first_alp(rounds=20, contexts=al.EmpiricalContexts()), {"a0": 1, "a1": 2}),
    ],
    ids=["equal", "thrifty", "ucb", "thompson", "explore first"],
)
def test_the_expected_costs_as_own_ones_change_no_decision(
    policy: al.Policy, costs: dict[str, float]
) -> None:
    terms: dict[str, Any] = {
        "contexts": ["x", "y"],
        "actions": costs,
        "horizon": 80,
        "budget": 60,
        "policy": policy,
        "seed": 3,
    }
    plain, given = (al.Agent.open("memory:", name="p", **terms) for _ in range(2))
    rng = np.random.default_rng(1)
    for _ in range(90):
        context = str(rng.choice(["x", "y"]))
        one, other = plain.decide(context), given.decide(context, costs=costs)
        assert one == other
        reward = float(rng.random())
        plain.reward(one.id, reward)
        given.reward(other.id, reward)
    assert plain.look(Campaign.to_dict) == given.look(Campaign.to_dict)


@pytest.mark.parametrize("policy", [*al.RECIPES])
def test_every_policy_decides_at_own_costs_with_probabilities_that_add_up(policy: str) -> None:
    """Also Thompson's, whose probabilities are shares of draws, and those that explore first."""
    recipe = al.recipe(policy)
    table = recipe.to_dict()
    if table["rewards"]["kind"] == "KnownRewards":
        table["rewards"]["means"] = [[0.4, 0.6], [0.7, 0.2]]
    if table["contexts"]["kind"] == "KnownContexts":
        table["contexts"]["probs"] = [0.5, 0.5]
    recipe = al.Policy.from_dict(table)
    with al.Agent.open(
        "memory:",
        name="p",
        contexts=["x", "y"],
        actions={"a0": 1.0, "a1": 1.0},
        horizon=30,
        budget=15,
        explore=0.2,
        policy=recipe,
        seed=4,
    ) as agent:
        if policy in ("pb", "ucb_pb"):
            with pytest.raises(al.errors.InvalidInput, match="Procrastinate"):
                agent.decide("x", costs={"a0": 0.5})
            return
        rng = np.random.default_rng(2)
        for _ in range(35):
            context, cost = str(rng.choice(["x", "y"])), round(float(rng.uniform(0, 4)), 2)
            decision = agent.decide(context, costs={"a0": cost})
            agent.reward(decision.id, float(rng.random() < 0.5))
        audit(agent.store, "p")
        assert agent.ledger.left >= 0
