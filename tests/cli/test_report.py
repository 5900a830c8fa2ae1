"""The commands `almoner report` and `almoner ledger forget`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import almoner as al
from almoner.cli import main


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a campaign that works, in which a person got an action."""
    # A key under which that person is not held out.
    monkeypatch.setattr("almoner.store.sql.token_hex", lambda: "02" * 32)
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with al.Agent.open(
        url,
        name="spring",
        contexts=["new"],
        actions={"coupon": 1},
        horizon=400,
        budget=200,
        holdout=0.2,
        per_person=al.PerPerson(actions=1, every="30 days"),
        seed=1,
    ) as agent:
        made = agent.decide_many(["new"] * 300)
        agent.reward_many({decision.id: float(not decision.skipped) for decision in made})
        assert agent.decide("new", person="c-81").action == "coupon"
    return url


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


def test_a_report_in_words_and_as_json(url: str) -> None:
    code, output = run("report", url, "spring")
    assert code == 0
    assert "spring (running): 301 arrivals" in output
    assert "more in all" in output
    assert "With another budget" in output
    code, output = run("report", url, "spring", "--json")
    report = json.loads(output)
    assert (code, report["lift"]["verdict"], len(report["budgets"])) == (0, "more", 6)
    code, output = run("report", url, "sprung")
    assert (code, "did you mean 'spring'?" in output) == (2, True)


def test_a_store_is_only_read_though_deadlines_have_passed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with al.Agent.open(
        url,
        name="last week",
        contexts=["new"],
        actions={"coupon": al.Action(cost=1, reserve=5, expires="1 day")},
        horizon=40,
        budget=100,
        holdout=0.3,
        reward_window="2 days",
        seed=1,
        clock=lambda: 1_790_000_000.0,
    ) as agent:
        made = agent.decide_many(["new"] * 30)
        agent.reward(next(one for one in made if not one.skipped).id, 1.0)
    before = (tmp_path / "shop.db").read_bytes()
    code, output = run("report", url, "last week", "--json")
    report = json.loads(output)
    assert (code, report["spent"], report["planned"]) == (0, 0, 0)
    assert (report["lift"]["with_campaign"]["open"], report["lift"]["without"]["open"]) == (0, 0)
    out = tmp_path / "out.csv"
    assert run("ledger", "export", url, "last week", "--out", str(out))[0] == 0
    assert out.read_text().count("True") == sum(not decision.skipped for decision in made)
    assert (tmp_path / "shop.db").read_bytes() == before


def test_a_report_on_rewards_in_money_names_the_currency(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with al.Agent.open(
        url,
        name="spring",
        contexts=["new"],
        actions={"coupon": 1},
        horizon=400,
        budget=200,
        reward_range=(0, 350),
        currency="EUR",
        holdout=0.2,
        seed=1,
    ) as agent:
        made = agent.decide_many(["new"] * 300)
        agent.reward_many({decision.id: 200.0 * (not decision.skipped) for decision in made})
    code, output = run("report", url, "spring")
    assert code == 0
    assert re.search(r"reward [\d,]+ EUR; spent 0.0 of 200.0 EUR, [\d.]+ EUR planned", output)
    assert "a lift of " in output
    rows = [line for line in output.splitlines() if " × " in line]
    assert len(rows) == 6
    for row in rows:
        assert row.count(" EUR") == 3, row


def test_a_person_is_forgotten_and_the_ledger_still_verifies(url: str) -> None:
    assert run("ledger", "forget", url, "spring", "--person", "c-81") == (
        0,
        "1 action of that person forgotten in spring\n",
    )
    code, output = run("ledger", "forget", url, "spring", "--person", "c-81")
    assert (code, output.startswith("0 actions")) == (0, True)
    assert run("ledger", "verify", url)[0] == 0
    assert run("ledger", "forget", "sqlite:///nowhere.db", "spring", "--person", "a")[0] == 2
