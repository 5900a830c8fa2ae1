"""Simulation on rows: the same numbers on every path to them, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rows import routing_rows, uplift_rows

import almoner as al

ROWS = routing_rows(600)
BUDGET = 5000.0


@pytest.mark.parametrize("name", al.ROW_RECIPES)
def test_every_recipe_spends_within_the_budget_and_adds_up(name: str) -> None:
    result = al.simulate(ROWS, name, budget=BUDGET, runs=5, seed=3)
    assert len(result) == len(result.reward) == len(result.regret.values) == 5
    assert 0 < result.spend.max() <= BUDGET
    assert result.regret.values == pytest.approx(float(ROWS.upper_bound(BUDGET)) - result.reward)
    assert result.shares.sum(axis=1).max() <= 1 + 1e-12
    figures = result.summary()
    assert figures["reward_mean"] == pytest.approx(result.reward.mean())
    assert figures["ratio"] == pytest.approx(result.reward.mean() / figures["benchmark"])


def test_tables_have_a_row_per_replication(tmp_path: Path) -> None:
    runs = al.simulate(ROWS, "priced", budget=BUDGET, runs=4, seed=1)
    frame = runs.to_frame()
    assert frame["reward"].tolist() == runs.reward.tolist()
    assert frame["regret"].tolist() == runs.regret.values.tolist()
    runs.to_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["spend"]) for row in rows] == runs.spend.tolist()
    assert list(rows[0]) == ["run", *frame.columns]


def test_the_numbers_do_not_depend_on_threads() -> None:
    one, three = (
        al.simulate(ROWS, "priced", budget=BUDGET, runs=7, seed=1, threads=threads)
        for threads in (1, 3)
    )
    assert one.reward.tolist() == three.reward.tolist()
    assert one.spend.tolist() == three.spend.tolist()


def test_a_seed_determines_the_shuffles_and_policies_see_the_same_ones() -> None:
    first, again, other = (
        al.trace(ROWS, policy, budget=BUDGET, seed=seed, run=2)
        for policy, seed in (("priced", 4), ("greedy_scores", 4), ("priced", 5))
    )
    assert first.rows.tolist() == again.rows.tolist() != other.rows.tolist()
    assert sorted(first.rows) == list(range(len(ROWS)))


@pytest.mark.parametrize("name", ["priced", "linear", "pid_pacing"])
@pytest.mark.parametrize("order", ["shuffle", "file"])
def test_a_trace_is_a_replication_round_by_round(name: str, order: str) -> None:
    result = al.simulate(ROWS, name, budget=BUDGET, runs=3, seed=8, order=order)
    trace = al.trace(ROWS, name, budget=BUDGET, seed=8, run=2, order=order)
    assert trace.rewards.sum() == pytest.approx(result.reward[2])
    assert BUDGET - trace.budget_left[-1] == pytest.approx(result.spend[2])
    taken = trace.actions >= 0
    bills = ROWS.costs[trace.rows[taken], trace.actions[taken]]
    assert ROWS.rewards[trace.rows[taken], trace.actions[taken]].tolist() == (
        trace.rewards[taken].tolist()
    )
    assert bills.sum() == pytest.approx(result.spend[2] + result.overrun[2])
    counts = np.bincount(trace.actions[taken], minlength=3) / len(ROWS)
    assert counts == pytest.approx(result.shares[2])
    assert 0 < trace.probabilities.min() <= trace.probabilities.max() <= 1
    if order == "file":
        assert trace.rows.tolist() == list(range(len(ROWS)))


def test_the_price_of_a_trace_is_that_of_the_optimum() -> None:
    """In the middle of a long run, where all values are known: within a tenth."""
    rows = uplift_rows(8000)
    budget = 0.1 * float(rows.costs.max(axis=1).sum())
    trace = al.trace(rows, al.priced(), budget=budget, seed=1)
    assert np.median(trace.prices[2000:6000]) == pytest.approx(
        rows.upper_bound(budget).price, rel=0.1
    )


def test_money_is_exact() -> None:
    """Three actions at 0.1 fit a budget of 0.3, and the fourth does not."""
    rows = al.Rows(rewards=np.ones((50, 1)), costs=[0.1], scores=np.ones((50, 1)))
    result = al.simulate(rows, al.greedy_scores(), budget=0.3, runs=4)
    assert result.spend.tolist() == [0.3] * 4
    assert result.reward.tolist() == [3.0] * 4
    assert al.trace(rows, "priced", budget=0.3).budget_left.min() >= 0.0


def test_a_budget_for_everything_is_cut_to_what_can_be_spent() -> None:
    rows = uplift_rows(300)
    result = al.simulate(rows, al.priced(), budget=1e300, runs=2)
    best = np.maximum(rows.rewards.max(axis=1), 0.0).sum()
    assert result.reward == pytest.approx([best, best])
    assert result.ratio == pytest.approx(1.0)


def test_no_budget_serves_nobody_but_with_free_actions() -> None:
    rows = routing_rows(200)
    assert al.simulate(rows, al.priced(), budget=0, runs=2).reward.tolist() == [0.0, 0.0]
    free = routing_rows(200, costs=[0, 6, 40], expected_costs=None)
    for name in al.ROW_RECIPES:
        result = al.simulate(free, name, budget=0, runs=2)
        assert result.spend.tolist() == [0.0, 0.0]
        assert result.shares[:, 0].min() > 0.99


def test_what_skipping_brings_is_counted_and_compared_with() -> None:
    """Actions that bring less than skipping are never taken, whatever the budget."""
    rows = al.Rows(
        rewards=[[0.2, 0.9]] * 100,
        costs=[1, 2],
        scores=[[0.2, 0.9]] * 100,
        skip_rewards=np.full(100, 0.5),
        skip_scores=np.full(100, 0.5),
    )
    result = al.simulate(rows, al.priced(), budget=100, runs=3)
    assert result.shares[:, 0].max() == 0.0
    assert result.reward == pytest.approx(50 + 0.4 * result.spend / 2)
    assert result.spend.min() >= 96


def test_equal_rows_are_served_at_the_rate_of_the_lp_all_along() -> None:
    """A budget for three in ten: at one price without a rate all would be served, or none.

    200 rows in each tenth of the run: 60 served, within 5 standard deviations.
    """
    rows = al.Rows(rewards=np.ones((2000, 1)), costs=[1], scores=np.ones((2000, 1)))
    trace = al.trace(rows, al.priced(), budget=600, seed=2)
    served = (trace.actions >= 0).reshape(10, 200).sum(axis=1)
    assert served.sum() == 600
    assert np.abs(served - 60).max() <= 5 * (200 * 0.3 * 0.7) ** 0.5
    assert trace.probabilities[500] == pytest.approx(
        0.3 if trace.actions[500] == 0 else 0.7, abs=0.1
    )


def test_bills_above_expected_costs_never_take_more_than_the_budget() -> None:
    rows = routing_rows(400, expected_costs=[0.5, 3.0, 20.0])
    for name in al.ROW_RECIPES:
        result = al.simulate(rows, name, budget=1000.0, runs=3)
        assert result.spend.max() <= 1000.0
        assert result.overrun.min() >= 0.0


def test_a_default_serves_everybody_while_it_can_be_paid() -> None:
    result = al.simulate(ROWS, al.priced(), budget=BUDGET, runs=10, default="small")
    plain = al.simulate(ROWS, al.priced(), budget=BUDGET, runs=10)
    assert result.shares.sum(axis=1).min() > 0.995
    assert result.spend.max() <= BUDGET
    assert result.spend.mean() > 0.97 * BUDGET
    assert result.reward.mean() > 0.97 * plain.reward.mean()


def test_a_default_with_certain_costs_is_never_left_out() -> None:
    """Money for the default of all arrivals is there, and not a unit more is spent than that."""
    rows = routing_rows(400, costs=[1, 6, 40], expected_costs=None)
    for policy in (al.priced(), al.greedy_scores(), al.linear()):
        tight = al.simulate(rows, policy, budget=400, runs=3, default="small")
        assert tight.shares[:, 0].tolist() == [1.0] * 3
        assert tight.spend.tolist() == [400.0] * 3
        wide = al.simulate(rows, policy, budget=2000, runs=3, default="small")
        assert wide.shares.sum(axis=1).tolist() == [1.0] * 3
        assert wide.spend.max() <= 2000.0
        scarce = al.simulate(rows, policy, budget=100, runs=3, default="small")
        assert scarce.shares[:, 0].tolist() == [0.25] * 3


def test_linear_learns_what_features_say() -> None:
    """Better than the same decisions without features, by more than 4 standard errors."""
    rows = routing_rows(4000, seed=2)
    blind = routing_rows(4000, seed=2, features=np.zeros((4000, 1)))
    learned, without = (
        al.simulate(each, al.linear(), budget=12_000, runs=6, seed=1) for each in (rows, blind)
    )
    gain = learned.reward - without.reward
    assert gain.mean() > 4 * gain.std() / 6**0.5


def test_linear_learns_what_skipping_brings() -> None:
    """Half of the arrivals come anyway, and an action changes nothing for them.

    Compared with skipping, the budget goes to the others; compared with nothing, to anybody.
    """
    rng = np.random.default_rng(0)
    features = rng.choice([-1.0, 1.0], (3000, 1))
    anyway = (features[:, 0] > 0).astype(float)
    rewards = np.maximum(anyway, rng.random(3000) < 0.5)[:, None]
    rows = al.Rows(rewards=rewards, costs=[1.0], features=features, skip_rewards=anyway)
    result = al.simulate(rows, al.linear(), budget=1500, runs=5, seed=1)
    gained = result.reward.mean() - anyway.sum()
    assert gained > 0.8 * (float(rows.upper_bound(1500)) - anyway.sum())


def test_trust_recovers_scores_of_a_wrong_level() -> None:
    """Scores of the large model are 0.4 too low: as given it is never taken."""
    scores = np.array(routing_rows(3000).scores) - np.array([0.0, 0.0, 0.4])
    rows = routing_rows(3000, scores=scores)
    given, calibrated = (
        al.simulate(rows, al.priced(trust=trust), budget=60_000, runs=4, seed=1).reward.mean()
        for trust in (None, 20)
    )
    assert calibrated > 1.03 * given


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"policy": "thrifty"}, "rows need a policy on rows, got Policy"),
        ({"policy": object()}, "policy must be a Policy on rows or the name of one, got policy=<"),
        ({"policy": al.priced}, "policy must be a Policy on rows or the name of one, got policy=<"),
        ({"budget": None}, "rows have no budget of their own; give budget=…"),
        ({"budget": -1}, "budget must be at least 0, got budget=-1"),
        ({"order": "random"}, "order must be one of shuffle, file, got order='random'"),
        ({"default": "tiny"}, "default must be one of small, medium, large, got default='tiny'"),
        ({"against": "oracle"}, "against must be one of hindsight, got against='oracle'"),
        ({"estimator": "raw"}, "estimator must be left out on rows, got estimator='raw'"),
        ({"marks": [3]}, "marks must be left out on rows, got marks=(3,)"),
        ({"runs": 0}, "runs must be at least 1, got runs=0"),
        ({"seed": -1}, "seed must be at least 0, got seed=-1"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments: Any, sentence: str) -> None:
    given: Any = {"policy": "priced", "budget": 10.0, **arguments}
    with pytest.raises(al.InvalidInput) as refused:
        al.simulate(ROWS, **given)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("option", [{"budget": 5.0}, {"order": "file"}, {"default": "a"}])
def test_options_of_rows_are_refused_on_a_problem(option: Any) -> None:
    problem: Any = al.Problem(context_probs=[1.0], reward_means=[[0.5]], horizon=9, budget=3)
    for call in (al.simulate, al.trace):
        with pytest.raises(al.InvalidInput, match="must be left out on a problem, got"):
            call(problem, "thrifty", **option)


@pytest.mark.parametrize(
    ("policy", "missing", "sentence"),
    [
        (
            "priced",
            {"scores": None},
            "the policy decides by scores, and the rows have none; name their ",
        ),
        ("linear", {"features": None}, "the policy decides by features, and the rows have none; "),
    ],
)
def test_rows_without_the_columns_of_a_policy_are_refused(
    policy: str, missing: Any, sentence: str
) -> None:
    with pytest.raises(al.InvalidInput, match=f"^{sentence}"):
        al.simulate(routing_rows(9, **missing), policy, budget=1.0)


def test_a_simulation_of_many_hours_is_refused() -> None:
    with pytest.raises(
        al.NotComputable, match="simulate needs fewer rounds, got 600 rows and runs"
    ):
        al.simulate(ROWS, "priced", budget=1.0, runs=10**10)


@pytest.mark.parametrize("factor", [1e-300, 7.0, 1e300])
def test_scores_as_given_need_no_scale(factor: float) -> None:
    rng = np.random.default_rng(5)
    scores, costs = rng.random((300, 2)), 0.5 + rng.random((300, 2))
    plain, other = (
        al.trace(
            al.Rows(rewards=scores, costs=costs, scores=scores * f), al.priced(), budget=90, seed=1
        ).actions
        for f in (1.0, factor)
    )
    assert plain.tolist() == other.tolist()


@pytest.mark.parametrize("name", ["rewards", "scores", "features"])
def test_numbers_too_large_to_learn_from_are_refused(name: str) -> None:
    values: dict[str, Any] = {
        "rewards": np.ones((9, 1)),
        "scores": np.ones((9, 1)),
        "features": np.ones((9, 1)),
    }
    values[name] = values[name] * 1e200
    policy = al.linear() if name == "features" else al.priced(trust=20)
    with pytest.raises(al.InvalidInput, match=f"{name} must be between -1e.100 and 1e.100 to lear"):
        al.simulate(al.Rows(costs=[1], **values), policy, budget=5, runs=1)
