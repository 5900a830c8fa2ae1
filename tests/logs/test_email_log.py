"""A randomised e-mail log of 64,000 rows, in the columns of the Hillstrom test and with noise."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.hillstrom import COLUMNS, NOISE, TELLING, world, write_hillstrom

import almoner as al
from almoner.cli import main

RATIOS = (0.1, 0.3, 0.6)

EVERY_COLUMN = [*COLUMNS[:8], *NOISE]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hillstrom(tmp_path_factory.mktemp("log") / "hillstrom.csv")


def read(path: Path, context: list[str]) -> al.Log:
    return al.Log.read(
        path,
        context=context,
        action="segment",
        reward="visit",
        skip="No E-Mail",
        design="uniform",
    )


@pytest.fixture(scope="module")
def log(path: Path) -> al.Log:
    return read(path, ["history_segment", "newbie"])


@pytest.mark.parametrize("ratio", RATIOS)
def test_frontier_replay_model_and_truth_agree(log: al.Log, ratio: float) -> None:
    """Two standard errors of the difference between estimates, three from the truth."""
    assert len(log.contexts) == 11
    budget, truth = ratio * len(log), al.solve(world(), ratio=ratio).value
    [point] = al.frontier(log, budgets=[budget])
    assert abs(point.snips - point.value) < 0.5 * point.stderr
    replayed = al.replay(log, "rounded", budget=budget, runs=5)
    model = al.replay(log, "rounded", budget=budget, horizon=len(log), runs=2)
    assert abs(point.per_arrival - truth) < 3 * point.stderr / len(log)
    for other in (replayed, model):
        error = math.hypot(point.stderr / len(log), other.stderr / other.horizon)
        assert abs(point.per_arrival - other.per_arrival) < 2 * error
        assert abs(other.per_arrival - truth) < 3 * other.stderr / other.horizon


@pytest.mark.parametrize("budget", [6_400, 19_200, 38_400])
def test_columns_that_tell_rank_before_all_others(path: Path, budget: int) -> None:
    fit = read(path, [*NOISE, *EVERY_COLUMN[:8]]).fit(budget=budget).fit
    assert fit is not None
    single = [split for split in fit.splits if len(split.columns) == 1]
    assert {split.columns[0] for split in single[:3]} == set(TELLING)
    assert all(split.difference > 10 for split in single[:3])
    assert all(split.difference < 4 for split in single[3:])
    assert not any(split.is_worth_it for split in single[3:])


def test_the_commands_of_a_newcomer(path: Path, tmp_path: Path) -> None:
    columns = ["--action", "segment", "--reward", "visit", "--design", "uniform"]
    columns += ["--skip", "No E-Mail"]
    shop, figure = str(tmp_path / "shop.toml"), str(tmp_path / "frontier.svg")
    every, log = ",".join(EVERY_COLUMN), str(path)
    runs = [
        ["fit", log, "--context", "history_segment,newbie", *columns, "--budget", "16000"],
        ["fit", log, "--context", every, *columns, "--budget", "16000", "--out", shop],
        ["frontier", log, "--context", "newbie,history", *columns, "--budget", "6400"],
        ["frontier", log, "--context", "newbie", *columns, "--budget", "6", "--figure", figure],
        ["replay", log, "--context", "newbie", *columns, "--policy", "rounded", "--budget", "6400"],
        ["plan", shop],
    ]
    for arguments in runs:
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
    assert Path(figure).stat().st_size > 1_000
    lacking = CliRunner().invoke(main, ["fit", str(path), *columns, "--budget", "1"])
    assert "name them with --context …" in lacking.output
