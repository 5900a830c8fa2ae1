"""Exports of long logs: bounded memory, bounded reads, and plans that use the index."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import threading
import tracemalloc
from collections import deque
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import AgentFactory
from support.long_logs import append_decisions

import almoner as al
from almoner.live.export import COLUMNS, as_csv, as_jsonl, decisions, export
from almoner.live.export.rows import PAGE
from almoner.store import sql_logs
from almoner.store.events import Event
from almoner.store.sql_logs import run


@pytest.fixture
def long(factory: AgentFactory) -> al.Agent:
    agent = factory.create()
    append_decisions(agent.store, agent.name, 2 * PAGE + 7)
    return agent


def test_every_page_is_bounded_and_together_they_are_the_log(
    long: al.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes, pages = long.store.outcomes, list[int]()

    def counted(*args: Any, **options: Any) -> list[Event]:
        page = outcomes(*args, **options)
        pages.append(len(page))
        return page

    monkeypatch.setattr(long.store, "outcomes", counted)
    rows = list(decisions(long))
    events = long.store.last(long.name)
    assert [row["decision"] for row in rows] == list(range(1, 2 * PAGE + 8))
    assert max(pages) <= 3 * PAGE
    assert sum(pages) == events, "each event is read once"
    assert len(pages) == -(-events // PAGE)
    for row in rows:
        number = row["decision"]
        assert row["cancelled"] == (number % 5 == 0)
        assert row["settled"] == (number % 5 > 0 and number % 3 > 0)
        assert row["reward"] == (0.25 if number % 5 and number % 3 == 2 else None)
        assert row["cost"] == (0.0 if row["cancelled"] else 0.5 if row["settled"] else 1.0)


@pytest.mark.parametrize("page", [1, 7, 46, 47])
def test_the_size_of_a_page_changes_nothing(
    factory: AgentFactory, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = factory.create()
    append_decisions(agent.store, agent.name, 47)
    expected = list(decisions(agent))
    monkeypatch.setattr("almoner.live.export.rows.PAGE", page)
    assert list(decisions(agent)) == expected
    assert list(decisions(agent, 12)) == expected[12:]


def test_what_comes_after_the_last_event_is_left_out(long: al.Agent) -> None:
    last = long.store.last(long.name)
    append_decisions(long.store, long.name, 3)
    assert long.store.last(long.name) > last
    for event in long.store.outcomes(long.name, after=PAGE, through=last + 99, last=last):
        assert event.seq <= last
    assert not long.store.outcomes(long.name, after=last, through=last + 99, last=last)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_statements_use_the_index(kind: str, tmp_path: Path) -> None:
    factory = AgentFactory(kind, tmp_path)
    agent = factory.create()
    append_decisions(agent.store, agent.name, 4 * PAGE)
    database: Any = agent.store._database  # type: ignore[attr-defined]
    with mock.patch.object(sql_logs, "run", wraps=run) as statements:
        next(decisions(agent, 2 * PAGE))
    explain = "EXPLAIN QUERY PLAN" if kind == "sqlite" else "EXPLAIN"
    with database.transaction() as transaction:
        if kind == "postgres":
            run(transaction, "ANALYZE almoner_events")
        plans = [
            str(run(transaction, f"{explain} {query}", *values))
            for _, query, *values in (call.args for call in statements.call_args_list)
            if "almoner_events" in query
        ]
    factory.close()
    last, amendments, page = plans
    assert "almoner_once" in amendments
    assert re.search(r"almoner_once.*decision ?>.*decision ?<", page), "a range of the index"
    assert re.search("almoner_events_pkey|sqlite_autoindex_almoner_events_1", last)
    assert "Seq Scan" not in last + amendments + page


def peak(agent: al.Agent, form: str) -> int:
    """Return the most memory that an export had at a time, Arrow's included."""
    pool = pa.default_memory_pool()
    before, reading, writing = pool.bytes_allocated(), *map(os.fdopen, os.pipe(), ("rb", "wb"))
    discard = deque[bytes](maxlen=0).extend
    reader = threading.Thread(target=lambda: discard(iter(lambda: reading.read(65536), b"")))
    reader.start()
    tracemalloc.start()
    with writing:
        export(agent, Path(f"/dev/fd/{writing.fileno()}"), form=form)
        most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    reader.join()
    reading.close()
    arrow: int = pool.max_memory() - before
    return most + max(0, arrow)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_log(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.export.files.ROW_GROUP", PAGE)
    factory = AgentFactory("sqlite", tmp_path)
    agent = factory.create(horizon=10**6)
    append_decisions(agent.store, agent.name, 2 * PAGE)
    peak(agent, form)  # loaded once
    short = peak(agent, form)
    append_decisions(agent.store, agent.name, 6 * PAGE)
    assert peak(agent, form) < 1.25 * short
    assert short < 20_000_000
    factory.close()


def test_parquet_goes_through_a_pipe_in_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.export.files.ROW_GROUP", 10)
    factory = AgentFactory("memory", tmp_path)
    agent = factory.create()
    append_decisions(agent.store, agent.name, 25)
    reading, writing = map(os.fdopen, os.pipe(), ("rb", "wb"))
    with writing:
        assert export(agent, f"/dev/fd/{writing.fileno()}", form="parquet") == 25
    with reading:
        file = pq.ParquetFile(io.BytesIO(reading.read()))
    assert file.num_row_groups == 3
    assert file.read().to_pylist() == list(decisions(agent))
    factory.close()


ROW: dict[str, Any] = dict.fromkeys(COLUMNS)


@given(text=st.text(min_size=1), sign=st.sampled_from(["", *"=+-@\t\r\n'", "＝", "＠"]))
def test_no_text_of_csv_is_a_formula_and_all_can_be_read_back(text: str, sign: str) -> None:
    row = {**ROW, "context": sign + text, "key": text, "action_index": -1, "price": -0.5}
    [line] = csv.DictReader(io.StringIO("".join(as_csv([row])), newline=""))
    assert not line["context"].startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"))
    assert line["context"].removeprefix("'") == row["context"]
    assert line["key"].removeprefix("'") == row["key"]
    assert (line["action_index"], line["price"]) == ("-1", "-0.5"), "numbers stay numbers"
    assert json.loads("".join(as_jsonl([row]))) == row
