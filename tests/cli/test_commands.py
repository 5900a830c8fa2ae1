from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.problems import PAPER_TWO

import almoner
from almoner.cli import main
from almoner.problem import Problem
from almoner.scenarios import describe, scenario_names

TWO, TEN = "scenario:paper-two", "scenario:paper-ten"
SMALL = ["--runs", "3", "--horizon", "30"]
CONTRACT = [
    *("policy", "runs", "seed", "reward_mean", "spend_max"),
    *("regret_mean", "regret_stderr", "against"),
]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def printed(*arguments: str) -> Any:
    """What a successful command prints, read by a parser that takes JSON at its word."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout, parse_constant=refuse)


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


@pytest.mark.parametrize(("source", "missing"), [(TWO, set()), (TEN, {"pb", "ucb_pb"})])
def test_all_stands_for_every_recipe_that_makes_sense(source: str, missing: set[str]) -> None:
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
    told = printed("simulate", str(path), "--runs", "20")
    played = almoner.simulate(problem, almoner.thrifty(), runs=20)
    assert told == {"policy": "thrifty", **played.summary()}
    path.write_text(DEFAULTS_KNOWN.replace("true", "false"))
    assert printed("simulate", str(path), "--runs", "20")["regret_mean"] != told["regret_mean"]
    path.write_text(DEFAULTS_KNOWN.replace("true", "1"))
    result = run("simulate", str(path))
    assert (result.exit_code, result.stderr) == (
        2,
        f"Error: {path}: defaults_known must be True or False, got defaults_known=1\n",
    )


LEFTOVER = """\
context_probs = [1.0]
reward_means = [[0.5, 0.9]]
costs = [2, 3]
horizon = 10
budget = 8.5
"""


def test_money_that_no_action_can_use_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER)
    options = ["simulate", str(path), "--policy", "alp", "--policy", "skip_always", "--runs", "20"]
    rows = printed(*options)
    assert rows[0]["unusable_mean"] > 0
    assert rows[1]["unusable_mean"] == 0  # skipping leaves what could have been used
    *_, last = run(*options).stdout.splitlines()
    mean = rows[0]["unusable_mean"]
    assert last == f" Left at the end, too little for any action, on average: alp {mean:,.2f}"
    assert printed("plan", str(path))["unusable"] == 0.5
    sentence = " 0.50 can never be spent: costs are multiples of 1."
    assert sentence in run("plan", str(path)).stdout.splitlines()
    path.write_text(LEFTOVER.replace("8.5", "9").replace("[2, 3]", "[3, 3]"))
    assert "too little" not in run(*options).stdout
    assert "can never be spent" not in run("plan", str(path)).stdout
    assert printed("plan", str(path))["unusable"] == 0


def told(path: Path) -> list[str]:
    """The sentences below the table of a plan."""
    return [line.strip() for line in run("plan", str(path)).stdout.split("\n\n")[1].splitlines()]


def test_a_plan_spends_what_can_be_spent(tmp_path: Path) -> None:
    """Of 8.5 one can spend 8 at costs 2 and 3, which bring 0.25 and 0.3 a unit: 8 · 0.3."""
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER)
    assert told(path)[:2] == [
        "It brings at most 2.4 in 10 rounds, 2.4 of it thanks to the budget.",
        "It spends 8.0 on average, of the 8.0 that can be spent.",
    ]
    assert printed("plan", str(path))["upper_bound"] == pytest.approx(2.4)


def test_a_plan_that_can_afford_nothing_says_so(tmp_path: Path) -> None:
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER.replace("8.5", "1.5") + "default_rewards = 0.25\n")
    assert told(path) == [
        "Nothing can be afforded: the cheapest action costs 2, and the budget is 1.5.",
        "To skip everybody brings 2.5 in 10 rounds.",
    ]
    plan = printed("plan", str(path))
    assert (plan["unusable"], plan["upper_bound"], plan["price"]) == (1.5, 2.5, 0)
    assert plan["probabilities"] == [[0, 0]]


def test_a_plan_leaves_out_what_is_dearer_than_the_budget(tmp_path: Path) -> None:
    """With 2 units the action at cost 3, better though it is, can never be taken."""
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER.replace("8.5", "2"))
    assert told(path) == [
        "It brings at most 0.5 in 10 rounds, 0.5 of it thanks to the budget.",
        "It spends 2.0 of 2.0.",
        "Left out, because dearer than the whole budget: action 2.",
        "One more unit of budget would bring 0.25.",
    ]


def test_a_huge_budget_is_written_in_short() -> None:
    assert " It spends 10,000.0 of 1e+300.\n" in run("plan", TWO, "--budget", "1e300").stdout


def test_one_of_something_is_not_several() -> None:
    """One run has no standard error."""
    table = run("simulate", TWO, "--runs", "1", "--horizon", "1", "--budget", "1").stdout
    assert " 1 round, budget 1, 1 run; " in table
    assert "nan" not in table
    assert " in 1 round, " in run("plan", TWO, "--horizon", "1").stdout


def test_regret_is_measured_from_what_was_asked_for() -> None:
    """The upper bound lies above the optimum, so the same runs regret more against it."""
    options = ["simulate", TWO, "--policy", "pb", *SMALL]
    oracle, bound = printed(*options), printed(*options, "--against", "upper-bound")
    assert (oracle["against"], bound["against"]) == ("oracle", "upper bound")
    figures = printed("oracle", TWO, "--horizon", "30")
    floor = figures["upper_bound"] - figures["optimal_value"]
    assert floor > 0.1
    assert bound["regret_mean"] - oracle["regret_mean"] == pytest.approx(floor)


@pytest.mark.parametrize(
    ("options", "upper_bound"),
    [
        (["--horizon", "100"], 32),
        (["--horizon", "100", "--rho", "0.39"], 31.2),
        (["--horizon", "100", "--budget", "41"], 32.4),
        (["--rho", "0.41"], 3240),
        (["--budget", "3900"], 3120),
        ([], 3200),
    ],
)
def test_options_override_what_the_file_says(options: list[str], upper_bound: float) -> None:
    """The better context, 40 % of arrivals, brings 0.8 a unit of budget, the other 0.4.

    10,000 rounds with a budget of 4,000 unless told otherwise; a new horizon keeps the ratio.
    """
    figures = printed("oracle", TWO, *options)
    assert figures["upper_bound"] == pytest.approx(upper_bound)
    assert figures["optimal_value"] < figures["upper_bound"]


def test_a_file_stands_for_the_problem_in_it(tmp_path: Path) -> None:
    problem = PAPER_TWO(50, 0.39).replace(reward_spread=0.5)
    for path in (tmp_path / "problem.toml", tmp_path / "problem.json"):
        problem.to_file(path)
        row = printed("simulate", str(path), "--policy", "alp", "--runs", "3")
        assert row == {
            "policy": "alp",
            **almoner.simulate(problem, almoner.alp(), runs=3).summary(),
        }


def test_plan_prints_the_solution_of_the_allocation_problem() -> None:
    """At ρ = 0.5 the better context (40 %) is always served, and 0.1/0.6 of the other."""
    plan = printed("plan", TWO, "--horizon", "100", "--rho", "0.5")
    assert plan["probabilities"][0] == pytest.approx([0, 0, 1])
    assert plan["probabilities"][1] == pytest.approx([0, 0, 1 / 6])
    assert plan["upper_bound"] == pytest.approx(36)
    assert plan["price"] == pytest.approx(0.4)
    assert plan["boundaries"] == pytest.approx([0.4, 1])


def test_plan_shows_the_shares_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "named.toml"
    PAPER_TWO(100, 0.5).replace(contexts=["loyal", "new"], actions=["a", "b", "c"]).to_file(path)
    result = run("plan", str(path))
    assert result.exit_code == 0
    rows = {words[0]: words[1:] for line in result.stdout.splitlines() if (words := line.split())}
    assert rows["loyal"] == ["40.0", "%", "–", "–", "100.0", "%", "–"]
    assert rows["new"] == ["60.0", "%", "–", "–", "16.7", "%", "83.3", "%"]


NOTHING_TO_GAIN = Problem(context_probs=[1], reward_means=[[0.0]], horizon=5, budget=2)


@pytest.mark.parametrize("command", ["plan", "simulate", "oracle"])
def test_figures_that_do_not_exist_are_null(tmp_path: Path, command: str) -> None:
    """There is no boundary to be near to, and one run has no standard error."""
    path = tmp_path / "problem.json"
    NOTHING_TO_GAIN.to_file(path)
    options = ["--runs", "1"] if command == "simulate" else []
    figures = printed(command, str(path), *options)
    missing = {"plan": {"boundary_distance"}, "simulate": {"regret_stderr"}, "oracle": set()}
    assert {name for name, figure in figures.items() if figure is None} == missing[command]


def test_simulate_shows_a_table_with_a_row_per_policy() -> None:
    options = ["simulate", TWO, "--policy", "pb", "--policy", "thrifty", *SMALL]
    result = run(*options)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = {words[0]: words[1:] for line in result.stdout.splitlines() if (words := line.split())}
    for row in printed(*options):
        figures = [row["regret_mean"], row["regret_stderr"], row["reward_mean"], row["spend_max"]]
        assert set(rows[row["policy"]]) >= {f"{figure:,.2f}" for figure in figures}
    assert rows["30"][:4] == ["rounds,", "budget", "12,", "3"]


def test_oracle_shows_the_optimum_and_the_bound() -> None:
    result = run("oracle", TWO)
    optimum = almoner.optimal_value(PAPER_TWO(10_000, 0.4))
    assert result.exit_code == 0
    assert f"{optimum:,.3f}" in result.stdout
    assert "3,200.000" in result.stdout


def test_scenarios_lists_every_scenario_with_what_it_is() -> None:
    result = run("scenarios")
    assert result.exit_code == 0
    words = result.stdout.split()
    for name in scenario_names():
        assert name in words
        assert describe(name).about.split()[0] in words


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_can_be_planned(name: str) -> None:
    assert printed("plan", f"scenario:{name}")["upper_bound"] > 0


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


def test_help_waits_for_nothing_heavy() -> None:
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


def test_the_version_is_shown() -> None:
    assert run("--version").stdout == f"almoner, version {almoner.__version__}\n"
