"""The keystone on rows: fed the simulator's rows, the agent takes exactly its actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, observable_state, replayed_state

import almoner as al

SEED, COUNT = 11, 260
NAMES = ["a", "b", "c"]


DECLARED = [0.8, 2.0, 3.5]


def world(costs: str, *, skips: bool = False) -> al.Rows:
    """Return rows with noisy scores and three features.

    Bills are a part of what each row expects, or of what is declared; or each row gives its bills.
    With ``skips``, every other row brings something without an action.
    """
    rng = np.random.default_rng(3)
    features = rng.normal(0, 2, (COUNT, 3)).round(6)
    means = 1 / (1 + np.exp(-features @ rng.normal(0, 1, (3, 3))))
    expected = rng.uniform(0.5, 4, (COUNT, 3)).round(2)
    if costs == "declared":
        expected = np.tile(DECLARED, (COUNT, 1))
    bills = (expected * rng.uniform(0.5, 1, (COUNT, 3))).round(2)
    return al.Rows(
        rewards=(rng.random((COUNT, 3)) < means).astype(float),
        costs=bills,
        expected_costs=bills if costs == "given" else expected,
        scores=(means + rng.normal(0, 0.1, (COUNT, 3))).round(6),
        features=features,
        skip_rewards=np.tile([0.0, 0.5], COUNT // 2) if skips else None,
        actions=NAMES,
    )


FEATURES = {"features": ["x", "y", "z"]}

POLICIES: dict[str, tuple[al.Policy, str, dict[str, Any]]] = {
    "scores": (al.priced(), "expected", {"scores": True}),
    "trusted scores": (al.priced(trust=20), "expected", {"scores": True}),
    "features": (al.linear(), "declared", FEATURES),
    "features, given costs": (al.linear(), "given", FEATURES),
    "features, learned skips": (
        al.linear(),
        "declared",
        {**FEATURES, "default_rewards": "learned"},
    ),
    "features, no learned costs": (al.linear(learn_costs=False), "expected", FEATURES),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_agent_takes_the_actions_of_the_simulator(factory: AgentFactory, policy: str) -> None:
    """Bills are settled and rewards told at once; every 60 arrivals another process goes on."""
    recipe, kind_of_costs, kind = POLICIES[policy]
    rows = world(kind_of_costs, skips="default_rewards" in kind)
    scores, features = np.asarray(rows.scores), np.asarray(rows.features)
    run = al.trace(rows, recipe, budget=200, seed=SEED)
    terms: dict[str, Any] = {"policy": recipe, "unit": "0.01", "seed": SEED, **kind}
    actions = dict(zip(NAMES, DECLARED, strict=True))
    agent = factory.open(actions=actions, horizon=COUNT, budget=200, **terms)
    for t, i in enumerate(run.rows.tolist()):
        if t % 60 == 59:
            agent = factory.open()
        arrival: dict[str, Any] = {"features": dict(zip("xyz", features[i].tolist(), strict=True))}
        if "scores" in kind:
            arrival = {"scores": dict(zip(NAMES, scores[i].tolist(), strict=True))}
        costs = dict(zip(NAMES, rows.expected_costs[i].tolist(), strict=True))
        decision = agent.decide(**arrival, costs=None if kind_of_costs == "declared" else costs)
        action = None if run.actions[t] == al.SKIP else NAMES[run.actions[t]]
        assert (t, decision.action) == (t, action)
        assert decision.probability == run.probabilities[t]
        agent.reward(decision.id, float(run.rewards[t]))
        if action is not None:
            agent.settle(decision.id, cost=rows.costs[i, run.actions[t]])
        assert agent.ledger.left / 100 == pytest.approx(run.budget_left[t], abs=1e-9)
    assert observable_state(agent) == replayed_state(agent)
