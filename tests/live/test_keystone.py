"""The keystone: fed the simulator's contexts and rewards, the agent takes exactly its actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, observable_state, replayed_state, state_values

import almoner as al
from almoner.kernels.live import REDRAWS
from almoner.kernels.loop import FIGURES, play
from almoner.kernels.state import State, new_hulls, new_memo, new_state
from almoner.policy.lowering import applicable, lower
from almoner.simulation.replications import environment_of, root_key

SEED = 11

UNIT = al.Problem(
    context_probs=[0.2, 0.5, 0.3],
    reward_means=[[0.3, 0.9, 0.5], [0.6, 0.1, 0.4], [0.2, 0.2, 0.7]],
    horizon=200,
    budget=87,
    contexts=["a", "b", "c"],
    actions=["x", "y", "z"],
)
TWO = al.Problem(
    context_probs=[0.4, 0.6],
    reward_means=[[0.2, 0.8], [0.1, 0.4]],
    horizon=200,
    budget=80,
    reward_spread=0.3,
    contexts=["a", "b"],
    actions=["x", "y"],
)
UNEQUAL = UNIT.replace(
    costs=[[0.5, 2.0, 1.0], [1.5, 0.25, 1.0], [1.0, 1.0, 3.0]], budget=100.3, reward_spread=0.5
)
DEFAULTS = [0.4, 0.1, 0.0]

PROBLEMS = {
    "two contexts": TWO,
    "equal costs": UNIT,
    "unequal costs": UNEQUAL,
    "known defaults": UNEQUAL.replace(default_rewards=DEFAULTS, defaults_known=True),
    "learned defaults": UNEQUAL.replace(default_rewards=DEFAULTS),
    "learned defaults, equal costs": UNIT.replace(default_rewards=DEFAULTS),
    "more than enough": UNIT.replace(budget=199),
}

EXPLORERS = {
    "usable test": al.epsilon_first_alp(test="usable", cap=0.6, contexts=al.EmpiricalContexts()),
    "literal test": al.epsilon_first_alp(test="literal", cap=0.6, contexts=al.EmpiricalContexts()),
    "no updates": al.epsilon_first_alp(rounds=60, update=False, contexts=al.EmpiricalContexts()),
    "frozen shares": al.ucb_ealp2(until=50),
    "frozen shares, rewards known": al.ealp2(until=50),
    "fixed, overridden": al.flp(override=True),
}


def policies(problem: al.Problem) -> Iterator[tuple[str, al.Policy]]:
    """Yield every recipe, and what recipes leave out, that makes sense on a problem."""
    for name, policy in {**{name: al.recipe(name) for name in al.RECIPES}, **EXPLORERS}.items():
        if applicable(policy, **problem.terms()):
            yield name, informed(policy, problem)


def informed(policy: al.Policy, problem: al.Problem) -> al.Policy:
    """Return the same policy with the known parameters of the problem."""
    table = policy.to_dict()
    if table["rewards"]["kind"] == "KnownRewards":
        table["rewards"]["means"] = problem.reward_means.tolist()
    if table["contexts"]["kind"] == "KnownContexts":
        table["contexts"]["probs"] = problem.context_probs.tolist()
    return al.Policy.from_dict(table)


CASES = [
    pytest.param(problem, policy, id=f"{name} on {kind}")
    for kind, problem in PROBLEMS.items()
    for name, policy in policies(problem)
]


def terms_of(problem: al.Problem, policy: al.Policy) -> dict[str, Any]:
    defaults: Any = None
    if problem.default_rewards.any():
        known = problem.defaults_known or isinstance(policy.rewards, al.KnownRewards)
        numbers = dict(zip(problem.contexts, problem.default_rewards.tolist(), strict=True))
        defaults = numbers if known else "learned"
    return {
        "contexts": problem.contexts,
        "actions": {
            action: dict(zip(problem.contexts, column, strict=True))
            for action, column in zip(problem.actions, problem.costs.T.tolist(), strict=True)
        },
        "horizon": problem.horizon,
        "budget": problem.budget,
        "policy": policy,
        "default_rewards": defaults,
        "seed": SEED,
    }


def last_state(problem: al.Problem, policy: al.Policy) -> State:
    """Return the final state of the simulator's own loop."""
    lowered = lower(policy, **problem.terms())
    environment, _ = environment_of(problem)
    state = new_state(lowered)
    none, table, out = np.empty(0, np.int64), np.empty((0, 2), np.int64), np.empty((1, FIGURES))
    scratch = new_memo(lowered, state), new_hulls(lowered)
    root, room = root_key(SEED), np.empty((1, 0, 2))
    pairs = np.zeros(environment.worth.shape, np.int64)
    rounds = table, np.empty((0, 3))
    play(lowered, environment, state, *scratch, root, 0, none, out, room, pairs, *rounds)
    return state


def follow(
    agent: al.Agent, problem: al.Problem, policy: al.Policy, *, factory: AgentFactory | None = None
) -> None:
    """Feed an agent the simulator's run and hold it to every action and probability."""
    run = al.trace(problem, policy, seed=SEED)
    estimated = isinstance(policy.rewards, al.Thompson)
    for t, context in enumerate(run.contexts):
        if factory is not None and t % 25 == 24:
            agent = factory.open()
        decision = agent.decide(problem.contexts[context])
        action = None if run.actions[t] == al.SKIP else problem.actions[run.actions[t]]
        assert (t, decision.action) == (t, action)
        if estimated:
            assert 1 <= decision.probability * REDRAWS <= REDRAWS  # a share of so many draws,
            assert (decision.probability * REDRAWS).is_integer()  # this one among them
        else:
            assert decision.probability == run.probabilities[t]
        assert decision.budget_left == pytest.approx(run.budget_left[t], abs=1e-9)
        agent.reward(decision.id, run.rewards[t])
    assert agent.look(lambda c: state_values(c.state)) == state_values(last_state(problem, policy))


@pytest.mark.parametrize(("problem", "policy"), CASES)
def test_the_agent_takes_exactly_the_simulators_actions(
    problem: al.Problem, policy: al.Policy, memory: AgentFactory
) -> None:
    agent = memory.open(**terms_of(problem, policy))
    follow(agent, problem, policy)
    assert observable_state(agent) == replayed_state(agent)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("thrifty", "equal costs"),
        ("thompson_rounded", "unequal costs"),
        ("epsilon_first_alp", "learned defaults"),
    ],
)
def test_an_agent_opened_again_and_again_does_too(
    name: str, kind: str, factory: AgentFactory
) -> None:
    problem = PROBLEMS[kind].scaled(80)
    policy = informed(al.recipe(name), problem)
    follow(factory.open(**terms_of(problem, policy)), problem, policy, factory=factory)


def test_every_recipe_is_among_the_cases() -> None:
    tried = {name for problem in PROBLEMS.values() for name, _ in policies(problem)}
    assert set(al.RECIPES) <= tried
