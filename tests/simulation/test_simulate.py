"""`simulate`: reproducible, within budget on every path, and unbiased."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import MAY_END_UNTRIED, PAPER_TEN, PAPER_TWO, unit_problems

import almoner as al
from almoner.simulation import replications

TWO, TEN = PAPER_TWO(200, 0.4), PAPER_TEN(200, 0.5)
ERRORS = 4.0
"""Standard errors that an average may be off: one test in 16,000 would fail on a new seed."""


def suited(problem: al.Problem, name: str) -> al.Problem:
    """Return the problem, or one of two contexts with its means for recipes that need two."""
    if name not in ("pb", "ucb_pb"):
        return problem
    return al.Problem(
        context_probs=[0.3, 0.7],
        reward_means=np.resize(problem.reward_means, (2, problem.reward_means.shape[1])),
        horizon=problem.horizon,
        budget=problem.budget,
        reward_spread=problem.reward_spread,
    )


def assert_same(one: al.Runs, two: al.Runs) -> None:
    for column in ("reward", "reward_drawn", "spend", "unusable", "budget_left"):
        np.testing.assert_array_equal(getattr(one, column), getattr(two, column))
    np.testing.assert_array_equal(one.regret.values, two.regret.values)


@pytest.mark.parametrize("name", ["ucb_alp", "thrifty", "thompson_rounded"])
def test_threads_and_chunks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = al.simulate(TEN, al.recipe(name), runs=23, seed=4, marks=[1, 50], threads=1)
    for threads, chunk_rounds in ((2, 4_000_000), (3, 1), (1, 700)):
        monkeypatch.setattr(replications, "CHUNK_ROUNDS", chunk_rounds)
        finished: list[int] = []
        again = al.simulate(
            TEN,
            al.recipe(name),
            runs=23,
            seed=4,
            marks=[1, 50],
            threads=threads,
            progress=finished.append,
        )
        assert_same(first, again)
        assert sum(finished) == 23
        assert len(finished) >= threads


def test_more_replications_begin_with_the_same_ones_and_other_seeds_do_not() -> None:
    few, many = (al.simulate(TWO, al.ucb_alp(), runs=runs, seed=2) for runs in (5, 40))
    other = al.simulate(TWO, al.ucb_alp(), runs=40, seed=3)
    np.testing.assert_array_equal(few.reward, many.reward.values[:5])
    assert len(set(many.reward_drawn)) > 5
    assert not np.array_equal(other.reward_drawn, many.reward_drawn)


def test_policies_see_the_same_contexts_and_reward_noise() -> None:
    traces = [al.trace(TWO, make(), seed=8, run=3) for make in al.RECIPES.values()]
    for one in traces[1:]:
        np.testing.assert_array_equal(one.contexts, traces[0].contexts)
        alike = (one.actions == traces[0].actions) & (one.actions >= 0)
        np.testing.assert_array_equal(one.rewards[alike], traces[0].rewards[alike])


def test_a_trace_is_the_replication_of_that_number() -> None:
    marks = [1, 2, 100, 200]
    runs = al.simulate(TWO, al.thrifty(), runs=4, seed=6, marks=marks)
    for run in range(4):
        done = al.trace(TWO, al.thrifty(), seed=6, run=run)
        before = np.concatenate([[TWO.budget], done.budget_left])
        np.testing.assert_array_equal(runs.budget_left[run], before[np.array(marks) - 1])
        assert runs.spend[run] == TWO.budget - done.budget_left[-1] == np.sum(done.actions >= 0)
        assert runs.reward_drawn[run] == done.rewards.sum()
        taken = done.actions >= 0
        means = TWO.reward_means[done.contexts[taken], done.actions[taken]]
        assert runs.reward.values[run] == pytest.approx(means.sum(), abs=1e-10)


GIVE_UP = ("greedy", "epsilon_first_alp")
"""Policies that never try a pair again whose mean so far is 0."""


@pytest.mark.slow
@MAY_END_UNTRIED
@pytest.mark.parametrize("name", al.RECIPES)
def test_no_path_spends_more_than_the_budget(name: str) -> None:
    @settings(max_examples=25)
    @given(problem=unit_problems(), seed=st.integers(0, 2**40))
    def check(problem: al.Problem, seed: int) -> None:
        problem = suited(problem, name)
        runs = al.simulate(problem, al.recipe(name), runs=3, seed=seed, threads=1)
        assert runs.spend.max() <= problem.budget
        done = al.trace(problem, al.recipe(name), seed=seed)
        costs = -np.diff(done.budget_left, prepend=problem.budget)
        assert done.budget_left.min() >= 0
        np.testing.assert_array_equal(costs, done.actions >= 0)
        assert np.all((done.probabilities > 0) & (done.probabilities <= 1))

    check()


@MAY_END_UNTRIED
@pytest.mark.parametrize("name", al.RECIPES)
@pytest.mark.parametrize(
    ("contexts", "actions", "horizon", "budget"),
    [
        (2, 2, 30, 0),
        (2, 2, 30, 30),
        (2, 2, 30, 99),
        (2, 2, 1, 0),
        (2, 2, 1, 1),
        (1, 3, 30, 12),
        (2, 1, 30, 12),
        (1, 1, 30, 12),
        (1, 1, 1, 1),
    ],
)
def test_every_recipe_runs_on_edge_cases(
    name: str, contexts: int, actions: int, horizon: int, budget: int
) -> None:
    """Nearly all spend what they can, at the latest once b ≥ τ.

    The fixed LP need not, nor who never tries again what brought nothing at first.
    """
    if name in ("pb", "ucb_pb") and contexts != 2:
        with pytest.raises(al.InvalidPolicy, match="defined for two contexts, got 1 contexts"):
            al.simulate(one_problem(contexts, actions, horizon, budget), al.recipe(name), runs=2)
        return
    problem = one_problem(contexts, actions, horizon, budget)
    runs = al.simulate(problem, al.recipe(name), runs=20, seed=1, against="upper bound")
    assert np.all(np.isfinite(runs.regret.values))
    if name == "skip_always":
        assert np.all(runs.spend == 0)
    elif name in ("greedy", "epsilon_first_alp") or (
        name in ("flp", "ucb_flp") and budget < horizon
    ):
        assert np.all(runs.spend <= min(budget, horizon))
    else:
        assert np.all(runs.spend == min(budget, horizon))


def one_problem(contexts: int, actions: int, horizon: int, budget: int) -> al.Problem:
    return al.Problem(
        context_probs=[1.0] if contexts == 1 else [0.4, 0.6],
        reward_means=np.array([[0.8, 0.3, 0.5], [0.2, 0.4, 0.1]])[:contexts, :actions],
        horizon=horizon,
        budget=budget,
    )


@pytest.mark.parametrize("problem", [PAPER_TWO(1000, 0.41), PAPER_TEN(1000, 0.5)])
@pytest.mark.parametrize("name", ["alp", "ucb_alp", "thrifty"])
@pytest.mark.slow
def test_both_estimators_have_the_same_mean(problem: al.Problem, name: str) -> None:
    """On the same replications their difference has mean 0: 4 of its own standard errors."""
    raw, reduced = (
        al.simulate(problem, al.recipe(name), runs=500, seed=1, estimator=estimator).regret
        for estimator in ("raw", "reduced")
    )
    difference = al.Sample(raw.values - reduced.values)
    assert difference.stderr > 0.01
    assert abs(difference.mean) < ERRORS * difference.stderr
    assert reduced.stderr < 1.05 * raw.stderr


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        (PAPER_TWO(10_000, 0.39), "ucb_alp"),
        (PAPER_TWO(10_000, 0.41), "thrifty"),
        (PAPER_TEN(1000, 0.5), "alp"),
    ],
)
@pytest.mark.slow
def test_the_reduced_estimator_halves_the_error(problem: al.Problem, name: str) -> None:
    """2.5 to 6 when measured; of 300 runs, an error is known to 1/√600 = 4 % of itself."""
    raw, reduced = (
        al.simulate(problem, al.recipe(name), runs=300, seed=1, estimator=estimator).regret
        for estimator in ("raw", "reduced")
    )
    assert reduced.stderr < raw.stderr / 2


def test_rewards_as_drawn_have_the_mean_of_the_mean_rewards() -> None:
    runs = al.simulate(PAPER_TWO(10_000, 0.39), al.ucb_alp(), runs=300, seed=1)
    luck = al.Sample(runs.reward_drawn - runs.reward)
    assert abs(luck.mean) < ERRORS * luck.stderr


def test_both_estimators_agree_where_skipping_earns_something() -> None:
    problem = TWO.replace(default_rewards=[0.3, 0.1], budget=90)
    raw, reduced = (
        al.simulate(problem, al.alp(), runs=2000, estimator=estimator).regret
        for estimator in ("raw", "reduced")
    )
    difference = al.Sample(raw.values - reduced.values)
    assert abs(difference.mean) < ERRORS * difference.stderr
    assert reduced.mean == pytest.approx(
        al.optimal_value(problem) - al.exact_value(problem, al.alp()), abs=ERRORS * reduced.stderr
    )


@pytest.mark.parametrize("estimator", ["reduced", "raw"])
def test_the_two_benchmarks_differ_by_the_floor(estimator: str) -> None:
    oracle, bound = (
        al.simulate(TEN, al.thrifty(), runs=30, against=against, estimator=estimator)
        for against in ("oracle", "upper bound")
    )
    floor = al.upper_bound(TEN) - al.optimal_value(TEN)
    assert floor > 0.1
    np.testing.assert_allclose(bound.regret.values - oracle.regret.values, floor, atol=1e-10)


@pytest.mark.slow
@MAY_END_UNTRIED
@settings(max_examples=60)
@given(problem=unit_problems(), name=st.sampled_from(sorted(al.RECIPES)), seed=st.integers(0, 99))
def test_no_replication_has_a_negative_regret_against_the_upper_bound(
    problem: al.Problem, name: str, seed: int
) -> None:
    problem = suited(problem, name)
    runs = al.simulate(problem, al.recipe(name), runs=4, seed=seed, against="upper bound")
    assert runs.regret.values.min() >= -1e-9


@pytest.mark.parametrize("policy", [al.alp(), al.ucb_alp()], ids=["alp", "ucb_alp"])
@pytest.mark.parametrize("problem", [TWO, PAPER_TEN(200, 0.3)], ids=["two", "ten"])
def test_the_budget_left_is_hypergeometric(policy: al.Policy, problem: al.Problem) -> None:
    """Mean ρτ, variance (T−τ)/(T−1)·τρ(1−ρ), whatever the ranking.

    The mean has a standard error of σ/√n; the sample variance has √((μ₄ − σ⁴)/n), with the fourth
    moment μ₄ taken from the sample.
    """
    n, T, rho = 4000, problem.horizon, problem.ratio
    taus = np.array([199, 150, 100, 40, 7, 1])
    left = al.simulate(problem, policy, runs=n, seed=12, marks=(T - taus + 1).tolist()).budget_left
    mean, variance = rho * taus, (T - taus) / (T - 1) * taus * rho * (1 - rho)
    fourth = ((left - left.mean(axis=0)) ** 4).mean(axis=0)
    assert np.all(np.abs(left.mean(axis=0) - mean) < ERRORS * np.sqrt(variance / n))
    tolerance = ERRORS * np.sqrt((fourth - variance**2) / n)
    assert np.all(np.abs(left.var(axis=0) - variance) < tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_thompson_has_the_same_regret_when_rewards_are_not_bernoulli(spread: float) -> None:
    """Binarised at random they are Bernoulli of the same mean, so regret has the same law.

    The means of two independent samples: 4 standard errors of their difference.
    """
    problem = PAPER_TWO(500, 0.4)
    coins = al.simulate(problem, al.thompson_rounded(), runs=600, seed=1).regret
    others = al.simulate(
        problem.replace(reward_spread=spread), al.thompson_rounded(), runs=600, seed=2
    ).regret
    assert abs(coins.mean - others.mean) < ERRORS * math.hypot(coins.stderr, others.stderr)


def test_memory_does_not_grow_with_the_replications() -> None:
    """1800 more of them are 1800 rows of a few numbers: far below the 1.4 MB of their actions."""
    peaks = []
    for runs in (200, 2000):
        al.simulate(TWO, al.ucb_alp(), runs=2, threads=1)
        tracemalloc.start()
        al.simulate(TWO, al.ucb_alp(), runs=runs, threads=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 400_000


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"runs": 0}, "runs must be at least 1, got runs=0"),
        ({"runs": 2.5}, "runs must be a whole number, got runs=2.5"),
        ({"seed": -1}, "seed must be at least 0, got seed=-1"),
        ({"threads": 0}, "threads must be at least 1, got threads=0"),
        ({"against": "orakel"}, "against must be one of oracle, upper bound, got against='orakel'"),
        ({"estimator": "best"}, "estimator must be one of reduced, raw, got estimator='best'"),
        ({"against": "upper-bound"}, "got against='upper-bound'; did you mean 'upper bound'"),
        ({"estimator": "rwa"}, "got estimator='rwa'; did you mean 'raw'"),
        ({"marks": [5, 3]}, r"marks must be different rounds up to 200, rising, got .*\[5, 3\]"),
        ({"marks": [3, 3]}, "marks must be different rounds"),
        ({"marks": [201]}, "marks must be different rounds up to 200"),
        ({"marks": [0]}, "marks must be at least 1"),
        ({"policy": "thrfty"}, "policy must be one of .*did you mean 'thrifty'"),
        ({"policy": 3}, "got 3 without decide; use a recipe such as"),
        ({"problem": "shop.toml"}, "problem must be a Problem, got .*Problem.from_file"),
        ({"marks": 5}, "marks must be a list of rounds, got marks=5"),
        ({"policy": al.thrifty}, "a policy must be a Policy or an object with decide and learn"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {"problem": TWO, "policy": al.alp(), "runs": 2, **changes}
    with pytest.raises(al.InvalidInput, match=sentence):
        al.simulate(**arguments)


def test_a_policy_can_be_named() -> None:
    named = al.simulate(TWO, "ucb-alp", runs=3, seed=4)
    assert np.array_equal(
        named.regret.values, al.simulate(TWO, al.ucb_alp(), runs=3, seed=4).regret.values
    )
    assert named.policy == al.ucb_alp()
    assert al.trace(TWO, "alp").actions.tolist() == al.trace(TWO, al.alp()).actions.tolist()
    assert al.exact_value(TWO, "pb") == al.exact_value(TWO, al.pb())


@pytest.mark.parametrize("policy", [al.alp, al.Policy, object(), 42, al.pb()])
def test_a_policy_is_refused_before_the_oracle_is_computed(
    policy: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle may take a minute."""

    def never(problem: al.Problem) -> float:
        raise AssertionError("the oracle was computed")

    monkeypatch.setattr("almoner.simulation.regret.optimal_value", never)
    problem = al.Problem(
        context_probs=[0.2, 0.3, 0.5], reward_means=[[0.1], [0.2], [0.3]], horizon=9, budget=4
    )
    with pytest.raises(al.InvalidPolicy):
        al.simulate(problem, policy)  # type: ignore[call-overload]
