"""Value against budget: the same numbers as single simulations, as rows, CSV and data frame."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.rows import routing_rows

import almoner as al

ROWS = routing_rows(200)


def test_a_frontier_has_the_figures_of_simulations_and_of_the_optimum() -> None:
    frontier = ROWS.frontier(
        budgets=[900, 300], policies=["priced", al.priced(trust=5)], runs=3, seed=4
    )
    assert [(row["budget"], row["runs"]) for row in frontier.rows] == [
        (300, 0),
        (300, 3),
        (300, 3),
        (900, 0),
        (900, 3),
        (900, 3),
    ]
    best, ours, trusted = frontier.rows[3:]
    result = al.simulate(ROWS, "priced", budget=900, runs=3, seed=4)
    assert (best["policy"], ours["policy"]) == ("hindsight", "priced")
    assert trusted["policy"] == repr(al.priced(trust=5))
    assert ours["reward"] == pytest.approx(result.reward.mean())
    assert ours["reward_per_row"] == pytest.approx(result.reward.mean() / 200)
    assert ours["ratio"] == pytest.approx(result.ratio)
    assert best["reward"] == pytest.approx(float(ROWS.upper_bound(900)))
    assert best["price"] == ours["price"] == ROWS.upper_bound(900).price


def test_policies_are_those_that_the_rows_have_columns_for() -> None:
    frontier = ROWS.frontier(budgets=[300], runs=2)
    assert [row["policy"] for row in frontier.rows] == ["hindsight", "priced", "linear"]
    assert repr(frontier) == "Frontier(hindsight, priced, linear at 1 budgets)"
    bare = routing_rows(50, scores=None, features=None).frontier(budgets=[300])
    assert [row["policy"] for row in bare.rows] == ["hindsight"]


def test_it_is_written_as_csv_and_as_a_data_frame(tmp_path: Path) -> None:
    frontier = ROWS.frontier(budgets=[300, 600], policies=["fixed_rate"], runs=2)
    frontier.to_csv(tmp_path / "frontier.csv")
    with (tmp_path / "frontier.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    frame = frontier.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(read[0])
    assert [float(row["reward"]) for row in read] == frame["reward"].tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budgets": []}, "budgets must be a list of budgets, got budgets=[]"),
        ({"budgets": 5}, "budgets must be a list of budgets, got budgets=5"),
        ({"budgets": "5"}, "budgets must be a list of budgets, got budgets='5'"),
        ({"budgets": [-1]}, "budgets must be at least 0, got budgets=-1"),
        ({"budgets": [1], "policies": "priced"}, "policies must be a list of policies, got"),
        ({"budgets": [1], "policies": ["thrifty"]}, "rows need a policy on rows"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(al.InvalidInput) as refused:
        ROWS.frontier(**arguments)
    assert str(refused.value).startswith(sentence)
