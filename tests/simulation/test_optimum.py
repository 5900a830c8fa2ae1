"""The certified optimum against plain dynamic programming, where its band is narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import PAPER_TEN

import almoner as al
from almoner.kernels.optimum_equal_costs import _first_at_most
from almoner.simulation.optimum import Program


def plain(problem: al.Problem) -> float:
    """V(τ, b) = Σ_j π_j max over what b affords of (reward + V(τ−1, b − cost)), for every b."""
    unit = np.gcd.reduce(np.round(problem.costs * 1000).astype(int), axis=None)
    costs = np.round(problem.costs * 1000).astype(int) // unit
    value = np.zeros(int(round(problem.budget * 1000) // unit) + 1)
    for _ in range(problem.horizon):
        following = np.zeros(len(value))
        for context, chance in enumerate(problem.context_probs):
            best = problem.default_rewards[context] + value
            for cost, mean in zip(costs[context], problem.reward_means[context], strict=True):
                if cost < len(value):
                    best[cost:] = np.maximum(best[cost:], mean + value[: len(value) - cost])
            following += chance * best
        value = following
    return float(value[-1])


def random_problem(seed: int, *, horizon: int, equal: bool) -> al.Problem:
    """Return a problem with ties, contexts of probability 0, costs with gaps, default rewards.

    A third of the ratios are boundaries, where the optimum is furthest from the upper bound.
    """
    rng = np.random.default_rng(seed)
    contexts, actions = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    probs = rng.dirichlet(np.full(contexts, rng.choice([0.5, 5.0])))
    if contexts > 2 and seed % 5 == 0:
        probs[1] = 0
    choices = [np.arange(1, 8), np.array([1, 2, 9]), np.array([3, 5]), np.arange(1, 9) / 4]
    costs = rng.choice(choices[seed % 4], (contexts, actions)).astype(float)
    if equal:
        costs[:] = rng.choice([1, 0.25, 3])
    defaults = rng.random(contexts).round(1) / 3 if seed % 2 else np.zeros(contexts)
    problem = al.Problem(
        context_probs=probs / probs.sum(),
        reward_means=rng.random((contexts, actions)).round(int(rng.choice([1, 3]))),
        costs=costs,
        default_rewards=defaults,
        horizon=horizon,
        budget=float(round(rng.uniform(0.05, 0.9) * horizon * costs.max())),
    )
    boundaries = al.solve(problem).boundaries
    if seed % 3 == 0 and len(boundaries):
        problem = problem.replace(budget=float(round(rng.choice(boundaries) * horizon)))
    return problem


def is_inside(problem: al.Problem) -> bool:
    """Return whether the first band excludes some budgets."""
    program = Program.of(problem)
    return 2 * program.first_reach < program.budget


@pytest.mark.parametrize("equal", [True, False], ids=["equal", "unequal"])
def test_the_optimum_is_that_of_plain_dynamic_programming_where_the_band_is_narrow(
    equal: bool,
) -> None:
    """Rounding alone makes the plain recursion wrong by some 1e-10 at these lengths."""
    problems = [random_problem(seed, horizon=1000, equal=equal) for seed in range(30)]
    assert sum(map(is_inside, problems)) >= 20
    for problem in problems:
        assert al.optimal_value(problem) == pytest.approx(plain(problem), abs=2e-9)


@pytest.mark.parametrize("contexts", [12, 60, 500])
def test_the_optimum_with_many_contexts_is_that_of_plain_dynamic_programming(contexts: int) -> None:
    """Blocks of budgets then have several lines, or more than there are budgets."""
    rng = np.random.default_rng(contexts)
    problem = al.Problem(
        context_probs=rng.dirichlet(np.ones(contexts)),
        reward_means=rng.random((contexts, 2)).round(3),
        horizon=700,
        budget=300,
    )
    assert is_inside(problem)
    assert al.optimal_value(problem) == pytest.approx(plain(problem), abs=2e-9)


PARITY = al.Problem(
    context_probs=[1], reward_means=[[0.5, 0.9]], costs=[1, 3], horizon=1000, budget=2001
)
"""Each round takes an odd amount, so that a thousand of them cannot take 2,001."""

GAP = al.Problem(
    context_probs=[0.3, 0.7],
    reward_means=[[0.3], [0.9]],
    costs=[[1], [5]],
    horizon=1000,
    budget=1900,
)


@pytest.mark.parametrize(("problem", "optimum"), [(PARITY, 700.0), (GAP, 377.778854)])
def test_whole_costs_that_do_not_add_up_to_the_budget(problem: al.Problem, optimum: float) -> None:
    """The upper bound, 700.2 and 378.0, used to be returned here."""
    assert is_inside(problem)
    assert al.optimal_value(problem) == pytest.approx(optimum, abs=1e-6)
    assert al.optimal_value(problem) == pytest.approx(plain(problem), abs=1e-9)


@given(
    seed=st.integers(0, 10**6),
    horizon=st.integers(1, 60),
    equal=st.booleans(),
    reach=st.integers(1, 60),
)
@settings(max_examples=300)
def test_the_bounds_hold_in_every_band(seed: int, horizon: int, equal: bool, reach: int) -> None:
    """However narrow the band is: below and above the optimum, and both the optimum if it is wide.

    The wider one is, the more the bounds tell; a bound that does not hold could meet the other one
    at a wrong number.
    """
    problem = random_problem(seed, horizon=horizon, equal=equal)
    program, optimum = Program.of(problem), plain(problem)
    optimum -= horizon * float(problem.context_probs @ problem.default_rewards)
    low, high = (program.bound(reach, above=above) for above in (False, True))
    assert low <= optimum + 1e-9
    assert high >= optimum - 1e-9
    if reach >= program.budget:
        assert low == pytest.approx(optimum, abs=1e-9)
        assert high == pytest.approx(optimum, abs=1e-9)


def test_bounds_that_do_not_meet_are_named_instead_of_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This band leaves them 4e-5 apart, and here there is no second one."""
    problem = PAPER_TEN(10_000, 0.4801)
    optimum = al.optimal_value(problem)
    monkeypatch.setattr(Program, "first_reach", 110)
    monkeypatch.setattr(Program, "work", lambda self, reach: reach / self.first_reach)
    with pytest.raises(al.NotComputable, match=": the optimum lies between") as refused:
        al.optimal_value(problem)
    between = str(refused.value).split("between ")[1].split(";")[0]
    low, high = map(float, between.split(" and "))
    assert low <= optimum <= high < low + 1e-4


