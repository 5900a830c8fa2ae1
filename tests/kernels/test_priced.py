"""Decisions where costs differ, or skipping has a reward of its own."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import MAY_END_UNTRIED, any_cost_problems, unit_problems

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.priced import SKIP
from almoner.kernels.state import EXPLORED, LEFT, ROUND, new_hulls, new_memo, new_state
from almoner.kernels.steps import decide, learn
from almoner.money import amounts
from almoner.policy.lowering import LoweredPolicy, lower


def keys(count: int) -> list[np.uint64]:
    return [np.uint64(round_key(np.uint64(12345), t)) for t in range(count)]


def decide_at(
    lowered: LoweredPolicy, rounds: int, left: int, context: int, key: np.uint64
) -> tuple[int, float]:
    state = new_state(lowered)
    state.progress[ROUND], state.progress[LEFT] = rounds, left
    action, probability = decide(
        lowered, state, new_memo(lowered, state), new_hulls(lowered), context, key
    )
    return int(action), float(probability)


def affordable(problem: al.Problem, left: float) -> al.Problem:
    """The problem without the actions that cost more than what is left: they gain nothing."""
    gains = np.where(problem.costs <= left + 1e-12, problem.reward_means, 0.0)
    return problem.replace(reward_means=gains)


@given(problem=any_cost_problems(), data=st.data())
@pytest.mark.slow
def test_a_decision_has_the_probability_that_the_lp_gives_it(
    problem: al.Problem, data: Any
) -> None:
    lowered = lower(al.alp(), **problem.terms())._replace(priced=1)
    rounds = data.draw(st.integers(0, problem.horizon - 1))
    left = data.draw(st.integers(0, lowered.budget))
    amount = float(amounts(lowered, np.array(left)))
    solution = al.solve(affordable(problem, amount), ratio=amount / (problem.horizon - rounds))
    for context in np.flatnonzero(problem.context_probs > 0):
        wanted = solution.probabilities[context]
        for key in keys(3):
            action, probability = decide_at(lowered, rounds, left, int(context), key)
            if action == SKIP:
                assert probability == pytest.approx(1 - wanted.sum(), abs=1e-9)
            else:
                alike = (problem.costs[context] == problem.costs[context, action]) & np.isclose(
                    problem.reward_means[context],
                    problem.reward_means[context, action],
                    rtol=0,
                    atol=1e-12,
                )
                assert probability == pytest.approx(wanted[alike].sum() / alike.sum(), abs=1e-9)


@given(problem=unit_problems(), seed=st.integers(0, 1000))
@pytest.mark.parametrize("name", ["alp", "flp", "ealp", "ucb_alp", "ucb_ealp", "log_plus_rounded"])
@pytest.mark.slow
def test_with_equal_costs_the_price_decides_as_the_ranking_does(
    name: str, problem: al.Problem, seed: int
) -> None:
    """Ties are drawn differently on the two paths, so contexts and actions are told apart first."""
    spread = np.linspace(0, 0.02, problem.reward_means.size).reshape(problem.reward_means.shape)
    problem = problem.replace(reward_means=0.9 * problem.reward_means + spread)
    lowered = lower(al.RECIPES[name](), **problem.terms())
    rng = np.random.default_rng(seed)
    state = new_state(lowered)
    state.counts[:] = rng.integers(1, 9, state.counts.shape)
    state.sums[:] = state.counts * rng.random(state.counts.shape)
    state.progress[ROUND] = rng.integers(0, problem.horizon)
    state.progress[LEFT] = rng.integers(0, lowered.budget + 1)
    state.context_counts[:] = rng.multinomial(state.progress[ROUND], problem.context_probs)
    priced = lowered._replace(priced=1)
    for context in np.flatnonzero(problem.context_probs > 0):
        for key in keys(2):
            memo = new_memo(lowered, state)
            ranked = decide(lowered, state, memo, None, int(context), key)
            by_price = decide(priced, state, memo, new_hulls(priced), int(context), key)
            assert by_price[0] == ranked[0]
            assert by_price[1] == pytest.approx(ranked[1], abs=1e-9)


@given(problem=any_cost_problems(), start=st.floats(0, 50))
def test_the_price_does_not_depend_on_where_its_search_begins(
    problem: al.Problem, start: float
) -> None:
    lowered = lower(al.alp(), **problem.terms())._replace(priced=1)
    state = new_state(lowered)
    memo = new_memo(lowered, state)
    for context in range(len(problem.context_probs)):
        answers = []
        for price in (0.0, start):
            hulls = new_hulls(lowered)
            assert hulls is not None
            hulls.price[0] = price
            answers.append(decide(lowered, state, memo, hulls, context, keys(1)[0]))
        assert answers[0][0] == answers[1][0]
        assert answers[0][1] == pytest.approx(answers[1][1], abs=1e-9)


PRICED = ["alp", "flp", "rounded", "ealp", "ucb_alp", "thompson_rounded", "horizon_alp", "thrifty"]


@MAY_END_UNTRIED
@given(
    problem=any_cost_problems(),
    seed=st.integers(0, 10_000),
    policy=st.sampled_from(
        [
            *(al.RECIPES[name]() for name in PRICED),
            al.epsilon_first_alp(),
            al.epsilon_first_alp(rounds=5, update=False),
            al.epsilon_first_alp(test="usable"),
            al.epsilon_first_alp(test="literal", cap=1.0),
        ]
    ),
)
@pytest.mark.slow
def test_no_path_overspends_by_so_much_as_a_rounding_error(
    problem: al.Problem, seed: int, policy: al.Policy
) -> None:
    played = al.trace(problem, policy, seed=seed)
    assert np.all(played.budget_left >= 0)
    taken = played.actions != SKIP
    costs = problem.costs[played.contexts[taken], played.actions[taken]]
    assert math.fsum(costs) <= problem.budget + 1e-9
    runs = al.simulate(problem, policy, runs=3, seed=seed, against="upper bound", threads=1)
    assert np.all(runs.spend <= problem.budget)


def test_three_at_a_tenth_fit_three_tenths() -> None:
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.5, 0.9]], costs=[0.1, 0.3], horizon=3, budget=0.3
    )
    cheap = problem.replace(reward_means=[[0.5, 0.0]])
    assert al.simulate(cheap, al.alp(), runs=5, against="upper bound").spend.tolist() == [0.3] * 5
    assert al.trace(cheap, al.alp()).actions.tolist() == [0, 0, 0]


def test_money_that_no_action_can_use_is_left_and_reported() -> None:
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.5, 0.9]], costs=[2, 3], horizon=10, budget=8.5
    )
    played = al.trace(problem, al.alp(), seed=1)
    assert played.budget_left[-1] in (0.5, 1.5)  # 8 is 2 + 3 + 3 or four times 2; 7 is 2 + 2 + 3
    assert played.unusable == played.budget_left[-1]
    runs = al.simulate(problem, al.alp(), runs=20, seed=1)
    assert runs.unusable[0] == played.unusable
    left = 8.5 - runs.spend
    np.testing.assert_array_equal(runs.unusable, np.where(left < 2, left, 0))
    assert runs.summary()["unusable_mean"] == pytest.approx(runs.unusable.mean())


def test_money_that_an_action_could_have_used_is_not_called_unusable() -> None:
    """Nothing gains anything, so nothing is bought; 1.9 is less than any action costs, 2 is not."""
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.0, 0.0]], costs=[2, 3], horizon=4, budget=2
    )
    for budget, unusable in ((0, 0), (1.9, 1.9), (2, 0), (50, 0)):
        idle = problem.replace(budget=budget)
        assert al.simulate(idle, al.alp(), runs=2).unusable.tolist() == [unusable] * 2
        assert al.trace(idle, al.alp()).unusable == unusable


@MAY_END_UNTRIED
@given(problem=any_cost_problems(), seed=st.integers(0, 1000))
@pytest.mark.slow
def test_what_is_unusable_is_what_is_left_below_the_cheapest_cost(
    problem: al.Problem, seed: int
) -> None:
    played = al.trace(problem, al.thrifty(), seed=seed)
    left = played.budget_left[-1]
    assert played.unusable == (left if left < problem.costs.min() else 0.0)
    runs = al.simulate(problem, al.thrifty(), runs=2, seed=seed, against="upper bound", threads=1)
    assert runs.unusable[0] == played.unusable
    np.testing.assert_array_less(runs.unusable, problem.costs.min())


def test_what_is_unaffordable_is_dropped_before_the_lp_not_after() -> None:
    """With 1 left and two rounds to go, only the cheap action is in the LP: ρ = ½ buys it half
    the time. Had the dear one (slope .9/3 = .3 beyond .4/1) been kept, nothing would change for
    the first step; but in the context that has only dear actions, everything is skipped."""
    problem = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.4, 0.9], [0.8, 1.0]],
        costs=[[1, 3], [3, 4]],
        horizon=10,
        budget=20,
    )
    lowered = lower(al.alp(), **problem.terms())
    for key in keys(20):
        assert decide_at(lowered, 8, 1, 1, key) == (SKIP, 1.0)
        action, probability = decide_at(lowered, 8, 1, 0, key)
        assert (action, probability) == (0, 1.0)  # π₀ · 1 = ½ = ρ: served for sure


DEFAULTS = al.Problem(
    context_probs=[0.4, 0.3, 0.3],
    reward_means=[[0.5, 0.45], [0.4, 0.3], [0.3, 0.35]],
    default_rewards=[0.6, 0.1, 0.1],
    horizon=10_000,
    budget=8_000,
)


TOLD = DEFAULTS.replace(defaults_known=True)


@pytest.mark.parametrize("policy", [al.alp(), al.flp(), al.rounded(), al.ealp()])
@pytest.mark.parametrize("problem", [DEFAULTS, TOLD])
def test_a_context_whose_actions_gain_nothing_is_never_charged(
    problem: al.Problem, policy: al.Policy
) -> None:
    played = al.trace(problem, policy, seed=3)
    assert np.all(played.actions[played.contexts == 0] == SKIP)
    assert np.all(played.actions[played.contexts == 2] != 0)


LEARNERS = [
    name
    for name, make in al.RECIPES.items()
    if not isinstance(make().rewards, al.KnownRewards) and name not in {"ucb_pb", "skip_always"}
]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("problem", [DEFAULTS, TOLD])
def test_a_converged_learner_never_charges_a_context_whose_actions_gain_nothing(
    problem: al.Problem, name: str
) -> None:
    """After a million looks at everything .6 is more than .5 by any index, and .1 less than .3."""
    lowered = lower(al.recipe(name), **problem.terms())
    state = new_state(lowered)
    state.counts[:], state.skip_counts[:] = 1e6, 1e6
    state.sums[:] = 1e6 * problem.reward_means
    state.skip_sums[:] = 1e6 * problem.default_rewards
    state.context_counts[:] = 5000 * problem.context_probs
    state.progress[ROUND], state.progress[LEFT], state.progress[EXPLORED] = 5000, 4000, 500
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    best = [SKIP, 0, 1]
    for key in keys(200):
        for context in range(3):
            assert decide(lowered, state, memo, hulls, context, key) == (best[context], 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [al.thrifty(), al.horizon_alp()])
def test_knowing_the_default_rewards_is_better_than_learning_them(policy: al.Policy) -> None:
    """About 39 against 49 on the same arrivals; 3 standard errors of the difference."""
    learned, known = (
        al.simulate(problem, policy, runs=600, seed=1, against="upper bound")
        for problem in (DEFAULTS, TOLD)
    )
    saved = al.Sample(learned.regret.values - known.regret.values)
    assert saved.mean > 3 * saved.stderr
    assert known.spend.max() <= TOLD.budget


def test_known_default_rewards_are_taken_from_the_indices() -> None:
    """One pair of context 1 seen, at a mean of .4: with .1 for skipping it gains .3 a unit."""
    lowered = lower(al.greedy(), **TOLD.terms())
    state = new_state(lowered)
    state.counts[1], state.sums[1] = 10, [4, 3]
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    assert hulls is not None
    decide(lowered, state, memo, hulls, 1, keys(1)[0])
    np.testing.assert_allclose(hulls.gains[1], [0.3, 0.2], atol=1e-15)


def test_skipping_teaches_nothing_where_the_default_rewards_are_known() -> None:
    lowered = lower(al.thrifty(), **TOLD.terms())
    state = new_state(lowered)
    learn(lowered, state, new_memo(lowered, state), 1, SKIP, 0, 0.25, np.uint64(0))
    assert not state.skip_counts.any()


@pytest.mark.parametrize("policy", [al.thrifty(), al.horizon_alp()])
def test_a_learned_default_costs_little_and_ignoring_it_a_lot(policy: al.Policy) -> None:
    """Ignoring the default pays for the first context, whose actions lose .1 each time it comes."""
    learned = al.simulate(DEFAULTS, policy, runs=40, seed=1, against="upper bound")
    blind = lower(policy, **{**DEFAULTS.terms(), "default_rewards": None})
    assert blind.default_mode == 0
    assert learned.regret.mean + 4 * learned.regret.stderr < 150  # 943 if it is ignored


def test_skipping_is_learned_like_any_action() -> None:
    lowered = lower(al.thrifty(), **DEFAULTS.terms())
    state = new_state(lowered)
    memo = new_memo(lowered, state)
    learn(lowered, state, memo, 1, SKIP, 0, 0.25, np.uint64(0))
    learn(lowered, state, memo, 1, SKIP, 0, 0.75, np.uint64(0))
    assert state.skip_counts.tolist() == [0, 2, 0]
    assert state.skip_sums.tolist() == [0, 1, 0]


def test_procrastination_is_refused_where_costs_differ() -> None:
    problem = al.Problem(
        context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], costs=[[1], [2]], horizon=9, budget=5
    )
    with pytest.raises(al.InvalidPolicy, match="costs the same and skipping brings nothing"):
        al.simulate(problem, al.pb(), runs=1)


@MAY_END_UNTRIED
def test_every_policy_part_runs_at_unequal_costs() -> None:
    problem = al.Problem(
        context_probs=[0.3, 0.7],
        reward_means=[[0.3, 0.9], [0.2, 0.5]],
        costs=[[1, 2], [1, 3]],
        horizon=40,
        budget=30,
    )
    for name, make in al.RECIPES.items():
        if not name.endswith("pb"):
            runs = al.simulate(problem, make(), runs=2, against="upper bound")
            assert runs.spend.max() <= 30
            assert dataclasses.is_dataclass(runs)


@pytest.mark.slow
def test_a_fixed_plan_told_to_drop_its_frugality_does_so_with_unequal_costs_too() -> None:
    problem = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.3, 0.5], [0.2, 0.6]],
        costs=[[1, 2], [1, 2]],
        horizon=300,
        budget=300,
    )
    best = al.optimal_value(problem)
    plain, bold = (al.exact_value(problem, al.flp(override=override)) for override in (False, True))
    assert best > bold > plain + 1
    measured = al.simulate(problem, al.flp(override=True), runs=400, seed=1).regret
    assert abs(measured.mean - (best - bold)) < 4 * measured.stderr
