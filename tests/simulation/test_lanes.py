"""Replications played eight at a time against the same ones played one by one: equal bits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import PAPER_TEN, any_cost_problems, unit_problems

import almoner as al
from almoner.kernels.lanes import loop
from almoner.policy.base import Policy
from almoner.policy.lowering import lower
from almoner.problem import Problem
from almoner.scenarios import scenario
from almoner.simulation import lanes
from almoner.simulation.replications import Totals, environment_of, play_compiled, root_key

EQUAL_COSTS = [
    *(al.alp(), al.flp(), al.rounded(), al.ealp(), al.ealp2(), al.greedy(), al.skip_always()),
    *(al.ucb_alp(), al.ucb_flp(), al.ucb_ealp(), al.ucb_ealp2(), al.ucb_rounded()),
    *(al.ucb_rounded(contexts=al.KnownContexts()), al.ealp2(until=7), al.ucb_ealp2(until=7)),
    Policy(rewards=al.UCB(), contexts=al.EmpiricalContexts(), allocation=al.EagerRounding()),
    Policy(
        rewards=al.KnownRewards(),
        contexts=al.EmpiricalContexts(),
        allocation=al.FixedLP(override=True),
    ),
]


CURVED = [
    *(al.wilson_eager(), al.horizon_alp(), al.kl_ucb_rounded(), al.log_plus_rounded()),
    *(
        Policy(rewards=al.Wilson(), contexts=al.EmpiricalContexts(), allocation=rule)
        for rule in (al.AdaptiveLP(), al.FixedLP(), al.RoundedLP(), al.SkipAlways())
    ),
]
"""Policies whose indices are not affine in their level."""


def refitted(rewards: Any, prior: Any = al.NoPrior()) -> Policy:  # noqa: B008  # frozen
    return Policy(
        rewards=rewards,
        contexts=al.EmpiricalContexts(),
        allocation=al.EagerRounding(),
        prior=prior,
    )


REFITTED = [
    *(al.thrifty(), al.thrifty(caution=3), refitted(al.InsuredWilson(), al.Pooled())),
    *(refitted(al.InsuredWilson()), refitted(al.Wilson(), al.Pooled(proof=4))),
    *(refitted(al.UCB(), al.Pooled()), refitted(al.KLUCB(), al.Pooled())),
]
"""Policies with a pooled prior, insured indices, or both."""


def play(problem: Problem, policy: Policy, *, runs: int, threads: int = 1, seed: int = 3) -> Totals:
    """Play replications as `simulate` does, with every figure of them."""
    environment, _ = environment_of(problem)
    horizon = problem.horizon
    marks = np.unique([1, max(1, horizon // 3), horizon])
    return play_compiled(
        problem,
        lower(policy, **problem.terms()),
        environment,
        root_key(seed),
        runs=runs,
        marks=marks,
        threads=threads,
        progress=lambda count: None,
    )


def one_by_one(problem: Problem, policy: Policy, **options: Any) -> Totals:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALMONER_LANES", "0")
        return play(problem, policy, **options)


def assert_same(one: Totals, other: Totals) -> None:
    for name, figure, wanted in zip(Totals._fields, one, other, strict=True):
        assert np.array_equal(figure, wanted), name


def in_lanes(problem: Problem, policy: Policy) -> bool:
    return lanes.replications_at_once(lower(policy, **problem.terms()), 8) > 1


@pytest.mark.parametrize("policy", EQUAL_COSTS + CURVED + REFITTED, ids=repr)
@given(problem=unit_problems(), runs=st.integers(4, 20), seed=st.integers(0, 99))
@settings(max_examples=25)
@pytest.mark.slow
def test_equal_costs_give_the_same_bits(
    policy: Policy, problem: Problem, runs: int, seed: int
) -> None:
    assert_same(
        play(problem, policy, runs=runs, seed=seed),
        one_by_one(problem, policy, runs=runs, seed=seed),
    )


UNEQUAL_COSTS = [
    *(al.ealp(), al.ealp2(until=7), al.greedy(), al.skip_always(), al.ucb_alp(), al.ucb_flp()),
    *(al.ucb_ealp(), al.ucb_ealp2(until=7), al.ucb_rounded(), al.wilson_eager(), al.horizon_alp()),
    *(al.kl_ucb_rounded(), al.log_plus_rounded(), *REFITTED),
    Policy(
        rewards=al.UCB(),
        contexts=al.EmpiricalContexts(),
        allocation=al.FixedLP(override=True),
    ),
]


@pytest.mark.parametrize("policy", UNEQUAL_COSTS, ids=repr)
@given(problem=any_cost_problems(), runs=st.integers(4, 20), known=st.booleans())
@settings(max_examples=25)
@pytest.mark.slow
def test_unequal_costs_and_default_rewards_give_the_same_bits(
    policy: Policy, problem: Problem, runs: int, known: bool
) -> None:
    problem = problem.replace(defaults_known=known)
    assert_same(play(problem, policy, runs=runs), one_by_one(problem, policy, runs=runs))


@pytest.mark.parametrize("policy", UNEQUAL_COSTS, ids=repr)
@pytest.mark.slow
def test_long_runs_with_unequal_costs_give_the_same_bits(policy: Policy) -> None:
    problem = scenario("heterogeneous").scaled(2000)
    assert in_lanes(problem, policy)
    assert_same(play(problem, policy, runs=11), one_by_one(problem, policy, runs=11))


@given(problem=unit_problems().filter(lambda problem: len(problem.context_probs) == 2))
@pytest.mark.parametrize("policy", [al.pb(), al.ucb_pb()], ids=repr)
@settings(max_examples=25)
@pytest.mark.slow
def test_procrastination_gives_the_same_bits(policy: Policy, problem: Problem) -> None:
    assert_same(play(problem, policy, runs=9), one_by_one(problem, policy, runs=9))


@pytest.mark.parametrize("policy", EQUAL_COSTS + CURVED + REFITTED, ids=repr)
@pytest.mark.slow
def test_long_runs_give_the_same_bits(policy: Policy) -> None:
    """Brackets of the scalar kernel are in use here, and context shares may freeze."""
    problem = PAPER_TEN(3000, 0.5)
    assert in_lanes(problem, policy)
    assert_same(play(problem, policy, runs=11), one_by_one(problem, policy, runs=11))


@pytest.mark.parametrize("ratio", [0.1, 0.35, 0.5, 0.7])
@pytest.mark.slow
def test_sums_of_known_weights_are_compared_as_the_scalar_kernel_orders_them(ratio: float) -> None:
    """Rounding decides at exactly one half of a weight: there the last bit of a sum decides."""
    rng = np.random.default_rng(5)
    probs = np.array([0.1, 0.3, 0.05, 0.15, 0.1, 0.1, 0.2])
    problem = Problem(
        context_probs=probs, reward_means=rng.random((7, 3)), horizon=400, budget=400 * ratio
    )
    policy = al.ucb_rounded(contexts=al.KnownContexts())
    assert_same(play(problem, policy, runs=64), one_by_one(problem, policy, runs=64))


@pytest.mark.parametrize("policy", CURVED[:4], ids=repr)
@pytest.mark.slow
def test_known_weights_of_few_contexts_give_the_same_bits(policy: Policy) -> None:
    problem = PAPER_TEN(600, 0.5)
    problem = problem.replace(
        context_probs=[0.3, 0.2, 0.5], reward_means=problem.reward_means[:3], costs=1.0
    )
    known = dataclasses.replace(policy, contexts=al.KnownContexts())
    assert in_lanes(problem, known)
    assert_same(play(problem, known, runs=9), one_by_one(problem, known, runs=9))


@pytest.mark.slow
def test_results_do_not_depend_on_threads_and_chunks() -> None:
    problem, policy = PAPER_TEN(200, 0.4), al.ucb_alp()
    alone = play(problem, policy, runs=53)
    assert_same(play(problem, policy, runs=53, threads=3), alone)
    first = play(problem, policy, runs=21)
    assert np.array_equal(first.reward, alone.reward[:21])


def test_few_runs_and_large_problems_are_played_one_by_one() -> None:
    problem, policy = PAPER_TEN(200, 0.4), al.ucb_alp()
    lowered = lower(policy, **problem.terms())
    assert lanes.replications_at_once(lowered, lanes.FEWEST_RUNS - 1) == 1
    assert lanes.replications_at_once(lowered._replace(budget=2**53 + 1), 100) == 1
    many = np.ones((lanes.MOST_PAIRS + 1, 1), np.int64)
    assert lanes.replications_at_once(lowered._replace(costs=many), 100) == 1
    curved = lower(al.wilson_eager(), **problem.terms())
    wide = np.ones((2, lanes.MOST_CURVED_ACTIONS + 1), np.int64)
    assert lanes.replications_at_once(curved._replace(costs=wide), 100) == 1
    assert lanes.replications_at_once(lowered._replace(costs=wide), 100) > 1


def test_thompson_is_played_one_by_one() -> None:
    lowered = lower(al.thompson_rounded(), **PAPER_TEN(200, 0.4).terms())
    assert lanes.replications_at_once(lowered, 100) == 1


def test_lanes_that_do_not_compile_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, policy = PAPER_TEN(200, 0.4), al.ucb_alp()
    wanted = play(problem, policy, runs=8)

    def fail(*arguments: Any) -> None:
        raise NotImplementedError("no such instruction")

    monkeypatch.setattr(loop, "play_lanes", fail)
    monkeypatch.setattr(lanes, "_failures", [])
    assert_same(play(problem, policy, runs=8), wanted)
    assert lanes.describe_lanes() == "off (they do not compile: NotImplementedError)"
    assert lanes.replications_at_once(lower(policy, **problem.terms()), 100) == 1


def test_lanes_are_off_without_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert lanes.describe_lanes() == "off (NUMBA_DISABLE_JIT)"
