"""Errors as one sentence with exit code 2, JSON without NaN, help and version."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import TEN, TWO, printed, run

import almoner
from almoner.cli import main
from almoner.problem import Problem

NOTHING_TO_GAIN = Problem(context_probs=[1], reward_means=[[0.0]], horizon=5, budget=2)


@pytest.mark.parametrize("command", ["plan", "simulate", "oracle"])
def test_undefined_figures_are_null(tmp_path: Path, command: str) -> None:
    """Without gains there is no boundary, and one run has no standard error."""
    path = tmp_path / "problem.json"
    NOTHING_TO_GAIN.to_file(path)
    options = ["--runs", "1"] if command == "simulate" else []
    figures = printed(command, str(path), *options)
    missing = {"plan": {"boundary_distance"}, "simulate": {"regret_stderr"}, "oracle": set()}
    assert {name for name, figure in figures.items() if figure is None} == missing[command]


BAD: list[tuple[list[str], str]] = [
    (["simulate", "no.toml"], "cannot read the problem file 'no.toml': No such file or directory"),
    (["oracle", "problem.yaml"], "a problem file must end in .toml or .json, got 'problem.yaml'"),
    (["plan", "scenario:paper-tow"], "got scenario='paper-tow'; did you mean 'paper-two'?"),
    (["simulate", TWO, "--policy", "ubc-alp"], "; did you mean 'ucb_alp'?"),
    (["simulate", TWO, "--budget", "3", "--rho", "0.1"], "give --budget or --rho, not both"),
    (["simulate", TWO, "--runs", "0"], "runs must be at least 1, got runs=0"),
    (["simulate", TWO, "--runs", "-3"], "runs must be at least 1, got runs=-3"),
    (["simulate", TWO, "--runs", "2.5"], "'2.5' is not a valid integer"),
    (["simulate", TWO, "--seed", "-1"], "seed must be at least 0, got seed=-1"),
    (["simulate", TWO, "--against", "fate"], "'fate' is not one of 'oracle', 'upper-bound'"),
    (["simulate", TEN, "--policy", "pb"], "Procrastinate is defined for two contexts, got 10 "),
    (["oracle", TWO, "--horizon", "0"], "horizon must be at least 1, got horizon=0"),
    (["oracle", TWO, "--budget", "-1"], "budget must be at least 0, got budget=-1.0"),
    (["oracle", TWO, "--budget", "nan"], "budget must be finite, got budget=nan"),
    (["oracle", TWO, "--rho", "-0.1"], "--rho must be at least 0, got --rho=-0.1"),
    (["oracle", TWO, "--rho", "1e308"], "--rho times the horizon must be finite"),
    (["plan", "paper-two"], "got 'paper-two'; did you mean scenario:paper-two?"),
    (["plan", "paper-tow"], "got 'paper-tow'; did you mean scenario:paper-two?"),
    (["plan", "."], "got the folder '.'; name a file in it"),
    (["plan", "nothing"], "a problem file must end in .toml or .json, got 'nothing'"),
    (["oracle"], "Missing argument 'FILE'"),
    (["forecast", TWO], "No such command 'forecast'"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD)
def test_bad_input_ends_with_code_2_and_one_sentence(arguments: list[str], sentence: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    *usage, last = result.stderr.splitlines()
    assert last.startswith("Error: ")
    assert sentence in last
    assert not [line for line in usage if line.startswith(("Error", "Traceback"))]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("horizon = [", " is not valid TOML: "),
        ("horizn = 3", ": the problem has the unknown key 'horizn'; did you mean 'horizon'?"),
        ("horizon = 3", ": the problem lacks the key 'context_probs'; add it"),
    ],
)
def test_a_bad_file_is_named_in_the_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(content)
    result = run("simulate", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {path}{sentence}")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["sweep", "reproduce"])
def test_a_folder_that_cannot_be_made_is_one_sentence(command: str, tmp_path: Path) -> None:
    path, blocked = tmp_path / "sweep.toml", tmp_path / "file"
    path.write_text(f'problems = ["{TWO}"]\npolicies = ["alp"]\n')
    blocked.touch()
    what = str(path) if command == "sweep" else "two-known"
    result = run(command, what, "--out", str(blocked / "results"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: cannot use '{blocked}/")
    assert result.stderr.endswith(": Not a directory; check the path\n")


def test_help_imports_nothing_heavy() -> None:
    """-X importtime writes a line for every module that is imported."""
    code = "from almoner.cli import main; main(prog_name='almoner')"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "almoner.cli.app" in imported
    assert {"numpy", "numba", "rich", "almoner.problem", "almoner.simulation.simulate"}.isdisjoint(
        imported
    )
    assert done.stdout.startswith("Usage: almoner [OPTIONS] COMMAND")
    for command in main.commands:
        assert f"\n  {command} " in done.stdout


def test_the_version_is_shown_and_the_lanes_that_simulations_run_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version, lanes = run("--version").stdout.splitlines()
    assert version == f"almoner, version {almoner.__version__}"
    assert re.fullmatch(r"lanes: (8 × float64|off) \(.+\)", lanes)
    monkeypatch.setenv("ALMONER_LANES", "0")
    assert run("--version").stdout.endswith("lanes: off (ALMONER_LANES=0)\n")
