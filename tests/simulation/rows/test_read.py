"""Rows from files, data frames and mappings; bad ones are refused by name, row and remedy."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import almoner as al

COLUMNS: dict[str, list[Any]] = {
    "kind": ["a", "b", "c"],
    "reward_small": [0.6, 0.5, 0.8],
    "reward_large": [0.9, 0.6, 0.9],
    "cost_large": [3.0, 3.5, 2.5],
    "cost_small": [1.0, 1.25, 0.5],
    "expected_cost_small": [1.0, 1.0, 1.0],
    "expected_cost_large": [3.0, 3.0, 3.0],
    "score_small": [0.5, 0.5, 0.5],
    "score_large": [0.8, 0.7, 0.9],
    "x1": [1.0, 2.0, 3.0],
    "x2": [-1.0, 0.5, 0.0],
    "nothing": [0.1, 0.0, 0.2],
}
NAMES: dict[str, Any] = {
    "expected_costs": "expected_cost_*",
    "scores": "score_*",
    "features": "x*",
    "skip_reward": "nothing",
    "skip_score": "x2",
}


def text(columns: dict[str, list[Any]] = COLUMNS) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]  # noqa: B905
    return "\n".join(lines) + "\n"


def source(kind: str, folder: Path) -> Any:
    if kind == "csv":
        path = folder / "rows.csv"
        path.write_text("\ufeff" + text() + "\n", encoding="utf-8")
        return path
    if kind == "csv.gz":
        with gzip.open(folder / "rows.csv.gz", "wt", encoding="utf-8") as file:
            file.write(text())
        return str(folder / "rows.csv.gz")
    if kind == "parquet":
        parquet.write_table(pa.table(COLUMNS), folder / "rows.parquet")
        return str(folder / "rows.parquet")
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "mapping": dict}[kind](COLUMNS)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "pandas", "polars", "mapping"])
def test_every_source_gives_the_same_rows(kind: str, tmp_path: Path) -> None:
    rows = al.Rows.read(source(kind, tmp_path), **NAMES)
    assert rows.actions == ("small", "large")
    assert rows.rewards.tolist() == [[0.6, 0.9], [0.5, 0.6], [0.8, 0.9]]
    assert rows.costs.tolist() == [[1.0, 3.0], [1.25, 3.5], [0.5, 2.5]]
    assert rows.expected_costs.tolist() == [[1.0, 3.0]] * 3
    assert rows.scores is not None
    assert rows.scores[:, 1].tolist() == [0.8, 0.7, 0.9]
    assert rows.features is not None
    assert rows.features.T.tolist() == [[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]]
    assert rows.feature_names == ("x1", "x2")
    assert rows.skip_rewards.tolist() == [0.1, 0.0, 0.2]
    assert rows.skip_scores.tolist() == [-1.0, 0.5, 0.0]


def test_features_may_be_listed_and_a_star_may_stand_in_front() -> None:
    columns = {"a reward": [1.0], "b reward": [2.0], "a cost": [1], "b cost": [2], "age": [31]}
    rows = al.Rows.read(columns, rewards="* reward", costs="* cost", features=["age"])
    assert (rows.actions, rows.feature_names) == (("a", "b"), ("age",))


def test_what_is_left_out_is_not_there() -> None:
    rows = al.Rows.read(COLUMNS)
    assert rows.scores is None
    assert rows.features is None
    assert rows.expected_costs is rows.costs
    assert rows.skip_rewards.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"score_large": [0.8, None, 0.9]},
            "the rows: column 'score_large' must hold finite numbers, got nothing in row 2; fill "
            "it in, or leave the row out",
        ),
        (
            {"cost_small": [1, 2, float("nan")]},
            "the rows: column 'cost_small' must hold finite numbers, got nan in row 3; fill it in, "
            "or leave the row out",
        ),
        (
            {"reward_small": [float("-inf"), 0, 0]},
            "the rows: column 'reward_small' must hold finite numbers, got -inf in row 1; fill it "
            "in, or leave the row out",
        ),
        (
            {"x1": ["1", "two", "3"]},
            "the rows: column 'x1' must hold finite numbers, got 'two' in row 2; write plain "
            "numbers",
        ),
        (
            {"x1": [1.0, 2.0]},
            "the rows: columns must have the same length, got 2 rows of 'x1' and 3 of 'x2'",
        ),
        (
            {"cost_huge": [1, 1, 1]},
            "the rows: costs='cost_*' and rewards='reward_*' must name the same actions, but "
            "rewards have no column for 'huge'; add it, or narrow the pattern",
        ),
        (
            {"reward_huge": [1, 1, 1]},
            "the rows: costs='cost_*' and rewards='reward_*' must name the same actions, but costs "
            "have no column for 'huge'; add it, or narrow the pattern",
        ),
        (
            {"cost_small": [1, -2, 0]},
            "costs in row 2 must be finite and at least 0, got costs in row 2=-2.0",
        ),
    ],
)
def test_bad_columns_are_refused_with_their_row(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(al.InvalidInput) as refused:
        al.Rows.read({**COLUMNS, **changes}, **NAMES)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"scores": "rating_*"}, "the rows: no column matches scores='rating_*'; its columns are "),
        ({"rewards": "gain_*"}, "the rows: no column matches rewards='gain_*'; its columns are "),
        ({"scores": "score_"}, "scores must be a pattern with one star for the name of an action"),
        ({"costs": None}, "costs must be a pattern with one star"),
        ({"features": ["x1", "x9"]}, "the rows: features must name a column, got features='x9'"),
        ({"features": []}, "features must be a pattern such as 'x*', or a list of the names of"),
        ({"features": 5}, "features must be a pattern such as 'x*', or a list of the names of"),
        ({"skip_reward": "none"}, "the rows: skip_rewards must name a column, got skip_rewards='n"),
    ],
)
def test_bad_names_of_columns_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(al.InvalidInput) as refused:
        al.Rows.read(COLUMNS, **arguments)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "rows.xlsx",
            "",
            "a file of rows must end in .csv, .tsv, .jsonl (each also with .gz) or .parquet, got ",
        ),
        ("none.csv", None, "cannot read the rows 'none.csv': No such file or directory; check the"),
        ("bad.parquet", "text", "bad.parquet is not valid Parquet: "),
        ("short.csv", "reward_a,cost_a\n1,2\n1\n", "short.csv: row 2 must have 2 cells as the hea"),
        ("twice.csv", "reward_a,reward_a\n1,2\n", "twice.csv: column names must be different, got"),
        ("empty.csv", "", "empty.csv must have a line with the names of its columns, got none"),
        ("blank.csv", "\n\n", "blank.csv must have a line with the names of its columns, got none"),
        ("text.csv.gz", "text", "cannot read the rows 'text.csv.gz': Not a gzipped file"),
        ("head.csv", "reward_a,cost_a\n", "head.csv: there must be a row at least, got none"),
    ],
)
def test_bad_files_are_refused(
    name: str, content: str | None, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content, encoding="utf-8")
    with pytest.raises(al.InvalidInput) as refused:
        al.Rows.read(name)
    assert str(refused.value).startswith(sentence)


def test_a_data_frame_with_a_column_twice_is_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["reward_a", "reward_a"])
    with pytest.raises(al.InvalidInput, match="column names must be different, got 'reward_a' twi"):
        al.Rows.read(frame)


def test_anything_else_is_refused() -> None:
    with pytest.raises(al.InvalidInput, match="a data frame or a mapping of columns, got a ndarra"):
        al.Rows.read(np.zeros((2, 2)))


def test_a_file_cut_off_while_it_was_compressed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(b"reward_a,cost_a\n" + b"1,2\n" * 1000)[:-12])
    with pytest.raises(al.InvalidInput, match=r"cannot read the rows .*end-of-stream.*the file"):
        al.Rows.read(path)


def test_blank_lines_and_spaces_around_names_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("\nreward_a, cost_a\n\n1, 2\n\n", encoding="utf-8")
    rows = al.Rows.read(path)
    assert (rows.rewards.tolist(), rows.costs.tolist()) == ([[1.0]], [[2.0]])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.array(["2026-01-01"], "M8[D]"), "must hold numbers, got datetime64"),
        (np.array([1 + 2j]), "must hold numbers, got complex128 values; convert them"),
        ([10**400], "must hold finite numbers, got 1000"),
        ([], "there must be a row at least, got none"),
    ],
)
def test_columns_of_no_numbers_are_refused(values: Any, sentence: str) -> None:
    with pytest.raises(al.InvalidInput, match=re.escape(sentence)):
        al.Rows.read({"reward_a": values, "cost_a": [1] * len(values)})
