"""Decisions with their outcomes, in three formats that say the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from support.clock import Clock

import almoner as al
from almoner.cli import main
from almoner.live.export import COLUMNS, as_csv, decisions, export, format_of


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    with al.Agent.open(
        f"sqlite:///{tmp_path / 'shop.db'}",
        name="spring",
        contexts=["new", "old"],
        actions={"coupon": 5, "call": al.Action(cost=2, reserve=6)},
        horizon=10,
        budget=60,
        seed=3,
        clock=lambda: 1_770_000_000.25,
    ) as agent:
        yield agent


def test_a_row_holds_a_decision_and_what_became_of_it(agent: al.Agent) -> None:
    settled = agent.decide("new", available=["call"], key="visit-1")
    agent.settle(settled.id, cost=3.5)
    agent.reward(settled.id, 0.75)
    cancelled = agent.decide("old", available=["coupon"])
    agent.cancel(cancelled.id)
    held = agent.decide("old", available=["coupon"])
    skip = agent.decide("new", available=[])
    rows = list(decisions(agent))
    assert all(list(row) == list(COLUMNS) for row in rows)
    assert [row["decision"] for row in rows] == [settled.id, cancelled.id, held.id, skip.id]
    assert [row["cost"] for row in rows] == [3.5, 0.0, 5.0, 0.0]
    assert [row["reward"] for row in rows] == [0.75, None, None, None]
    assert [row["action"] for row in rows] == ["call", "coupon", "coupon", "skip"]
    assert [row["action_index"] for row in rows] == [1, 0, 0, -1]
    assert [row["settled"] for row in rows] == [True, False, False, False]
    assert [row["cancelled"] for row in rows] == [False, True, False, False]
    assert json.loads(rows[0]["available"]) == ["skip", "call"]
    assert rows[0]["time"] == "2026-02-02T02:40:00.250000+00:00"
    assert (rows[0]["key"], rows[3]["reason"]) == ("visit-1", "unavailable")
    assert [row["probability"] for row in rows] == [
        decision.probability for decision in (settled, cancelled, held, skip)
    ]


def test_rows_are_of_one_moment_though_the_log_is_read_in_pages(
    agent: al.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.export.rows.PAGE", 5)
    first = agent.decide("new")
    for visit in range(6):
        decision = agent.decide("old")
        agent.reward(decision.id, visit / 8)
        agent.settle(decision.id, cost=2)
    expected, seen = list(decisions(agent)), []
    for row in decisions(agent):
        seen.append(row)
        if len(seen) in {1, 4}:  # others write between two pages
            agent.decide("new")
            agent.reward(first.id, 1.0)
    assert seen == expected
    assert [row["reward"] for row in expected[1:]] == [visit / 8 for visit in range(6)]
    assert next(decisions(agent))["decision"] == first.id
    assert next(decisions(agent))["reward"] == 1.0


def test_the_three_formats_say_the_same(agent: al.Agent, tmp_path: Path) -> None:
    for visit in range(12):
        decision = agent.decide("new" if visit % 3 else "old")
        if visit % 2:
            agent.reward(decision.id, 0.5)
    rows = list(decisions(agent))
    for form in ("csv", "jsonl", "parquet"):
        assert export(agent, tmp_path / f"spring.{form}") == len(rows)
    assert pq.read_table(tmp_path / "spring.parquet").to_pylist() == rows
    lines = (tmp_path / "spring.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    with (tmp_path / "spring.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == [
            {name: "" if value is None else str(value) for name, value in row.items()}
            for row in rows
        ]


def test_the_command_writes_the_file(agent: al.Agent, tmp_path: Path) -> None:
    agent.decide("new")
    out, url = tmp_path / "out.csv", f"sqlite:///{tmp_path / 'shop.db'}"
    result = CliRunner().invoke(main, ["ledger", "export", url, "spring", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.output == f"1 decision of spring written to {out}\n"
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2
    assert CliRunner().invoke(main, ["ledger", "list", url]).output == "spring\n"


def exported(folder: Path, *options: str) -> Result:
    url = f"sqlite:///{folder / 'shop.db'}"
    return CliRunner().invoke(main, ["ledger", "export", url, "spring", *options])


@pytest.mark.parametrize(
    ("name", "form", "first"),
    [
        ("out.parquet", None, b"PAR1"),
        ("out.JSONL", None, b"{"),
        ("out.csv", "csv", b"decision,"),
        ("out.txt", "parquet", b"PAR1"),
    ],
)
def test_the_ending_of_the_name_is_the_format(
    agent: al.Agent, tmp_path: Path, name: str, form: str | None, first: bytes
) -> None:
    agent.decide("new")
    options = [] if form is None else ["--format", form]
    assert exported(tmp_path, "--out", str(tmp_path / name), *options).exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(first)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["out.csv", "--format", "parquet"], "format='parquet' for 'out.csv'; leave it out, or "),
        (["out.txt"], "the name of the file must end in .csv, .jsonl or .parquet, got 'out.txt'; "),
        (["no/out.parquet"], "cannot use 'no/out.parquet': No such file or directory; check "),
        (["no/out.csv"], "cannot use 'no/out.csv': No such file or directory; check the path"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_sentence(
    agent: al.Agent,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    sentence: str,
) -> None:
    agent.decide("new")
    monkeypatch.chdir(tmp_path)
    result = exported(tmp_path, "--out", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("out*"))


def test_a_dash_is_standard_output_and_nothing_else_is_written_there(
    agent: al.Agent, tmp_path: Path
) -> None:
    agent.decide("new")
    assert exported(tmp_path, "--out", "-").stdout_bytes.decode() == "".join(
        as_csv(decisions(agent))
    )
    whole = exported(tmp_path, "--out", "-", "--format", "parquet").stdout_bytes
    assert pq.read_table(pa.BufferReader(whole)).to_pylist() == list(decisions(agent))


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(al.errors.InvalidInput, match="format must be one of csv, jsonl, parquet"):
        format_of("out.csv", "xlsx")


def test_a_store_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "typo.db"
    for command in (["list"], ["verify"], ["export", "spring", "--out", "x.csv"]):
        arguments = ["ledger", command[0], f"sqlite:///{path}", *command[1:]]
        result = CliRunner().invoke(main, arguments)
        assert (result.exit_code, result.output) == (
            2,
            f"Error: there is no store '{path}'; check the path\n",
        )
    assert not path.exists()


def test_deadlines_that_have_passed_count_before_anybody_records_them(tmp_path: Path) -> None:
    clock = Clock()
    with al.Agent.open(
        f"sqlite:///{tmp_path / 'week.db'}",
        name="week",
        contexts=["new"],
        actions={
            "coupon": al.Action(cost=1, reserve=5, expires="7 days"),
            "call": al.Action(cost=2, reserve=6, expires="1 hour", on_expiry="charge"),
        },
        horizon=10,
        budget=60,
        reward_window="2 days",
        clock=clock,
    ) as agent:
        agent.reward(agent.decide("new", available=["coupon"]).id, 1.0)
        for action in ("coupon", "call"):
            agent.decide("new", available=[action])
        clock.now += 3 * 86_400
        agent.decide_many([])
        events = agent.store.last("week")
        before = list(decisions(agent))
        assert [row["reward"] for row in before] == [1.0, 0.0, 0.0]
        assert [row["expired"] for row in before] == [False, False, True]
        assert [row["cost"] for row in before] == [5.0, 5.0, 6.0]
        assert agent.store.last("week") == events
        agent.decide("new")
        assert list(decisions(agent))[:3] == before
        clock.now += 7 * 86_400
        assert [row["cost"] for row in decisions(agent)][:3] == [0.0, 0.0, 6.0]
