"""Curves, counts of pairs, the two parts of regret, comparisons, tables of runs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import almoner as al
from almoner.scenarios import scenario

TWO = scenario("paper-two").scaled(500, ratio=0.41)
UNEQUAL = scenario("heterogeneous").scaled(500)


class Best:
    """Serve the better context with its best action, and nobody else."""

    def decide(self, arrival: al.Arrival) -> int:
        return 2 if arrival.context == 0 and arrival.budget_left >= 1 else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        pass


@pytest.mark.parametrize("problem", [TWO, UNEQUAL], ids=["equal", "unequal"])
def test_pairs_are_the_counts_of_the_traces(problem: al.Problem) -> None:
    runs = al.simulate(problem, "ucb_alp", runs=3, seed=1)
    counts = np.zeros(runs.pairs.shape)
    for run in range(3):
        trace = al.trace(problem, "ucb_alp", seed=1, run=run)
        np.add.at(counts, (trace.contexts, trace.actions), 1)
    np.testing.assert_allclose(runs.pairs, counts / 3)


@pytest.mark.parametrize("problem", [TWO, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("against", ["oracle", "upper bound"])
def test_curve_is_the_share_of_the_benchmark_minus_rewards(
    problem: al.Problem, against: str
) -> None:
    """By expectation: the reduced estimator has the mean of the raw one, within four errors."""
    runs = al.simulate(problem, "ucb_alp", runs=400, seed=1, against=against)
    value = al.optimal_value(problem) if against == "oracle" else al.upper_bound(problem)
    assert runs.curve.rounds[-1] == problem.horizon
    np.testing.assert_allclose(runs.curve.values[:, -1], runs.regret.values)
    middle = len(runs.curve.rounds) // 2
    t = int(runs.curve.rounds[middle])
    early = []
    for run in range(400):
        trace = al.trace(problem, "ucb_alp", seed=1, run=run)
        means = np.column_stack([problem.reward_means, problem.default_rewards])
        early.append(means[trace.contexts[:t], trace.actions[:t]].sum())
    raw = value * t / problem.horizon - np.array(early)
    tolerance = 4 * np.std(raw - runs.curve.values[:, middle]) / np.sqrt(400)
    assert abs(raw.mean() - runs.curve.mean[middle]) < tolerance


def test_python_and_kernels_have_the_same_curve_and_pairs() -> None:
    """PB never serves the worse context before the budget suffices for all: at ρ = 0.39, never."""
    problem = scenario("paper-two").scaled(500, ratio=0.3)
    plain = al.simulate(problem, Best(), runs=3, seed=1)
    compiled = al.simulate(problem, "pb", runs=3, seed=1)
    np.testing.assert_allclose(plain.curve.values, compiled.curve.values, atol=1e-9)
    np.testing.assert_array_equal(plain.pairs, compiled.pairs)
    np.testing.assert_allclose(plain.regret_actions.values, compiled.regret_actions.values)


def test_parts_of_regret_add_up_and_are_those_of_the_proof() -> None:
    runs = al.simulate(TWO, "ucb_alp", runs=50, seed=1)
    parts = runs.regret_actions.values + runs.regret_contexts.values
    np.testing.assert_allclose(parts, runs.regret.values)
    gaps = TWO.reward_means.max(axis=1, keepdims=True) - TWO.reward_means
    assert runs.regret_actions.mean == pytest.approx(float((gaps * runs.pairs[:, :-1]).sum()))
    known = al.simulate(TWO, "alp", runs=5, seed=1)
    assert known.regret_actions.values.tolist() == [0.0] * 5


def test_wrong_actions_at_unequal_costs_are_judged_at_the_price() -> None:
    """By hand: at price ½ the second action brings 0.9 − 3/2, 0.6 less than the first."""
    problem = al.Problem(
        context_probs=[1], reward_means=[[0.5, 0.9]], costs=[1, 3], horizon=10, budget=8
    )
    assert al.solve(problem).price == pytest.approx(0.5)

    class Dear:
        def decide(self, arrival: al.Arrival) -> int:
            return 1 if arrival.budget_left >= 3 else al.SKIP

        def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
            pass

    runs = al.simulate(problem, Dear(), runs=1, seed=1)
    assert runs.regret_actions.mean == pytest.approx(2 * 0.6)


def test_comparison_is_paired() -> None:
    first = al.simulate(TWO, "wilson_eager", runs=100, seed=1)
    second = al.simulate(TWO, "ucb_alp", runs=100, seed=1)
    compared = first.compare(second, level=0.9)
    np.testing.assert_array_equal(
        compared.difference.values, first.regret.values - second.regret.values
    )
    assert compared.difference.mean - compared.low == pytest.approx(
        1.6448536 * compared.difference.stderr
    )
    assert compared.high < 0
    assert "the first has less regret" in str(compared)
    assert "the second has less regret" in str(second.compare(first))
    assert "no difference is shown" in str(first.compare(first))
    assert compared.better == np.mean(first.regret.values < second.regret.values)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"seed": 2}, "seed"),
        ({"runs": 5}, "as many runs"),
        ({"against": "upper bound"}, "against"),
        ({"estimator": "raw"}, "estimator"),
    ],
)
def test_runs_that_do_not_pair_are_refused(change: dict[str, object], name: str) -> None:
    options: dict[str, object] = {"runs": 4, "seed": 1}
    first = al.simulate(TWO, "alp", **options)  # type: ignore[call-overload]
    second = al.simulate(TWO, "alp", **options | change)  # type: ignore[call-overload]
    with pytest.raises(al.InvalidInput, match=name):
        first.compare(second)
    with pytest.raises(al.InvalidInput, match="the same problem"):
        first.compare(al.simulate(UNEQUAL, "alp", runs=4, seed=1))
    loose: Any = first.compare
    with pytest.raises(al.InvalidInput, match="other must be the runs of another policy"):
        loose("ucb_alp")
    single = al.simulate(TWO, "alp", runs=1)
    with pytest.raises(al.InvalidInput, match="two runs at least, got one; give both more runs="):
        single.compare(single)


def test_tables_have_a_row_per_replication(tmp_path: Path) -> None:
    runs = al.simulate(TWO, "ucb_alp", runs=4, seed=1)
    frame = runs.to_frame()
    assert frame["regret"].tolist() == runs.regret.values.tolist()
    runs.to_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["reward"]) for row in rows] == runs.reward.values.tolist()
    assert list(rows[0]) == ["run", *frame.columns]


def test_regret_is_against_the_upper_bound_where_the_oracle_is_out_of_reach() -> None:
    fine = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.5, 0.9], [0.2, 0.6]],
        costs=[0.123456789, 0.987654321],
        horizon=5000,
        budget=1234.56789,
    )
    with pytest.warns(al.OracleOutOfReach, match="against the upper bound"):
        runs = al.simulate(fine, "alp", runs=2, seed=1)
    assert runs.against == "upper bound"
    chosen = al.simulate(fine, "alp", runs=2, seed=1, against="upper bound")
    assert runs.regret.values.tolist() == chosen.regret.values.tolist()


def test_sample_is_an_array_with_an_interval() -> None:
    sample = al.Sample(np.array([1.0, 3.0]))
    assert len(sample) == 2
    assert np.asarray(sample).tolist() == [1.0, 3.0]
    low, high = sample.interval()
    assert (low + high) / 2 == 2.0
    assert high - 2.0 == pytest.approx(1.959964 * 1.0)