def test_the_bounds_in_a_refusal_are_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 12 digits the interval was rounded inwards, and could leave the optimum out."""
    low, high = 1 / 3, 2 / 3
    monkeypatch.setattr(Program, "bound", lambda self, reach, above: high if above else low)
    monkeypatch.setattr(Program, "work", lambda self, reach: reach / self.first_reach)
    with pytest.raises(al.NotComputable, match=f"between {low!r} and {high!r};"):
        al.optimal_value(PAPER_TEN(10_000, 0.4801))


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(0, 40), st.integers(-1, 10))
def test_a_search_by_doubling_equals_a_linear_search(
    numbers: list[int], start: int, rise: int
) -> None:
    gains = np.array(sorted(numbers, reverse=True), np.float64)
    index = start = min(start, len(gains))
    while index < len(gains) and gains[index] > rise:
        index += 1
    assert _first_at_most(gains, start, float(rise)) == index


class Counted:
    """Falling numbers that count how often one of them is read."""

    read = 0

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> float:
        self.read += 1
        return -float(index)


def test_a_distant_index_takes_few_steps() -> None:
    """Contexts with gains above D were passed one by one, in every round."""
    gains, search = Counted(), getattr(_first_at_most, "py_func")  # noqa: B009
    assert search(gains, 0, -50_000.0) == 50_000
    assert gains.read < 40


def many(contexts: int, horizon: int) -> al.Problem:
    return al.Problem(
        context_probs=np.full(contexts, 1 / contexts),
        reward_means=np.random.default_rng(0).random((contexts, 1)),
        horizon=horizon,
        budget=0.4 * horizon,
    )


def test_many_contexts_at_equal_costs_count_as_work() -> None:
    """A context used to count like one budget; a hundred thousand took more than 400 seconds."""
    few, more, most = (Program.of(many(contexts, 10**6)) for contexts in (10, 2_000, 100_000))
    reach = more.first_reach
    assert more.work(reach) > 2 * few.work(reach)
    assert more.work(reach) < 1
    with pytest.raises(al.NotComputable, match="100000 contexts"):
        al.optimal_value(most.problem)


def test_a_long_problem_at_a_boundary_is_refused() -> None:
    """It took 222 seconds where the limit is a minute."""
    problem = al.Problem(
        context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=15 * 10**6, budget=6 * 10**6
    )
    with pytest.raises(al.NotComputable, match="fewer rounds"):
        al.optimal_value(problem)


@pytest.mark.parametrize("dear", [10.0, 1e7, 1e9, 1e15, 1e16, 1e17, 1e300])
def test_an_action_dearer_than_the_budget_changes_nothing(dear: float) -> None:
    """From 1e7 on, memory ran out; from 1e16 on, the cheap action was charged at 10 or 100."""
    beside = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.5], [0.9]],
        costs=[[0.01], [dear]],
        horizon=9,
        budget=0.03,
    )
    alone = beside.replace(costs=0.01, reward_means=[[0.5], [0]])
    assert al.optimal_value(beside) == pytest.approx(al.optimal_value(alone), abs=1e-12)
    assert al.exact_value(beside, "alp") == pytest.approx(al.exact_value(alone, "alp"), abs=1e-12)
    played, run = al.trace(beside, "alp", seed=1), al.simulate(beside, "alp", runs=50)
    taken = int((played.actions >= 0).sum())
    assert taken == 3
    assert played.budget_left[-1] == pytest.approx(0)
    assert run.spend.max() == pytest.approx(0.03)
    assert run.regret.mean >= -1e-9


def test_exact_computations_refuse_costs_on_no_grid() -> None:
    problem = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.5], [0.9]],
        costs=[[1.0], [1e17]],
        horizon=9,
        budget=2e17,
    )
    for answer in (al.optimal_value, lambda problem: al.exact_value(problem, "alp")):
        with pytest.raises(al.NotComputable, match="needs costs and a budget on one grid"):
            answer(problem)
