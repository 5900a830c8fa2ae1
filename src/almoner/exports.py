"""Decisions with what became of them, one row each: what off-policy tools read.

``probability`` is the propensity of ``action`` given ``context`` and ``available``, skipping being
an action like the others; ``reward`` is empty where none has come.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from almoner import checks
from almoner.agent import Agent
from almoner.errors import InvalidInput, StoreError
from almoner.events import CANCELLED, DECIDED, REWARDED, SETTLED, Event
from almoner.terms import SKIP_NAME

__all__ = ["COLUMNS", "FORMATS", "as_csv", "as_jsonl", "decisions", "export", "format_of"]

COLUMNS = {
    "decision": "int64",
    "time": "string",
    "round": "int64",
    "context": "string",
    "action": "string",
    "action_index": "int64",
    "probability": "float64",
    "reward": "float64",
    "cost": "float64",
    "available": "string",
    "price": "float64",
    "settled": "bool",
    "cancelled": "bool",
    "reason": "string",
    "key": "string",
}
"""The columns of a row, with their types. ``cost`` is what was charged, or what is still held."""

FORMATS = ("csv", "jsonl", "parquet")

STDOUT = "-"
"""The path that stands for standard output."""


def decisions(agent: Agent, after: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row for each decision after one of them, as the log was when the first is asked for.

    Examples
    --------
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=10)
    >>> agent.reward(agent.decide("new").id, 1.0)
    >>> [row] = decisions(agent)
    >>> row["action"], row["probability"], row["reward"], row["cost"]
    ('coupon', 1.0, 1.0, 5.0)
    """
    later: dict[int, dict[str, Event]] = {}
    last = after
    for event in agent.events(after):
        last = event.seq
        if event.kind in (SETTLED, REWARDED, CANCELLED):
            later.setdefault(event.decision or 0, {})[event.kind] = event
    # What was written meanwhile is left out: it is not known what became of it.
    for event in takewhile(lambda event: event.seq <= last, agent.events(after)):
        if event.kind == DECIDED:
            yield _row(agent, event, later.get(event.seq, {}))


def _row(agent: Agent, event: Event, later: dict[str, Event]) -> dict[str, Any]:
    amount, actions = agent.terms.unit.amount, agent.terms.actions
    settled, rewarded = later.get(SETTLED), later.get(REWARDED)
    cost = event.reserve or 0
    if settled is not None:
        cost = settled.charged or 0
    elif CANCELLED in later:
        cost = 0
    allowed = list(actions) if event.available is None else json.loads(event.available)
    return {
        "decision": event.seq,
        "time": datetime.fromtimestamp(event.at / 1e6, UTC).isoformat(),
        "round": event.round,
        "context": event.context,
        "action": SKIP_NAME if event.action is None else event.action,
        "action_index": -1 if event.action is None else actions.index(event.action),
        "probability": event.probability,
        "reward": None if rewarded is None else rewarded.reward,
        "cost": amount(cost),
        "available": json.dumps([SKIP_NAME, *allowed]),
        "price": event.price,
        "settled": settled is not None,
        "cancelled": CANCELLED in later,
        "reason": event.reason,
        "key": event.key,
    }


def as_csv(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield lines of CSV, the header first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for row in rows:
        yield _taken(text)
        writer.writerow(row)
    yield _taken(text)


def as_jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield one JSON object a line."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def format_of(path: str | Path, form: str | None = None) -> str:
    """Return the format to write a file in: the one asked for, or else what its name ends in.

    Examples
    --------
    >>> format_of("spring.parquet"), format_of("spring.txt", "jsonl"), format_of("-")
    ('parquet', 'jsonl', 'csv')
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if form is None and str(path) == STDOUT:
        return "csv"
    if form is None and ending not in FORMATS:
        raise InvalidInput(
            f"the name of the file must end in .csv, .jsonl or .parquet, got {str(path)!r}; "
            "rename it, or say which format to write"
        )
    if form is not None and ending in FORMATS and ending != checks.choice("format", form, FORMATS):
        raise InvalidInput(
            f"format must be what the name of the file says, got format={form!r} for "
            f"{str(path)!r}; leave it out, or rename the file"
        )
    return checks.choice("format", ending if form is None else form, FORMATS)


def export(agent: Agent, path: str | Path, *, form: str | None = None) -> int:
    """Write all decisions of a campaign to a file; return how many there were.

    The path ``-`` is standard output. See `format_of` for what is written if ``form`` is left out.
    """
    put = _WRITERS[format_of(path, form)]()  # refused, if at all, before there is a file
    count = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal count
        for row in decisions(agent):
            count += 1
            yield row

    with _opened(path) as file:
        put(counted(), file)
    return count


Writer = Callable[[Iterable[dict[str, Any]], BinaryIO], None]


def _opened(path: str | Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdout.buffer) if str(path) == STDOUT else Path(path).open("wb")


def _lines(lines_of: Callable[[Iterable[dict[str, Any]]], Iterator[str]]) -> Writer:
    def put(rows: Iterable[dict[str, Any]], file: BinaryIO) -> None:
        file.writelines(line.encode() for line in lines_of(rows))

    return put


def _parquet() -> Writer:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise StoreError(
            "Parquet needs pyarrow, which is not installed; run pip install 'almoner[parquet]'"
        ) from None
    types = {
        "int64": pa.int64(),
        "string": pa.string(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])

    def put(rows: Iterable[dict[str, Any]], file: BinaryIO) -> None:
        whole = io.BytesIO()  # a pipe does not say where it stands, and Parquet asks
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), whole)
        file.write(whole.getbuffer())

    return put


_WRITERS: dict[str, Callable[[], Writer]] = {
    "csv": lambda: _lines(as_csv),
    "jsonl": lambda: _lines(as_jsonl),
    "parquet": _parquet,
}


def _taken(text: io.StringIO) -> str:
    line = text.getvalue()
    text.seek(0)
    text.truncate()
    return line
