"""Write an export as CSV, JSON lines or Parquet, to a file or a pipe, in bounded memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from almoner import checks
from almoner.errors import InvalidInput, StoreError
from almoner.live.agent import Agent
from almoner.live.export.rows import COLUMNS, decisions
from almoner.live.export.target import STDOUT, opened

__all__ = ["FORMATS", "as_csv", "as_jsonl", "export", "format_of"]

FORMATS = ("csv", "jsonl", "parquet")

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
"""First characters of strings that spreadsheets run as formulas (OWASP, CSV injection), full-width
signs included; and the apostrophe, which escapes one."""


def as_csv(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield lines of CSV, the header first, with strings that no spreadsheet runs as formulas."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for row in rows:
        yield _drain(text)
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    yield _drain(text)


def _harmless(value: Any) -> Any:
    """Put an apostrophe before a string that a spreadsheet would run as a formula.

    A string that begins with an apostrophe gets another, so that a reader removes one.

    >>> [_harmless(value) for value in ("=1+1", "'=1", "new", -1)]
    ["'=1+1", "''=1", 'new', -1]
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def as_jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield one JSON object a line."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def format_of(path: str | Path, form: str | None = None) -> str:
    """Return the format of a file: ``form``, or else the ending of its name.

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
    """Write all decisions of a campaign to a file; return their number.

    The path ``-`` is standard output. See `format_of` for the format if ``form`` is left out.
    """
    put = _WRITERS[format_of(path, form)]()  # before the file is opened: the format may be refused
    count = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal count
        for row in decisions(agent):
            count += 1
            yield row

    with opened(path) as file:
        put(counted(), file)
    return count


ROW_GROUP = 4_000
"""Rows written to Parquet at a time."""

_WriteRows = Callable[[Iterable[dict[str, Any]], BinaryIO], None]


def _lines(lines_of: Callable[[Iterable[dict[str, Any]]], Iterator[str]]) -> _WriteRows:
    def put(rows: Iterable[dict[str, Any]], file: BinaryIO) -> None:
        file.writelines(line.encode() for line in lines_of(rows))

    return put


def _parquet() -> _WriteRows:
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
        rows = iter(rows)
        with pq.ParquetWriter(_Counted(file), schema) as writer:
            while group := list(islice(rows, ROW_GROUP)):
                writer.write_table(pa.Table.from_pylist(group, schema=schema))

    return put


class _Counted(io.RawIOBase):
    """A file that counts its position, which Parquet needs and a pipe does not have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._size = file, 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        self._file.write(data)
        self._size += len(data)
        return len(data)


_WRITERS: dict[str, Callable[[], _WriteRows]] = {
    "csv": lambda: _lines(as_csv),
    "jsonl": lambda: _lines(as_jsonl),
    "parquet": _parquet,
}


def _drain(text: io.StringIO) -> str:
    """Return the text written so far, and empty the buffer."""
    line = text.getvalue()
    text.seek(0)
    text.truncate()
    return line
