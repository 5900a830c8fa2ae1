"""The plan that is printed: shares, spend, unusable budget, boundaries."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import TWO, printed, run
from support.problems import PAPER_TWO

from almoner.scenarios import scenario_names

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
    line = " 0.50 can never be spent: costs are multiples of 1."
    assert line in run("plan", str(path)).stdout.splitlines()
    path.write_text(LEFTOVER.replace("8.5", "9").replace("[2, 3]", "[3, 3]"))
    assert "too little" not in run(*options).stdout
    assert "can never be spent" not in run("plan", str(path)).stdout
    assert printed("plan", str(path))["unusable"] == 0


def sentences(path: Path) -> list[str]:
    """Return the sentences below the table of a plan."""
    return [line.strip() for line in run("plan", str(path)).stdout.split("\n\n")[1].splitlines()]


def test_a_plan_spends_what_can_be_spent(tmp_path: Path) -> None:
    """Of 8.5 one can spend 8 at costs 2 and 3, which bring 0.25 and 0.3 a unit: 8 · 0.3."""
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER)
    assert sentences(path)[:2] == [
        "It brings at most 2.4 in 10 rounds, 2.4 of it thanks to the budget.",
        "It spends 8.0 on average, of the 8.0 that can be spent.",
    ]
    assert printed("plan", str(path))["upper_bound"] == pytest.approx(2.4)


def test_a_plan_that_can_afford_nothing_says_so(tmp_path: Path) -> None:
    path = tmp_path / "leftover.toml"
    path.write_text(LEFTOVER.replace("8.5", "1.5") + "default_rewards = 0.25\n")
    assert sentences(path) == [
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
    assert sentences(path) == [
        "It brings at most 0.5 in 10 rounds, 0.5 of it thanks to the budget.",
        "It spends 2.0 of 2.0.",
        "Left out, because dearer than the whole budget: action 2.",
        "One more unit of budget would bring 0.25.",
    ]


def test_a_huge_budget_is_written_in_short() -> None:
    assert " It spends 10,000.0 of 1e+300.\n" in run("plan", TWO, "--budget", "1e300").stdout


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


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_can_be_planned(name: str) -> None:
    assert printed("plan", f"scenario:{name}")["upper_bound"] > 0
