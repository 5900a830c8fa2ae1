"""A cell says what `exact_value` or `simulate` say, against both benchmarks."""

from __future__ import annotations

import pytest
from problems import PAPER_TEN, PAPER_TWO

import almoner as al
from almoner.experiments.cells import Cell, run_cell
from almoner.experiments.rows import RESULTS, Row


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
