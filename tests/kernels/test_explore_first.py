"""Explore first: the actions tried, the end of exploration, and learning after it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import almoner as al
from almoner.kernels.explore_first import _deviation, _expected_excess, exploration_over
from almoner.kernels.state import EXPLORED, LEFT, ROUND, State, new_hulls, new_memo, new_state
from almoner.policy.lowering import LoweredPolicy, lower
from almoner.scenarios import scenario

HETEROGENEOUS = scenario("heterogeneous")


def started(policy: al.Policy, rounds: int, each: float) -> tuple[LoweredPolicy, State]:
    """A campaign some rounds old that has tried every pair ``each`` times, means as they are."""
    lowered = lower(policy, **HETEROGENEOUS.terms())
    state = new_state(lowered)
    state.counts[:] = each
    state.sums[:] = each * HETEROGENEOUS.reward_means
    state.progress[ROUND] = rounds
    return lowered, state


def over(lowered: LoweredPolicy, state: State) -> bool:
    hulls = new_hulls(lowered)
    assert hulls is not None
    return bool(exploration_over(lowered, state, new_memo(lowered, state), hulls))


def test_exploration_tries_every_action_of_a_context_evenly() -> None:
    policy = al.epsilon_first_alp(rounds=500)
    played = al.trace(HETEROGENEOUS, policy, seed=1)
    for context in range(5):
        tried = played.actions[:500][played.contexts[:500] == context]
        counts = np.bincount(tried, minlength=4)
        assert counts.max() - counts.min() <= 1
    assert set(played.probabilities[:500]) <= {1.0, 1 / 2, 1 / 3, 1 / 4}


@pytest.mark.parametrize(
    ("policy", "rounds", "spend"),
    [
        (al.epsilon_first_alp(), 1000, 1100),  # a tenth of both
        (al.epsilon_first_alp(cap=0.02), 200, 220),
        (al.epsilon_first_alp(rounds=2000), 2000, 11_000),  # told how long: no cap on the spend
        (al.epsilon_first_alp(rounds=2000, cap=0.3), 2000, 3300),
    ],
)
def test_exploration_ends_by_rounds_or_by_spend(
    policy: al.Policy, rounds: int, spend: float
) -> None:
    lowered, state = started(policy, rounds - 1, 5)
    assert not over(lowered, state)
    state.progress[ROUND] = rounds
    assert over(lowered, state)
    state.progress[ROUND] = rounds - 1
    state.progress[LEFT] = lowered.budget - math.ceil(spend)
    assert over(lowered, state) == (spend < lowered.budget)


@pytest.mark.parametrize("test", ["usable", "literal"])
def test_a_pair_never_tried_keeps_exploration_going(test: str) -> None:
    lowered, state = started(al.epsilon_first_alp(test=test, cap=1.0), 5000, 1e9)
    state.counts[2, 1] = 0
    assert not over(lowered, state)


def test_the_literal_test_asks_for_far_more_than_there_is() -> None:
    """Where the closest two slopes differ by Δ, it needs (Δ/2)²·C ≥ log T of every pair."""
    for each, ends in ((1e5, False), (1e12, True)):
        lowered, state = started(al.epsilon_first_alp(test="literal", cap=1.0), 5000, each)
        assert over(lowered, state) == ends


def test_the_usable_test_stops_within_a_few_percent_of_the_horizon() -> None:
    policy = al.epsilon_first_alp(test="usable")
    ends = []
    for run in range(10):
        played = al.trace(HETEROGENEOUS, policy, seed=2, run=run)
        ends.append(int(np.argmax(played.actions == al.SKIP)))
    assert 50 < np.median(ends) <= 1000


def test_the_usable_test_does_not_stop_on_little_evidence() -> None:
    lowered, state = started(al.epsilon_first_alp(test="usable"), 20, 1)
    assert not over(lowered, state)


def test_the_deviation_of_a_reduced_cost_by_hand() -> None:
    """Context 1, best action 2 (cost 3), option 0 (cost 1), price from context 3's step 0 → 1.

    D = g₁₂ − g₁₀ − λ(3 − 1), λ = (g₃₁ − g₃₀)/(2 − 1), so the coefficients are 1, −1, −2, +2 and
    with C = 4, 16, 25, 100 the variance is 1/16 + 1/64 + 4/100 + 4/400 = 0.128125.
    """
    lowered, state = started(al.epsilon_first_alp(), 10, 1)
    state.counts[1, 2], state.counts[1, 0], state.counts[3, 1], state.counts[3, 0] = 4, 16, 25, 100
    deviation = _deviation.py_func(lowered, state, 1, 2, 0, 3, 0, 1)  # type: ignore[attr-defined]
    assert deviation == pytest.approx(math.sqrt(0.128125))


def test_a_pair_on_both_sides_of_a_reduced_cost_counts_once() -> None:
    """In the marginal context itself, step skip → 0 (λ = g₀/1), best skip, option 1 (cost 2):
    D = −g₁ + λ·2 = 2g₀ − g₁, whose variance at C = 1 each is 4/4 + 1/4."""
    lowered, state = started(al.epsilon_first_alp(), 10, 1)
    deviation = _deviation.py_func(lowered, state, 3, al.SKIP, 1, 3, al.SKIP, 0)  # type: ignore[attr-defined]
    assert deviation == pytest.approx(math.sqrt(1.25))


def test_the_expected_excess_is_that_of_a_normal() -> None:
    draws = np.random.default_rng(0).standard_normal(400_000)
    for z in (-1.0, 0.0, 0.7, 2.0):
        excess = np.maximum(draws - z, 0)
        expected = _expected_excess.py_func(z)  # type: ignore[attr-defined]
        assert expected == pytest.approx(
            excess.mean(), abs=4 * excess.std() / math.sqrt(len(draws))
        )


def test_frozen_means_stop_learning_and_updated_ones_do_not() -> None:
    from almoner.kernels.steps import learn

    for update, t, count in ((False, 10, 1), (True, 10, 2), (False, 9, 2)):
        policy = al.epsilon_first_alp(rounds=10, update=update)
        lowered, state = started(policy, 20, 1)
        state.progress[EXPLORED] = 10
        learn(lowered, state, new_memo(lowered, state), 0, 0, t, 1.0, np.uint64(0))
        assert state.counts[0, 0] == count


def test_what_was_explored_is_learned_however_late_its_reward_comes() -> None:
    """Twenty decisions explore, one exploits, and only then the twenty rewards come in."""
    agent = al.Agent.open(
        "memory:",
        name="late",
        contexts=["new"],
        actions={"mail": 1, "call": 2},
        horizon=100,
        budget=100,
        policy=al.epsilon_first_alp(rounds=20, update=False, contexts=al.EmpiricalContexts()),
    )
    explored = agent.decide_many(["new"] * 20)
    exploited = agent.decide("new")
    agent.reward_many({decision.id: 0.5 for decision in explored if not decision.skipped})
    if not exploited.skipped:
        agent.reward(exploited.id, 0.5)
    taken = sum(not decision.skipped for decision in explored)
    assert agent.look(lambda campaign: campaign.state.counts.sum()) == taken == 20


SMALL = al.Problem(
    context_probs=[0.3, 0.7, 0.0],
    reward_means=[[0.5, 0.9], [0.2, 0.4], [0.1, 0.1]],
    costs=[1, 2],
    horizon=60,
    budget=40,
)


def runs_with_a_pair_untried(problem: al.Problem, policy: al.Policy, rounds: int) -> int:
    """Of 50 runs, from the record of all that happened; the third context never comes."""
    count = 0
    for run in range(50):
        played = al.trace(problem, policy, seed=3, run=run)
        done = zip(played.contexts[:rounds], played.actions[:rounds], strict=True)
        count += not {(0, 0), (0, 1), (1, 0), (1, 1)} <= set(done)
    return count


@pytest.mark.parametrize("rounds", [3, 6, 12])
def test_ending_exploration_with_a_pair_untried_is_warned_of_once(rounds: int) -> None:
    policy = al.epsilon_first_alp(rounds=rounds)
    count = runs_with_a_pair_untried(SMALL, policy, rounds)
    assert 0 < count <= 50
    with pytest.warns(al.UntriedPairs) as caught:
        al.simulate(SMALL, policy, runs=50, seed=3)
    assert [str(warning.message) for warning in caught] == [
        f"in {count} of 50 runs exploration ended with a pair untried, which then counts as 1; "
        "explore for more rounds, or raise the cap"
    ]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("problem", "policy"),
    [
        (SMALL, al.epsilon_first_alp(rounds=60)),  # nothing comes after it
        (SMALL.replace(horizon=2000, budget=1500), al.epsilon_first_alp(rounds=100)),
        (SMALL.replace(budget=0.9), al.epsilon_first_alp(rounds=2)),  # too little for any
        (SMALL.replace(context_probs=[1, 0, 0], budget=2), al.epsilon_first_alp(rounds=1)),
        (SMALL, al.epsilon_first_alp(test="literal", cap=1.0)),  # never ends
        (SMALL, al.thrifty()),
    ],
)
def test_nothing_is_warned_of_where_nothing_is_left_untried(
    problem: al.Problem, policy: al.Policy
) -> None:
    al.simulate(problem, policy, runs=50, seed=3)  # a warning would be an error


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"rounds": 0}, "rounds must be at least 1, got rounds=0"),
        ({"cap": 0}, "cap must be greater than 0, got cap=0"),
        ({"cap": 1.5}, "cap must be at most 1, got cap=1.5"),
        ({"test": "sure"}, "test must be one of none, usable, literal, got test='sure'"),
    ],
)
def test_bad_settings_are_refused(bad: dict[str, object], sentence: str) -> None:
    with pytest.raises(al.InvalidPolicy) as caught:
        al.ExploreFirst(**bad)  # type: ignore[arg-type]
    assert str(caught.value).startswith(sentence)


def test_a_default_that_must_be_learned_is_explored_like_the_actions() -> None:
    """Without it skipping would count as 1 for ever, and nothing would ever be paid for again."""
    problem = al.Problem(
        context_probs=[0.4, 0.3, 0.3],
        reward_means=[[0.5, 0.45], [0.4, 0.3], [0.3, 0.35]],
        default_rewards=[0.6, 0.1, 0.1],
        costs=[[1, 2]] * 3,
        horizon=1000,
        budget=800,
    )
    policy = al.epsilon_first_alp(rounds=90, update=False)
    trace = al.trace(problem, policy, seed=3)
    for context in range(3):
        actions = trace.actions[:90][trace.contexts[:90] == context]
        counts = [int((actions == action).sum()) for action in (-1, 0, 1)]
        assert max(counts) - min(counts) <= 1
    assert trace.budget_left[-1] < 100


def test_the_last_reward_of_exploration_is_learned_from() -> None:
    """One context, two actions, two rounds of exploration: both are tried, and both are known."""
    problem = al.Problem(
        context_probs=[1.0],
        reward_means=[[1.0, 0.0]],
        costs=[[1, 2]],
        reward_spread=0,
        horizon=40,
        budget=60,
    )
    policy = al.epsilon_first_alp(rounds=2, update=False)
    for seed in range(4):  # either order of the two
        assert set(al.trace(problem, policy, seed=seed).actions[2:].tolist()) == {0}


def test_the_printed_algorithm_explores_for_a_multiple_of_log_t() -> None:
    problem = SMALL.replace(horizon=2000, budget=1500)
    lowered = lower(al.epsilon_first_printed(factor=10), **problem.terms())
    assert lowered.exploration.rounds == math.ceil(10 * math.log(2000))
    assert lowered.exploration.update == 0
    assert lowered.prior.tolist() == np.zeros_like(problem.costs).tolist()


def test_the_printed_algorithm_takes_untried_pairs_for_zero() -> None:
    """One round of exploration: everything that it did not try is never taken again."""
    problem = SMALL.replace(context_probs=[0.5, 0.5, 0.0], horizon=60, budget=60)
    policy = al.Policy(
        rewards=al.ExploreFirst(rounds=1, update=False, untried=0),
        contexts=al.KnownContexts(),
        allocation=al.AdaptiveLP(),
    )
    for run in range(10):
        trace = al.trace(problem, policy, seed=1, run=run)
        tried = trace.contexts[0], trace.actions[0]
        taken = {
            pair for pair in zip(trace.contexts, trace.actions, strict=True) if pair[1] != al.SKIP
        }
        assert taken <= {tried}
    with pytest.warns(al.UntriedPairs, match="which then counts as 0"):
        al.simulate(problem, policy, runs=5, seed=1)


def test_rounds_and_factor_together_are_refused() -> None:
    with pytest.raises(al.InvalidPolicy, match="factor must be left out"):
        al.ExploreFirst(rounds=5, factor=2)
