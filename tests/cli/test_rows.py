"""Rows on the command line: plan and simulate, their JSON, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.commands import printed, run
from support.rows import routing_rows

import almoner as al


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write rows under the usual names of columns."""
    rows, path = routing_rows(300), tmp_path_factory.mktemp("rows") / "routing.csv"
    assert rows.scores is not None
    assert rows.features is not None
    families = {
        "reward": rows.rewards,
        "cost": rows.costs,
        "expected_cost": rows.expected_costs,
        "score": rows.scores,
    }
    columns = [f"{name}_{action}" for name in families for action in rows.actions]
    columns += [f"x{i}" for i in range(4)]
    table = np.column_stack([*families.values(), rows.features])
    lines = [",".join(columns), *(",".join(map(repr, row.tolist())) for row in table)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_a_plan_has_price_shares_and_value_against_budget(file: str) -> None:
    plan = printed("plan", file, "--budget", "800", "--features", "x*", "--runs", "3")
    rows = al.Rows.read(file)
    optimum = rows.upper_bound(800)
    assert plan["rows"] == 300
    assert plan["upper_bound"] == pytest.approx(float(optimum))
    assert plan["price"] == pytest.approx(optimum.price)
    assert plan["spend"] == pytest.approx(800)
    assert list(plan["shares"]) == ["small", "medium", "large", "skipped"]
    assert sum(plan["shares"].values()) == pytest.approx(1.0)
    assert [row["budget"] for row in plan["frontier"][::3]] == [200, 400, 800, 1600, 3200]
    assert [row["policy"] for row in plan["frontier"][:3]] == ["hindsight", "priced", "linear"]
    values = [row["reward"] for row in plan["frontier"] if row["policy"] == "hindsight"]
    assert values == sorted(values)


def test_a_plan_is_printed_as_tables_and_sentences(file: str) -> None:
    text = run("plan", file, "--budget", "800", "--runs", "3").stdout
    optimum = al.Rows.read(file).upper_bound(800)
    assert f"One more unit of budget would bring {optimum.price:.4g}." in text
    assert " In hindsight 300 rows bring at best " in text
    assert "reward per row, 3 runs" in text
    free = run("plan", file, "--budget", "1e9", "--runs", "3").stdout
    assert "More budget is of no use." in free


def test_a_plan_writes_value_against_budget_as_a_figure_and_a_table(
    file: str, tmp_path: Path
) -> None:
    figure, table = tmp_path / "frontier.svg", tmp_path / "frontier.csv"
    options = ["--budget", "300", "--runs", "2", "--features", "x*"]
    run("plan", file, *options, "--figure", str(figure), "--csv", str(table))
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    lines = table.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[1:4]] == ["hindsight", "priced", "linear"]


def test_simulated_policies_are_those_of_python(file: str) -> None:
    options = ["--rho", "6", "--runs", "4", "--seed", "2", "--default", "small", "--order", "file"]
    figures = printed("simulate", file, *options)
    rows = al.Rows.read(file, expected_costs="expected_cost_*", scores="score_*")
    result = al.simulate(
        rows, "priced", budget=1800, runs=4, seed=2, default="small", order="file"
    ).summary()
    shares = dict(zip(rows.actions, result.pop("shares"), strict=True))
    assert figures == {"policy": "priced", **result, "shares": pytest.approx(shares)}


def test_all_policies_are_those_whose_columns_are_there(file: str) -> None:
    options = ["--budget", "900", "--runs", "2", "--policy", "all"]
    names = [row["policy"] for row in printed("simulate", file, *options)]
    assert names == [name for name in al.ROW_RECIPES if name != "linear"]
    names = [row["policy"] for row in printed("simulate", file, *options, "--features", "x*")]
    assert names == list(al.ROW_RECIPES)
    text = run("simulate", file, *options).stdout
    assert "300 rows, budget 900, 2 runs (shuffle); the optimum in hindsight brings" in text
    assert "Bills beyond the budget, not paid, on average:" in text


def test_a_single_run_has_no_standard_error(file: str) -> None:
    assert printed("simulate", file, "--rho", "3", "--runs", "1")["reward_stderr"] is None
    text = run("simulate", file, "--rho", "3", "--runs", "1").stdout
    assert "nan" not in text
    assert " – " in text


def test_columns_may_have_any_names(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("a_gain,a_eur,a_guess,idle\n1,2,0.5,0.2\n0,2,0.4,0.1\n", encoding="utf-8")
    options = ["--rewards", "*_gain", "--costs", "*_eur", "--scores", "*_guess"]
    plan = printed("plan", str(path), "--budget", "2", *options, "--skip-reward", "idle")
    assert plan["upper_bound"] == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["plan", "FILE"], "on rows give --budget, or --rho as the budget per row"),
        (["plan", "FILE", "--budget", "1", "--rho", "2"], "on rows give --budget, or --rho as"),
        (["plan", "FILE", "--budget", "1", "--horizon", "5"], "--horizon is for problems: the hor"),
        (["plan", "FILE", "--budget", "1", "--figure", "a.gif"], "--figure must end in .svg, .pdf"),
        (["plan", "scenario:paper-two", "--csv", "a.csv"], "--csv is for files of rows (.csv, "),
        (["plan", "FILE", "--budget", "-1"], "--budget must be at least 0, got --budget=-1.0"),
        (["simulate", "FILE", "--budget", "1", "--against", "oracle"], "--against is for problems"),
        (["simulate", "FILE", "--budget", "1", "--policy", "thrifty"], "rows need a policy on row"),
        (["simulate", "FILE", "--budget", "1", "--policy", "linear"], "the policy decides by feat"),
        (["simulate", "scenario:paper-two", "--policy", "priced"], "contexts need a policy on con"),
        (["simulate", "scenario:paper-two", "--order", "file"], "--order is for files of rows (.c"),
        (["plan", "scenario:paper-two", "--scores", "s*"], "--scores is for files of rows (.csv, "),
        (["plan", "none.csv", "--budget", "1"], "cannot read the rows 'none.csv': No such file or"),
    ],
)
def test_what_does_not_apply_is_refused_in_one_sentence(
    command: list[str], sentence: str, file: str
) -> None:
    done = run(*(file if word == "FILE" else word for word in command))
    assert done.exit_code == 2
    assert sentence in done.stderr
