"""The rows and the table that `almoner simulate` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import TEN, TWO, printed, run
from support.problems import PAPER_TWO

import almoner
from almoner.problem import Problem

SMALL = ["--runs", "3", "--horizon", "30"]
CONTRACT = [
    *("policy", "runs", "seed", "reward_mean", "spend_max"),
    *("regret_mean", "regret_stderr", "against"),
]


def test_simulate_prints_one_object_for_one_policy_with_the_fields_of_the_contract() -> None:
    row = printed(
        "simulate", TWO, "--policy", "ucb-alp", "--runs", "20", "--horizon", "200", "--seed", "7"
    )
    assert set(CONTRACT) <= set(row)
    assert row["policy"] == "ucb_alp"
    played = almoner.simulate(PAPER_TWO(200, 0.4), almoner.ucb_alp(), runs=20, seed=7)
    assert row == {"policy": "ucb_alp", **played.summary()}
    assert row["spend_max"] <= 80


def test_simulate_prints_an_array_for_several_policies_in_the_order_asked_for() -> None:
    rows = printed("simulate", TWO, "--policy", "ucb_pb", "--policy", "alp", *SMALL)
    assert [row["policy"] for row in rows] == ["ucb_pb", "alp"]
    assert rows[1] == printed("simulate", TWO, "--policy", "alp", *SMALL)


def test_simulate_plays_the_default_policy_where_none_is_named() -> None:
    assert printed("simulate", TWO, *SMALL)["policy"] == "thrifty"


def test_a_recipe_may_have_arguments() -> None:
    rows = printed("simulate", TWO, "--policy", "thrifty(caution=0)", "--policy", "thrifty", *SMALL)
    assert [row["policy"] for row in rows] == ["thrifty(caution=0)", "thrifty"]
    horizon = PAPER_TWO(30, 0.4)
    played = almoner.simulate(horizon, almoner.thrifty(caution=0), runs=3)
    assert rows[0] == {"policy": "thrifty(caution=0)", **played.summary()}


@pytest.mark.parametrize(("source", "missing"), [(TWO, set()), (TEN, {"pb", "ucb_pb"})])
def test_all_is_every_applicable_recipe(source: str, missing: set[str]) -> None:
    result = run("simulate", source, "--policy", "all", *SMALL, "--json")
    assert result.exit_code == 0
    assert [row["policy"] for row in json.loads(result.stdout)] == [
        name for name in almoner.RECIPES if name not in missing
    ]
    assert result.stderr.startswith("Warning: epsilon_first_alp: ")  # 3 rounds are too few


@pytest.mark.parametrize("against", [[], ["--against", "oracle"]])
def test_the_exact_oracle_is_computed_once_for_all_policies(
    against: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Problem] = []

    def counted(problem: Problem) -> float:
        calls.append(problem)
        return almoner.optimal_value(problem)

    monkeypatch.setattr("almoner.simulation.regret.optimal_value", counted)
    rows = json.loads(run("simulate", TWO, "--policy", "all", *SMALL, *against, "--json").stdout)
    assert len(calls) == 1
    problem = PAPER_TWO(30, 0.4)
    alone = almoner.simulate(problem, almoner.thrifty(), runs=3)
    assert {"policy": "thrifty", **alone.summary()} in rows


def test_a_policy_that_is_named_twice_is_played_once() -> None:
    names = ["--policy", "ucb-alp", "--policy", "all", "--policy", "thrifty", "--policy", "ucb_alp"]
    result = run("simulate", TWO, *names, "--runs", "1", "--horizon", "5", "--json")
    played = [row["policy"] for row in json.loads(result.stdout)]
    assert played == ["ucb_alp", *(name for name in almoner.RECIPES if name != "ucb_alp")]


def test_a_pair_left_untried_is_one_line_on_stderr_beside_the_table() -> None:
    result = run("simulate", TWO, "--policy", "epsilon_first_alp", "--policy", "alp", *SMALL)
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: epsilon_first_alp: in 3 of 3 runs exploration ended with a pair untried, which "
        "then counts as 1; explore for more rounds, or raise the cap\n"
    )
    assert "Warning" not in result.stdout
    assert " alp " in result.stdout


DEFAULTS_KNOWN = """\
context_probs = [0.4, 0.3, 0.3]
reward_means = [[0.5, 0.45], [0.4, 0.3], [0.3, 0.35]]
default_rewards = [0.6, 0.1, 0.1]
defaults_known = true
horizon = 300
budget = 240
"""


def test_a_file_may_say_that_the_default_rewards_are_known(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(DEFAULTS_KNOWN)
    problem = Problem.from_file(path)
    assert problem.defaults_known
    row = printed("simulate", str(path), "--runs", "20")
    played = almoner.simulate(problem, almoner.thrifty(), runs=20)
    assert row == {"policy": "thrifty", **played.summary()}
    path.write_text(DEFAULTS_KNOWN.replace("true", "false"))
    assert printed("simulate", str(path), "--runs", "20")["regret_mean"] != row["regret_mean"]
    path.write_text(DEFAULTS_KNOWN.replace("true", "1"))
    result = run("simulate", str(path))
    assert (result.exit_code, result.stderr) == (
        2,
        f"Error: {path}: defaults_known must be True or False, got defaults_known=1\n",
    )


def test_a_count_of_one_has_a_singular_noun() -> None:
    """One run has no standard error."""
    table = run("simulate", TWO, "--runs", "1", "--horizon", "1", "--budget", "1").stdout
    assert " 1 round, budget 1, 1 run; " in table
    assert "nan" not in table
    assert " in 1 round, " in run("plan", TWO, "--horizon", "1").stdout


def test_regret_is_measured_from_the_benchmark_of_the_option() -> None:
    """The upper bound lies above the optimum, so the same runs regret more against it."""
    options = ["simulate", TWO, "--policy", "pb", *SMALL]
    oracle, bound = printed(*options), printed(*options, "--against", "upper-bound")
    assert (oracle["against"], bound["against"]) == ("oracle", "upper bound")
    figures = printed("oracle", TWO, "--horizon", "30")
    floor = figures["upper_bound"] - figures["optimal_value"]
    assert floor > 0.1
    assert bound["regret_mean"] - oracle["regret_mean"] == pytest.approx(floor)


def test_a_file_stands_for_the_problem_in_it(tmp_path: Path) -> None:
    problem = PAPER_TWO(50, 0.39).replace(reward_spread=0.5)
    for path in (tmp_path / "problem.toml", tmp_path / "problem.json"):
        problem.to_file(path)
        row = printed("simulate", str(path), "--policy", "alp", "--runs", "3")
        assert row == {
            "policy": "alp",
            **almoner.simulate(problem, almoner.alp(), runs=3).summary(),
        }


def test_simulate_shows_a_table_with_a_row_per_policy() -> None:
    options = ["simulate", TWO, "--policy", "pb", "--policy", "thrifty", *SMALL]
    result = run(*options)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = {words[0]: words[1:] for line in result.stdout.splitlines() if (words := line.split())}
    for row in printed(*options):
        figures = [row["regret_mean"], row["regret_stderr"], row["reward_mean"], row["spend_max"]]
        assert set(rows[row["policy"]]) >= {f"{figure:,.2f}" for figure in figures}
    assert rows["30"][:4] == ["rounds,", "budget", "12,", "3"]


def test_tables_are_written_to_files(tmp_path: Path) -> None:
    files = ["--csv", str(tmp_path / "a.csv"), "--latex", str(tmp_path / "a.tex")]
    options = ["--horizon", "200", "--policy", "UCB-ALP", "--policy", "Thompson", "--runs", "5"]
    assert run("simulate", TWO, *options, *files).exit_code == 0
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].startswith("policy,runs,seed,reward_mean")
    assert [line.split(",")[0] for line in lines[1:]] == ["ucb_alp", "thompson_rounded"]
    latex = (tmp_path / "a.tex").read_text()
    assert latex.startswith(r"\begin{tabular}{lrrrrrr}")
    assert r"ucb\_alp & " in latex
