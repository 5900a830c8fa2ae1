"""The commands fit, frontier and replay on a log."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.logs import columns_of

import almoner as al
from almoner.cli import main


@pytest.fixture
def log(tmp_path: Path) -> str:
    columns = columns_of(3_000, 1)
    columns["noise"] = [i % 3 for i in range(3_000)]
    path = tmp_path / "log.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_fit_ranks_columns_and_writes_a_problem(log: str, tmp_path: Path) -> None:
    out = tmp_path / "shop.toml"
    done = run("fit", log, "--context", "noise,context", "--budget", "900", "--out", str(out))
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    first, second = (
        next(i for i, line in enumerate(lines) if line.startswith(f" {name} "))
        for name in ("context", "noise")
    )
    assert first < second
    assert "no difference" in lines[second]
    problem = al.Problem.from_file(out)
    assert problem.contexts == ("high", "low", "middle")
    assert run("plan", str(out)).exit_code == 0
    assert run("simulate", str(out), "--runs", "2", "--policy", "ucb_rounded").exit_code == 0


def test_a_plan_in_money_is_in_the_unit_of_the_log(tmp_path: Path) -> None:
    columns = columns_of(3_000, 1)
    plain = al.Log.read(columns).fit(budget=900)
    euros = al.Log.read({**columns, "reward": 250 * columns["reward"]}).fit(budget=900)
    found = []
    for name, problem in (("plain", plain), ("euros", euros)):
        problem.to_file(tmp_path / f"{name}.toml")
        found.append(json.loads(run("plan", str(tmp_path / f"{name}.toml"), "--json").output))
    assert found[1]["upper_bound"] == pytest.approx(250 * found[0]["upper_bound"])
    assert found[1]["price"] == pytest.approx(250 * found[0]["price"])
    for command in (["simulate", "--runs", "2"], ["oracle"]):
        notes = [
            "Rewards of 0 and 1 are 0 and 250" in run(*command, str(tmp_path / name)).output
            for name in ("plain.toml", "euros.toml")
        ]
        assert notes == [False, True]


def test_frontier_prints_points_and_draws_a_figure(log: str, tmp_path: Path) -> None:
    figure, table = tmp_path / "frontier.svg", tmp_path / "frontier.csv"
    options = ["--budget", "300", "--budget", "900", "--figure", str(figure), "--csv", str(table)]
    done = run("frontier", log, *options)
    assert done.exit_code == 0, done.output
    assert "totals over 3,000 arrivals" in done.output
    assert "It rests on 3,000 rows" in done.output
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert len(table.read_text(encoding="utf-8").splitlines()) == 3
    points = json.loads(run("frontier", log, "--budget", "900", "--json").output)
    assert points[0]["low"] < points[0]["value"] < points[0]["high"]


def test_replay_prints_each_policy(log: str) -> None:
    options = ["--policy", "thrifty", "--policy", "ucb_rounded", "--budget", "900", "--runs", "2"]
    done = run("replay", log, *options)
    assert done.exit_code == 0, done.output
    assert " thrifty rests on 3,000 rows" in done.output
    (one, _) = json.loads(run("replay", log, *options, "--json").output)
    assert one["policy"] == "thrifty"
    assert one["spend"] <= one["budget"]
    done = run("replay", log, "--budget", "900", "--horizon", "3000", "--runs", "1")
    assert "by a model" in done.output


def test_costs_and_designs_are_tables_on_the_command_line(log: str) -> None:
    options = ["--cost", "mail=1,call=3", "--budget", "900", "--json"]
    costs = json.loads(run("fit", log, *options).output)["costs"]
    assert costs == [[3.0, 1.0]] * 3
    done = run("fit", log, "--design", "mail=0.5,call=0.6,=0.1", "--budget", "9")
    assert done.exit_code == 2
    assert "design must sum to 1" in done.output
    done = run("fit", log, "--cost", "mail=one,call=3", "--budget", "9")
    assert done.exit_code == 2
    assert "--cost must be like small=1,large=3" in done.output
    done = run("frontier", log, "--context", "", "--skip", "mial", "--budget", "9")
    assert done.exit_code == 2
    assert "skip must be an action of the log" in done.output
