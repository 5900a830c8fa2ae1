"""A pooled prior under every index that learns: sound, within the budget, and free of the memo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import MAY_END_UNTRIED, any_cost_problems, unit_problems

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.state import LEFT, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, decide, learn, take
from almoner.policy.base import PARTS
from almoner.policy.lowering import lower
from almoner.testing import check_policy

INDICES = {
    name: part()
    for name, part in PARTS["rewards"][1].items()
    if part not in (al.KnownRewards, al.ExploreFirst)
}
RULES = {"Thompson": al.RoundedLP(), "HorizonUCB": al.AdaptiveLP()}
"""Allocation rules of the recipes that are not eager, for two of the indices."""

POLICIES = {
    name: al.Policy(
        rewards=index,
        contexts=al.EmpiricalContexts(),
        allocation=RULES.get(name, al.EagerRounding()),
        prior=al.Pooled(),
    )
    for name, index in INDICES.items()
}

PROBLEM = al.Problem(
    context_probs=[0.4, 0.3, 0.2, 0.1],
    reward_means=[[0.3, 0.5], [0.2, 0.4], [0.6, 0.8], [0.1, 0.2]],
    horizon=150,
    budget=60,
)
PROBLEMS = {
    "equal costs": PROBLEM,
    "unequal costs": PROBLEM.replace(costs=[[1, 3], [1, 2], [2, 2], [1, 4]]),
    "learned defaults": PROBLEM.replace(default_rewards=[0.2, 0.0, 0.1, 0.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_a_pooled_policy_satisfies_what_every_policy_must(name: str) -> None:
    ran = check_policy(POLICIES[name])
    assert len(ran) >= 3


@MAY_END_UNTRIED
@pytest.mark.parametrize("name", POLICIES)
def test_a_pooled_policy_never_overspends(name: str) -> None:
    @settings(max_examples=10)
    @given(problem=unit_problems() | any_cost_problems(), seed=st.integers(0, 999))
    def check(problem: al.Problem, seed: int) -> None:
        run = al.trace(problem, POLICIES[name], seed=seed)
        assert np.all(run.budget_left >= -1e-9)
        assert np.all((run.probabilities > 0) & (run.probabilities <= 1))

    check()


def drive(problem: al.Problem, policy: al.Policy, seed: int, *, renew: bool) -> list[Any]:
    """Return actions and probabilities, with caches kept or with new ones for every decision.

    The price found last is kept: a search for the price starts there.
    """
    rng, lowered = np.random.default_rng(seed), lower(policy, **problem.terms())
    state, done = new_state(lowered), list[Any]()
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    for t in range(lowered.horizon):
        if renew:
            last, memo, hulls = hulls, new_memo(lowered, state), new_hulls(lowered)
            if hulls is not None and last is not None:
                hulls.price[:] = last.price
        context = int(rng.choice(len(problem.context_probs), p=problem.context_probs))
        key, luck = np.uint64(round_key(np.uint64(seed), t)), rng.random()
        action, probability = decide(lowered, state, memo, hulls, context, key)
        take(lowered, state, memo, hulls, context, action)
        mean = problem.default_rewards[context]
        if action != SKIP:
            mean = problem.reward_means[context, action]
        learn(lowered, state, memo, context, action, t, float(luck < mean), key)
        assert state.progress[LEFT] >= 0
        done.append((action, probability))
    return done


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", POLICIES)
def test_caches_that_are_kept_decide_as_new_ones(name: str, kind: str) -> None:
    for seed in range(3):
        kept = drive(PROBLEMS[kind], POLICIES[name], seed, renew=False)
        renewed = drive(PROBLEMS[kind], POLICIES[name], seed, renew=True)
        assert [action for action, _ in kept] == [action for action, _ in renewed]
        np.testing.assert_allclose([p for _, p in kept], [p for _, p in renewed], atol=1e-12)


@pytest.mark.parametrize("name", POLICIES)
def test_a_prior_changes_decisions(name: str) -> None:
    policy = POLICIES[name]
    alone = al.Policy(
        rewards=policy.rewards, contexts=policy.contexts, allocation=policy.allocation
    )
    runs = [al.trace(PROBLEM, each, seed=1).actions.tolist() for each in (policy, alone)]
    assert runs[0] != runs[1]


def test_every_index_that_learns_is_tried() -> None:
    expected = {"EmpiricalMean", "UCB", "KLUCB", "LogPlus", "Thompson", "Wilson", "HorizonUCB"}
    assert set(POLICIES) == expected | {"InsuredWilson"}
