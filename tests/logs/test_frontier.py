"""Value against budget from a log: by hand, against the truth, and the coverage of the bands."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.logs import WORLD, columns_of, make_log
from support.rows import uplift_rows

import almoner as al
from almoner.logs.plans import judge, moves_of
from almoner.logs.sums import model_of, sum_rows, weigh_rows


def truth(ratio: float) -> float:
    return al.solve(WORLD, ratio=ratio).value


def test_a_log_worked_by_hand() -> None:
    """New customers gain 1 by a coupon, old ones nothing: 60 coupons bring 60 beyond the 100."""
    log = al.Log.read(
        {
            "context": ["new", "new", "old", "old"] * 50,
            "action": ["coupon", "", "coupon", ""] * 50,
            "reward": [1, 0, 1, 1] * 50,
        },
        design="uniform",
    )
    points = al.frontier(log, budgets=[300, 0, 60])
    assert [point.budget for point in points] == [0.0, 60.0, 300.0]
    assert [point.value for point in points] == pytest.approx([100, 160, 200])
    assert [point.snips for point in points] == pytest.approx([100, 160, 200], abs=2.0)
    assert [point.price for point in points] == pytest.approx([1, 1, 0])
    assert [point.spend for point in points] == pytest.approx([0, 60, 100])
    assert points[1].shares == {
        "new": pytest.approx({"skipped": 0.4, "coupon": 0.6}),
        "old": {"skipped": 1.0, "coupon": 0.0},
    }
    assert points[1].basis.rows == 200
    assert points[1].basis.matches == pytest.approx(100)


def test_plans_are_those_of_every_single_price() -> None:
    """Brute force: at each price, judge the policy that maximises m − λc row by row."""
    log = al.Log.read(columns_of(60, 5))
    sums = sum_rows(weigh_rows(log, log.cells.codes, len(log.contexts)))
    model = model_of(sums, None)
    (moves,) = moves_of(model)
    assert len(moves.prices) >= 3
    for price in moves.prices:
        net = model.means[0] - price * (1 - 1e-9) * model.costs
        best = net.argmax(axis=1)
        value = cost = weight = reward = 0.0
        for code, taken, r, p in zip(
            log.cells.codes, log.taken + 1, log.rewards, log.probabilities, strict=True
        ):
            mean = model.means[0, code, best[code]]
            value += mean + (taken == best[code]) * (r - mean) / p
            cost += model.costs[code, best[code]]
            weight += (taken == best[code]) / p
            reward += (taken == best[code]) * r / p
        found = judge(sums, model, [moves], cost / 60, skip_known=False)
        assert found.robust == pytest.approx(value / 60)
        assert found.snips == pytest.approx(reward / weight, abs=0.1)


def test_estimates_agree_with_the_truth_and_with_each_other() -> None:
    log = make_log(40_000, 3)
    for point in al.frontier(log, budgets=[4_000, 16_000, 32_000]):
        error = point.stderr / point.arrivals
        assert point.per_arrival == pytest.approx(truth(point.budget / 40_000), abs=3 * error)
        assert point.snips == pytest.approx(point.value, abs=0.5 * point.stderr)
        assert point.low < point.value < point.high


def test_bands_cover_the_truth() -> None:
    """At three budgets, in 120 logs: 95 % within 3 standard errors of a share of 120."""
    logs, ratios = 120, (0.1, 0.3, 0.7)
    covered = np.zeros(3)
    for seed in range(logs):
        log = make_log(3_000, 1000 + seed)
        points = al.frontier(log, budgets=[3_000 * ratio for ratio in ratios], bootstraps=60)
        covered += [
            point.low <= 3_000 * truth(ratio) <= point.high
            for point, ratio in zip(points, ratios, strict=True)
        ]
    assert np.all(covered / logs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / logs))


def test_a_known_reward_of_skipping_needs_no_skips() -> None:
    world = WORLD.replace(default_rewards=0.0)
    design = [[0.0, 0.5, 0.5]] * 3
    columns = columns_of(8_000, 7, world=world, design=design)
    with pytest.raises(al.InvalidInput, match="the log has no skips to say what that brings"):
        al.frontier(al.Log.read(columns), budgets=[3_000])
    log = al.Log.read(columns, skip_reward=0.0)
    (point,) = al.frontier(log, budgets=[4_000])
    expected = 8_000 * al.solve(world, ratio=0.5).value
    assert point.value == pytest.approx(expected, abs=3 * point.stderr)
    assert point.snips == pytest.approx(expected, abs=3 * point.stderr)
    result = al.replay(log, "thrifty", budget=4_000, runs=3)
    assert result.per_arrival == pytest.approx(expected / 8_000, abs=0.03)


@pytest.mark.parametrize("kind", [tuple, iter, np.array, pd.Series, pl.Series])
def test_budgets_are_anything_that_lists_numbers(kind: Any) -> None:
    points = al.frontier(make_log(500, 1), budgets=kind([60, 30]), bootstraps=2)
    assert [point.budget for point in points] == [30.0, 60.0]


def test_rewards_in_money_are_values_in_money() -> None:
    columns = columns_of(5_000, 2)
    one = al.frontier(al.Log.read(columns), budgets=[2_000])[0]
    euros = al.frontier(al.Log.read({**columns, "reward": 250 * columns["reward"]}), budgets=[2000])
    assert euros[0].value == pytest.approx(250 * one.value)
    assert euros[0].price == pytest.approx(250 * one.price)
    assert euros[0].stderr == pytest.approx(250 * one.stderr)


def test_actions_that_a_context_lacks_are_not_planned_and_warned_of() -> None:
    columns = columns_of(4_000, 4, design=[[0.5, 0.5, 0.0], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
    (point,) = al.frontier(al.Log.read(columns), budgets=[6_000])
    assert point.shares["low"]["call"] == 0.0
    assert any("never has 'call' for 'low'" in warning for warning in point.basis.warnings)


def test_points_become_rows_a_frame_a_file_and_a_figure(tmp_path: Path) -> None:
    points = al.frontier(make_log(2_000, 1), budgets=[500, 1_000])
    points.to_csv(tmp_path / "frontier.csv")
    head, *lines = (tmp_path / "frontier.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("budget,value,low,high,stderr,snips,price,spend,arrivals,rows,matches")
    assert len(lines) == 2
    assert points.to_frame()["budget"].tolist() == [500.0, 1000.0]
    assert [row["policy"] for row in points.rows] == ["doubly robust"] * 2 + ["SNIPS"] * 2
    from almoner.plots import frontier_figure

    assert len(frontier_figure(points.rows).axes[0].lines) == 2


def test_rows_have_their_own_frontier() -> None:
    rows = uplift_rows(60)
    found = al.frontier(rows, budgets=[5], runs=2)
    assert isinstance(found, al.Frontier)
    assert found.rows == rows.frontier(budgets=[5], runs=2).rows


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budgets": []}, "budgets must be a list of budgets"),
        ({"budgets": 5}, "budgets must be a list of budgets"),
        ({"budgets": [-1]}, "budgets must be at least 0"),
        ({"budgets": [5], "bootstraps": 1}, "bootstraps must be at least 2"),
        ({"budgets": [5], "runs": 3}, "runs must be given for rows only"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(al.InvalidInput, match=sentence):
        al.frontier(make_log(200, 1), **arguments)
    with pytest.raises(al.InvalidInput, match="log must be a Log"):
        al.frontier("lastmonth.csv", budgets=[5])  # type: ignore[call-overload]
    with pytest.raises(al.InvalidInput, match="bootstraps must be given for a log only"):
        al.frontier(uplift_rows(9), budgets=[5], bootstraps=9)  # type: ignore[call-overload]


def test_all_tiny_logs_of_two_rows_an_arm_keep_to_the_budget() -> None:
    for rewards in product([0.0, 1.0], repeat=4):
        log = al.Log.read(
            {"action": ["a", "", "a", ""], "reward": rewards}, context=[], design="uniform"
        )
        for point in al.frontier(log, budgets=[0, 1, 2, 4], bootstraps=2):
            assert point.spend <= point.budget + 1e-9
