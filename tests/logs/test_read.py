"""Reading of logs: columns by name or alias, skips, designs, and the refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.logs import columns_of

import almoner as al
from almoner.live.export import export

FOUR: dict[str, Any] = {
    "context": ["new", "new", "old", "old"],
    "action": ["coupon", "", "coupon", ""],
    "reward": [1.0, 0.0, 1.0, 1.0],
    "probability": [0.5, 0.5, 0.5, 0.5],
}


def write(path: Path, columns: dict[str, Any]) -> Path:
    """Write columns as CSV, JSONL or Parquet, by the ending of the path."""
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *rows])
    elif path.suffix == ".jsonl":
        records = (dict(zip(names, row, strict=True)) for row in rows)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    else:
        pd.DataFrame(columns).to_parquet(path)
    return path


class Exchanged:
    """A data frame of which only the interchange protocol is known."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dataframe__(self, *arguments: Any, **more: Any) -> Any:
        return self._frame.__dataframe__(*arguments, **more)


class Streamed:
    """A table of which only the Arrow stream is known."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "kind",
    ["csv", "jsonl", "parquet", "mapping", "pandas", "polars", "arrow", "stream", "exchange"],
)
def test_every_source_gives_the_same_log(kind: str, tmp_path: Path) -> None:
    make: dict[str, Any] = {
        "mapping": dict,
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "arrow": pa.table,
        "stream": lambda columns: Streamed(pa.table(columns)),
        "exchange": lambda columns: Exchanged(pa.table(columns)),
    }
    source = make[kind](FOUR) if kind in make else write(tmp_path / f"log.{kind}", FOUR)
    log = al.Log.read(source)
    assert log.actions == ("coupon",)
    assert log.contexts == ("new", "old")
    assert log.taken.tolist() == [0, -1, 0, -1]
    assert log.cells.codes.tolist() == [0, 0, 1, 1]
    assert log.rewards.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert log.costs.tolist() == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("name", ["pscore", "action_prob", "propensity_score", "propensity"])
def test_probabilities_are_found_by_their_usual_names(name: str) -> None:
    columns = dict(FOUR)
    columns[name] = columns.pop("probability")
    assert al.Log.read(columns).probabilities.tolist() == [0.5] * 4


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_our_own_export_is_read_and_replayed_unchanged(form: str, tmp_path: Path) -> None:
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=["new", "=old"],  # CSV escapes it
        actions={"coupon": 5, "gift": 9.5},
        horizon=600,
        budget=2000,
        explore=0.6,
        reward_range=(0, 50),
    )
    draws = np.random.default_rng(1)
    for i in range(600):
        decision = agent.decide(["new", "=old"][i % 2])
        if decision.action is not None and draws.random() < 0.4:
            agent.reward(decision.id, 20.0)
    path = tmp_path / f"spring.{form}"
    export(agent, path)
    log = al.Log.read(path)
    assert log.contexts == ("=old", "new")
    assert log.actions == ("coupon", "gift")
    assert log.skip_reward == 0.0
    assert log.reward_range == (0.0, 20.0)
    assert set(log.costs) == {0.0, 5.0, 9.5}
    result = al.replay(log, al.thrifty(), budget=2000, runs=2)
    assert 0 < result.spend <= result.budget == pytest.approx(2000 * result.horizon / 600)


def test_a_named_action_is_skipping() -> None:
    columns = {**FOUR, "action": ["a", "none", "a", "none"]}
    assert al.Log.read(columns, skip="none").taken.tolist() == [0, -1, 0, -1]


def test_numbers_are_cut_at_quartiles_and_few_numbers_are_not() -> None:
    columns = {
        "age": list(range(100)),
        "children": [0, 1] * 50,
        "action": ["a", ""] * 50,
        "reward": [1.0] * 100,
    }
    log = al.Log.read(columns, context=["age"], design="uniform")
    assert log.contexts == ("age < 24", "age 24 to 49", "age 49 to 74", "age ≥ 74")
    assert np.bincount(log.cells.codes).tolist() == [24, 25, 25, 26]
    both = al.Log.read(columns, context=["age", "children"], design="uniform").by("age", "children")
    assert both.contexts[:2] == ("age < 24, children=0", "age < 24, children=1")


def test_rare_texts_are_one_context() -> None:
    columns = {
        "zip": [str(i % 10) + "x" if i < 900 else f"rare {i}" for i in range(1000)],
        "action": ["a", ""] * 500,
        "reward": [1.0] * 1000,
    }
    log = al.Log.read(columns, context="zip", design="uniform")
    assert len(log.contexts) == 50
    assert "other" in log.contexts


def test_rows_are_sorted_by_time() -> None:
    times = ["2026-03-02 09:00", "2026-03-01 09:00", "2026-03-03 09:00", "2026-03-01 08:00"]
    log = al.Log.read({**FOUR, "time": times})
    assert log.taken.tolist() == [-1, -1, 0, 0]
    assert log.rewards.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert log.cells.codes.tolist() == [1, 0, 0, 1]
    assert al.Log.read({**FOUR, "time": [3, 2, 1, 0]}).rewards.tolist() == [1.0, 1.0, 0.0, 1.0]


def test_an_empty_reward_is_none_and_noted() -> None:
    log = al.Log.read({**FOUR, "reward": [1.0, None, 1.0, ""]})
    assert log.rewards.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert log.notes == ("2 rows without a reward count as 0",)


def test_costs_come_from_a_column_a_table_or_one_number() -> None:
    assert al.Log.read({**FOUR, "cost": [2, 0, 3, 0]}).costs.tolist() == [2.0, 0.0, 3.0, 0.0]
    assert al.Log.read(FOUR, cost={"coupon": 4}).costs.tolist() == [4.0, 0.0, 4.0, 0.0]
    every = {"coupon": 4, "none": 0}  # may have the action that is skipping, at no cost
    named = {**FOUR, "action": ["coupon", "none"] * 2}
    assert al.Log.read(named, skip="none", cost=every).costs.tolist() == [4.0, 0.0, 4.0, 0.0]
    assert al.Log.read(FOUR, cost=2.5).costs.tolist() == [2.5, 0.0, 2.5, 0.0]


def test_a_design_takes_the_place_of_probabilities() -> None:
    columns = {name: values * 50 for name, values in FOUR.items() if name != "probability"}
    assert set(al.Log.read(columns, design="uniform").probabilities) == {0.5}
    log = al.Log.read(columns, design={"coupon": 0.48, "": 0.52})
    assert log.probabilities[:2].tolist() == [0.48, 0.52]


@pytest.mark.parametrize(
    ("changes", "arguments", "sentence"),
    [
        ({"probability": None}, {}, "a log needs the probability of each action"),
        ({"probability": [0.5, 0.0, 0.5, 0.5]}, {}, "the probability in row 2 must be greater tha"),
        ({"probability": [0.5, 1.5, 0.5, 0.5]}, {}, "the probability in row 2 must be greater tha"),
        ({"probability": None}, {"design": "unifrm"}, "did you mean 'uniform'"),
        ({"probability": None}, {"design": {"coupon": 0.5}}, "design .*"),
        ({"probability": None}, {"design": {"coupon": 0.5, "": 0.4}}, "design must sum to 1"),
        ({"action": None}, {}, "a log needs a column of the action"),
        ({"reward": None}, {}, "a log needs a column of the reward"),
        ({"reward": [1, "much", 1, 1]}, {}, "column 'reward' must hold finite numbers, got 'much'"),
        ({"context": None}, {}, "name them with context="),
        ({}, {"context": ["contex"]}, "did you mean 'context'"),
        ({}, {"context": ["context", "context"]}, "context must be different columns"),
        ({}, {"skip": "none"}, "skip must be an action of the log"),
        ({"action": ["", "", "", ""]}, {}, "all of its 4 rows are skips"),
        ({"cost": [1, 2, 1, 0]}, {}, "cost in row 2 must be 0 where nothing was done"),
        ({"cost": [-1, 0, 1, 0]}, {}, "cost in row 1 must be at least 0"),
        ({}, {"cost": {"cupon": 1}}, "unknown key 'cupon'"),
        ({}, {"cost": {"coupon": 1, "": 2}}, "the cost of '' must be 0, as it is skipping, got"),
        ({}, {"context": ["context", "reward"]}, "'reward' is the column of the reward; leave it"),
        ({}, {"context": "action"}, "context must be known before the action, and 'action' is the"),
        ({"time": ["Monday", "Tuesday", "Friday", "Sunday"]}, {}, "time must be numbers, or times"),
        ({}, {"skip_reward": "none"}, "skip_reward must be a number"),
    ],
)
def test_bad_logs_are_refused(
    changes: dict[str, Any], arguments: dict[str, Any], sentence: str
) -> None:
    columns = {name: value for name, value in {**FOUR, **changes}.items() if value is not None}
    with pytest.raises(al.InvalidInput, match=sentence):
        al.Log.read(columns, **arguments)


def test_probabilities_that_contradict_the_actions_are_refused() -> None:
    columns = columns_of(4000, 1)
    columns["propensity"] = columns["propensity"] / 2
    with pytest.raises(al.InvalidInput, match="probabilities must fit how often actions were tak"):
        al.Log.read(columns)
    del columns["propensity"]
    with pytest.raises(al.InvalidInput, match="probabilities must fit how often actions were tak"):
        al.Log.read({**columns, "action": ["a"] * 3600 + [""] * 400, "cost": 0}, design="uniform")


def test_missing_overlap_is_noted() -> None:
    columns = {name: list(values) * 300 for name, values in FOUR.items()}
    columns["action"] = [
        "" if context == "old" else action
        for context, action in zip(columns["context"], columns["action"], strict=True)
    ]
    columns["probability"] = [1.0 if context == "old" else 0.5 for context in columns["context"]]
    (note,) = al.Log.read(columns).notes
    assert note.startswith("overlap is missing: 'coupon' could be taken in about 50 % of the rows")


def test_a_frame_that_is_not_computed_is_refused() -> None:
    with pytest.raises(al.InvalidInput, match="in memory, got a LazyFrame; give what its collect"):
        al.Log.read(pl.DataFrame(FOUR).lazy())


def test_files_of_other_programs_are_read(tmp_path: Path) -> None:
    """Semicolons, tabs, spaces after commas, byte-order marks, capitals, yes and no, NA."""
    rows = [["Segment", "Action", "Reward", "PScore"], ["a", "x", "True", "0.5"]]
    rows += [["b", "", "False", "0.5"], ["a", "x", "NA", "0.5"], ["b", "", "nan", "0.5"]]
    for name, separator, encoding in (
        ("semicolon.csv", ";", "utf-8"),
        ("tab.tsv", "\t", "utf-8"),
        ("SPACES.CSV", ", ", "utf-8"),
        ("mark.csv", ",", "utf-8-sig"),
    ):
        path = tmp_path / name
        path.write_text("\n".join(map(separator.join, rows)), encoding=encoding)
        log = al.Log.read(path)
        assert log.taken.tolist() == [0, -1, 0, -1]
        assert log.rewards.tolist() == [1.0, 0.0, 0.0, 0.0]
        assert log.notes == ("2 rows without a reward count as 0",)
        assert log.contexts == ("a", "b")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"cost": [None, 0, 3, 0]},
            "cost in row 1 must be given where something was done, got not",
        ),
        (
            {"cost": ["NA", 0, 3, 0]},
            "cost in row 1 must be given where something was done, got not",
        ),
        ({"cost": [-2, 0, 3, 0]}, "cost in row 1 must be at least 0, got -2; correct the row"),
        ({"cost": [1e200, 0, 3, 0]}, "costs must be at most 1e.100 in size"),
        ({"reward": [1e300, 0, 3, 0]}, "rewards must be at most 1e.100 in size"),
        ({"reward": ["0,5", 0, 3, 0]}, "got '0,5' in row 1; write plain numbers"),
        ({"action": ["x", "NaN", "x", "NaN"]}, "'NaN' is how programs write an empty cell; give"),
        ({"probability": [1e-12, 0.5, 0.5, 0.5]}, "probability in row 1 must be at least 1e-09, "),
        ({"probability": [0.0, 0.5, 0.5, 0.5]}, "greater than 0 and at most 1, got 0; give"),
    ],
)
def test_what_would_be_misread_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(al.InvalidInput, match=sentence):
        al.Log.read({**FOUR, **changes})


def test_a_log_without_chance_is_refused_unless_skipping_is_known() -> None:
    columns = {**FOUR, "action": ["a", "", "a", ""], "probability": [1.0] * 4}
    log = al.Log.read(columns)
    with pytest.raises(al.InvalidInput, match="a frontier needs actions that were drawn at random"):
        al.frontier(log, budgets=[1])
    with pytest.raises(al.InvalidInput, match="a fit needs actions that were drawn at random"):
        log.fit(budget=1)
    known = al.Log.read(columns, skip_reward=0)
    assert 0.0 <= al.frontier(known, budgets=[1])[0].value <= 4.0


def test_a_log_is_simulated_as_the_problem_fitted_to_it() -> None:
    log = al.Log.read(columns_of(2_000, 3))
    runs = al.simulate(log, "rounded", budget=600, runs=4, seed=2)
    other = al.simulate(log.fit(budget=600), "rounded", runs=4, seed=2)
    assert runs.reward.values.tolist() == other.reward.values.tolist()
    assert runs.problem.contexts == log.contexts
    assert len(al.trace(log, "rounded", budget=600, seed=2).actions) == 2_000
    with pytest.raises(al.InvalidInput, match="logs have no budget of their own; give budget="):
        al.simulate(log, "rounded")
    with pytest.raises(al.InvalidInput, match="terms must be left out on a log"):
        al.simulate(log, "rounded", budget=3, terms=runs.problem)  # type: ignore[call-overload]


def test_rewards_of_a_hold_out_say_what_skipping_brings(tmp_path: Path) -> None:
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=["all"],
        actions={"mail": 1},
        horizon=2_000,
        budget=1_000,
        holdout=0.2,
        explore=0.4,
        seed=1,
    )
    draws = np.random.default_rng(1)
    for _ in range(2_000):
        decision = agent.decide("all")
        chance = 0.3 if decision.action is None else 0.5
        agent.reward(decision.id, float(draws.random() < chance))
    path = tmp_path / "spring.csv"
    export(agent, path)
    log = al.Log.read(path)
    assert log.skip_reward is None
    nobody, some = al.frontier(log, budgets=[0, 1_000])
    assert nobody.value == pytest.approx(600, abs=3 * nobody.stderr)
    assert some.value == pytest.approx(800, abs=3 * some.stderr)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([3, 1, 2], "must have the same length, got 4 rows of actions and 3 of times"),
        (
            ["2026-01-01", "", "2026-01-02", "2026-01-03"],
            "got nothing in row 2; convert the column",
        ),
        (["2026-01-01T09:30", "2026-01-01", "2026-01-02", "x"], "got x in row 4"),
        (["2026-01-01T09:30", "2026-01-01", "2026-01-02", "2026-01-03"], "2026-01-01 in row 2"),
    ],
)
def test_times_that_cannot_be_sorted_are_refused(times: list[Any], message: str) -> None:
    columns = {"action": ["a", "", "a", ""], "reward": [1, 0, 0, 1], "at": times}
    with pytest.raises(al.InvalidInput, match=message):
        al.Log.read(columns, context=[], time="at", design="uniform")


def test_none_is_skipping_in_tables_by_action() -> None:
    columns = {"action": ["a", None, "a", None], "reward": [1, 0, 0, None]}
    tables: dict[str, Any] = {"design": {"a": 0.4, None: 0.6}, "cost": {"a": 2, None: 0}}
    log = al.Log.read(columns, context=[], **tables)
    assert log.probabilities.tolist() == [0.4, 0.6, 0.4, 0.6]
    assert log.costs.tolist() == [2.0, 0.0, 2.0, 0.0]
    assert log.notes == ("1 row without a reward counts as 0",)
    with pytest.raises(al.InvalidInput, match=r"unknown key 'b'; use only a, '', skip"):
        al.Log.read(columns, context=[], design="uniform", cost={"b": 2})


def test_an_export_may_have_names_that_programs_write_for_empty_cells(tmp_path: Path) -> None:
    names = ["nan", "null", "'quoted", "=1+1", "NA"]
    agent = al.Agent.open(
        "memory:",
        name="odd",
        contexts=names,
        actions=dict.fromkeys(names, 1),
        horizon=2_000,
        budget=1_500,
        explore=1.0,
        seed=1,
    )
    for arrival in range(300):
        agent.decide(names[arrival % 5])
    for ending in ("csv", "jsonl"):
        export(agent, tmp_path / f"odd.{ending}")
        log = al.Log.read(tmp_path / f"odd.{ending}")
        assert set(log.contexts) == set(log.actions) == set(names)
