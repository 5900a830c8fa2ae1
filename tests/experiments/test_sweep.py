"""A sweep is checked when built, and its cells run in a fixed order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import almoner as al
from almoner.experiments import Sweep, read_rows, run_sweep, write_rows
from almoner.experiments.rows import BUDGETS

PLAIN: dict[str, Any] = {
    "problems": ["scenario:paper-two"],
    "policies": ["alp", "ucb-alp"],
    "horizons": [50, 100],
    "ratios": [0.39, 0.4],
    "runs": 5,
}


def test_cells_come_in_order() -> None:
    cells = Sweep.from_dict(PLAIN).cells()
    assert [
        (cell.problem_name, cell.ratio, cell.policy_name, cell.problem.horizon) for cell in cells
    ] == [
        ("paper-two", ratio, policy, horizon)
        for ratio in (0.39, 0.4)
        for policy in ("alp", "ucb_alp")
        for horizon in (50, 100)
    ]
    assert [cell.problem.budget for cell in cells[:2]] == [20, 39]  # 0.39 × 50 = 19.5


def test_without_horizons_and_ratios_a_problem_keeps_its_own() -> None:
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.5]], costs=0.3, horizon=7, budget=1.1
    )
    (cell,) = Sweep(problems={"mine": problem}, policies={"mine": al.alp()}).cells()
    assert cell.problem == problem
    assert cell.ratio == problem.ratio


def test_rows_are_written_and_read_back(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    rows = run_sweep(
        Sweep.from_dict(PLAIN), tmp_path, jobs=1, progress=lambda *call: calls.append(call)
    )
    assert read_rows(tmp_path / "rows.csv") == rows
    assert len(rows) == 2 * 8
    assert calls == [(done, 8) for done in range(9)]


def test_other_columns_are_refused(tmp_path: Path) -> None:
    write_rows([], tmp_path / "rows.csv")
    with pytest.raises(al.InvalidInput, match="must have the columns version, problem"):
        read_rows(tmp_path / "rows.csv", columns=BUDGETS)


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_file_gives_the_same_sweep(tmp_path: Path, ending: str) -> None:
    al.Problem(context_probs=[0.5, 0.5], reward_means=[[0.2], [0.7]], horizon=20, budget=5).to_file(
        tmp_path / "mine.toml"
    )
    file = tmp_path / f"sweep.{ending}"
    file.write_text(
        {
            "toml": 'problems = ["mine.toml"]\npolicies = ["thrifty"]\nseed = 2\n',
            "json": '{"problems": ["mine.toml"], "policies": ["thrifty"], "seed": 2}',
        }[ending]
    )
    (cell,) = Sweep.from_file(file).cells()
    assert (cell.problem_name, cell.policy_name, cell.seed) == ("mine", "thrifty", 2)
    assert cell.problem.budget == 5


def test_a_table_names_problems_and_policies() -> None:
    sweep = Sweep.from_dict(
        {
            "problems": {"easy": "scenario:paper-two", "own": al.Problem(
                context_probs=[1], reward_means=[[0.5]], horizon=9, budget=3).to_dict()},
            "policies": {"narrow": al.ucb_alp(width=0.1).to_dict(), "plain": "ucb_alp"},
        }
    )  # fmt: skip
    assert {(cell.problem_name, cell.policy_name) for cell in sweep.cells()} == {
        (problem, policy) for problem in ("easy", "own") for policy in ("narrow", "plain")
    }
    assert sweep.policies["narrow"] == al.ucb_alp(width=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": [5]}, "unknown key 'horizon'; did you mean 'horizons'?"),
        ({"horizons": [0]}, r"horizons\[0\] must be at least 1, got horizons\[0\]=0"),
        ({"horizons": 5}, "horizons must be a list, got horizons=5"),
        ({"ratios": [0.4, 0.4]}, "ratios must be different"),
        ({"ratios": ["0.4"]}, r"ratios\[0\] must be a number"),
        ({"runs": 0}, "runs must be at least 1, got runs=0"),
        ({"policies": ["alpp"]}, "did you mean 'alp'?"),
        ({"policies": []}, "policies must be a table of at least one name"),
        ({"policies": "alp"}, "policies must be a list of names, or a table"),
        ({"policies": ["ucb_alp", "ucb-alp"]}, "policies must be different"),
        ({"problems": ["scenario:paper-three"]}, "scenario must be one of"),
        ({"problems": ["missing.toml"]}, "cannot read the problem file"),
    ],
)
def test_invalid_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(al.InvalidInput, match=message.replace("?", r"\?")):
        Sweep.from_dict(PLAIN | change)


def test_a_missing_key_is_refused() -> None:
    with pytest.raises(al.InvalidInput, match="lacks the key 'policies'"):
        Sweep.from_dict({"problems": ["scenario:paper-two"]})


def test_a_policy_that_cannot_play_is_refused_before_anything_runs(tmp_path: Path) -> None:
    sweep = Sweep.from_dict(PLAIN | {"problems": ["scenario:paper-ten"], "policies": ["alp", "pb"]})
    with pytest.raises(al.InvalidPolicy, match="two contexts"):
        run_sweep(sweep, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sweep.yaml", "", "must end in .toml or .json"),
        ("sweep.toml", "runs = ", "is not valid TOML"),
        ("sweep.json", "[]", "a sweep must be a table"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(al.InvalidInput, match=message):
        Sweep.from_file(tmp_path / name)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(al.InvalidInput, match="cannot read the sweep file"):
        Sweep.from_file("nowhere.toml")
