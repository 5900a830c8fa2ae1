"""Rows of a cell are the values of `exact_value` or `simulate`, against both benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.problems import PAPER_TEN, PAPER_TWO

import almoner as al
from almoner.experiments.cells import Cell, run_cell
from almoner.experiments.rows import RESULTS, Row, read_rows
from almoner.scenarios import scenario

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


def cell_of(problem: al.Problem, name: str, *, runs: int = 40, seed: int = 3) -> Cell:
    return Cell(
        problem_name="some",
        policy_name=name,
        problem=problem,
        policy=al.recipe(name),
        ratio=problem.ratio,
        runs=runs,
        seed=seed,
    )


def by_benchmark(rows: list[Row]) -> dict[str, Row]:
    assert [list(row) for row in rows] == [list(RESULTS)] * len(rows)
    return {row["against"]: row for row in rows}


@pytest.mark.parametrize("name", ["alp", "flp", "pb", "rounded"])
def test_known_statistics_are_exact(name: str) -> None:
    problem = PAPER_TWO(300, 0.39)
    rows = by_benchmark(run_cell(cell_of(problem, name)))
    value = al.exact_value(problem, al.recipe(name))
    for against, benchmark in {
        "oracle": al.optimal_value(problem),
        "upper bound": al.upper_bound(problem),
    }.items():
        row = rows[against]
        assert (row["method"], row["runs"], row["seed"]) == ("exact", 0, 0)
        assert row["benchmark"] == benchmark
        assert row["regret_mean"] == pytest.approx(benchmark - value, abs=1e-9)
        assert (row["regret_stderr"], row["regret_q99"], row["regret_max"]) == (0, None, None)


CLINIC = al.Problem(
    context_probs=[0.3, 0.7],
    reward_means=[[0.9, 0.25], [0.3, 0.2]],
    costs=[[3.0, 1.0], [2.5, 1.5]],
    horizon=200,
    budget=230,
)


@pytest.mark.parametrize("name", ["alp", "flp", "rounded"])
def test_known_statistics_are_exact_at_unequal_costs_too(name: str) -> None:
    rows = by_benchmark(run_cell(cell_of(CLINIC, name)))
    value = al.exact_value(CLINIC, al.recipe(name))
    assert set(rows) == {"oracle", "upper bound"}
    for row in rows.values():
        assert (row["method"], row["runs"], row["seed"]) == ("exact", 0, 0)
        assert row["regret_mean"] == pytest.approx(row["benchmark"] - value, abs=1e-9)
        assert (row["regret_stderr"], row["regret_q99"], row["regret_max"]) == (0, None, None)


def test_costs_on_too_fine_a_grid_are_simulated() -> None:
    problem = scenario("llm-routing").scaled(300)  # costs in steps of 0.0001
    with pytest.raises(al.NotComputable):
        al.exact_value(problem, al.alp())
    rows = by_benchmark(run_cell(cell_of(problem, "alp", runs=5)))
    assert set(rows) == {"upper bound"}
    row = rows["upper bound"]
    assert (row["method"], row["runs"], row["seed"]) == ("simulated", 5, 3)
    assert row["regret_stderr"] > 0
    settings = cell_of(problem, "alp", runs=5).settings
    assert settings != cell_of(problem, "alp", runs=6).settings  # runs count where they are drawn


def test_published_rows_that_were_simulated_agree_with_exact_values() -> None:
    """Rows of ALP at unequal costs: four standard errors, the oracle's benchmark to the digit."""
    rows = [row for row in read_rows(FIGURES / "unequal.csv") if row["policy"] == "alp"]
    assert {row["method"] for row in rows} == {"simulated"}
    for row in rows:
        if row["horizon"] <= 5000:
            problem = scenario("heterogeneous").scaled(row["horizon"], ratio=row["ratio"])
            (now,) = [
                new for new in run_cell(cell_of(problem, "alp")) if new["against"] == row["against"]
            ]
            assert now["method"] == "exact"
            assert now["benchmark"] == pytest.approx(row["benchmark"], rel=1e-12)
            assert now["regret_mean"] == pytest.approx(
                row["regret_mean"], abs=4 * row["regret_stderr"]
            )


@pytest.mark.parametrize("name", ["ealp", "ucb_alp", "thrifty"])
def test_learners_are_simulated(name: str) -> None:
    problem = PAPER_TEN(200, 0.5)
    rows = by_benchmark(run_cell(cell_of(problem, name)))
    for against, row in rows.items():
        played = al.simulate(problem, al.recipe(name), runs=40, seed=3, against=against)
        assert (row["method"], row["runs"], row["seed"]) == ("simulated", 40, 3)
        assert row["regret_mean"] == pytest.approx(played.regret.mean, rel=1e-10)
        assert row["regret_stderr"] == pytest.approx(played.regret.stderr, rel=1e-10)
        assert row["regret_q99"] == pytest.approx(played.regret.quantile(0.99), rel=1e-10)
        assert row["regret_max"] == pytest.approx(played.regret.max, rel=1e-10)


def test_a_single_run_has_no_error() -> None:
    assert run_cell(cell_of(PAPER_TWO(50, 0.4), "ucb_alp", runs=1))[0]["regret_stderr"] is None


def test_the_distance_to_a_boundary() -> None:
    at, beside = (
        run_cell(cell_of(PAPER_TWO(100, ratio), "alp"))[0]["boundary_distance"]
        for ratio in (0.4, 0.39)
    )
    assert at == pytest.approx(0, abs=1e-12)
    assert beside == pytest.approx(0.01, abs=1e-12)


def test_settings_tell_cells_apart_and_exact_ones_ignore_the_seed() -> None:
    problem = PAPER_TWO(100, 0.4)
    learner = cell_of(problem, "ucb_alp").settings
    assert learner != cell_of(problem, "ucb_alp", seed=4).settings
    assert learner != cell_of(problem, "ucb_alp", runs=41).settings
    assert learner != cell_of(problem, "ucb_flp").settings
    assert learner != cell_of(problem.replace(budget=39), "ucb_alp").settings
    exact = cell_of(problem, "alp").settings
    assert exact == cell_of(problem, "alp", seed=4, runs=41).settings


def test_a_problem_too_large_for_an_exact_value_is_simulated_and_its_settings_say_so() -> None:
    """With the settings of an exact cell, a sweep with more runs would reuse the old rows."""
    large = PAPER_TWO(10**7, 0.4)
    assert not cell_of(large, "alp").exact
    assert cell_of(large, "alp").settings != cell_of(large, "alp", seed=4, runs=41).settings
