"""Columns of numbers or texts from CSV, JSONL and Parquet files, data frames and mappings.

Results become data frames and CSV here too.
"""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from almoner.errors import InvalidInput
from almoner.types import Floats, Mask

__all__ = ["Table", "data_frame", "is_empty", "open_table", "write_columns"]

SUFFIXES = ".csv, .tsv, .jsonl (each also with .gz) or .parquet"

DELIMITERS = (",", ";", "\t")
"""Separators of cells, of which the header has one; a comma if it has none."""

MISSING = ("na", "n/a", "nan", "null", "none", "<na>")
"""Texts, in small letters, that other programs write for a number that is not there."""

TRUTH = {"true": 1.0, "false": 0.0}
"""Texts, in small letters, that other programs write for yes and no."""


class Table:
    """Named columns, each converted to numbers when it is asked for."""

    def __init__(self, source: str, columns: Mapping[str, Any]) -> None:
        self.source = source
        self.names = list(columns)
        self._columns = columns

    def column(self, name: str, *, missing: float | None = None) -> Floats:
        """Return a column as finite numbers, with ``missing``, if given, for empty cells."""
        values = self._columns[name]
        if getattr(getattr(values, "dtype", None), "kind", "O") in "mMc":  # dates, complex numbers
            raise InvalidInput(
                f"{self.source}: column {name!r} must hold numbers, got {values.dtype} values; "
                "convert them"
            )
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array([_number(value) for value in values])
        if not numbers.size:
            raise InvalidInput(f"{self.source}: there must be a row at least, got none")
        if numbers.ndim != 1:
            raise InvalidInput(f"{self.source}: column {name!r} must be a list of numbers")
        bad = np.flatnonzero(~np.isfinite(numbers))
        if missing is not None and len(bad):
            empty = [i for i in bad.tolist() if _is_missing(values[i])]
            numbers[empty] = missing
            bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            value = values[int(bad[0])] if hasattr(values, "__getitem__") else numbers[bad[0]]
            shown = "nothing" if value is None or value == "" else repr(_plain(value))
            odd = isinstance(value, str) and not _is_missing(value)
            remedy = "write plain numbers" if odd else "fill it in, or leave the row out"
            raise InvalidInput(
                f"{self.source}: column {name!r} must hold finite numbers, got {shown} in row "
                f"{bad[0] + 1}; {remedy}"
            )
        return numbers

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, empty ones where there is no value."""
        values = self._columns[name]
        return ["" if is_empty(value) else str(_plain(value)) for value in values]

    def empty(self, name: str) -> Mask:
        """Return which cells of a column of numbers have none."""
        return np.array([_is_missing(value) for value in self._columns[name]], np.bool_)


def data_frame(data: Any, *, columns: Sequence[str] | None = None, instead: str = "to_csv") -> Any:
    """Return a data frame of pandas; where that is missing, name what to use instead."""
    try:
        import pandas as pd
    except ImportError:
        raise InvalidInput(f"to_frame needs pandas; install it, or use {instead} instead") from None
    return pd.DataFrame(data, columns=columns)


def write_columns(path: str | Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as CSV, each row with its number in front."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", *columns])
        values = [np.asarray(column).tolist() for column in columns.values()]
        writer.writerows([number, *row] for number, row in enumerate(zip(*values, strict=True)))


def is_empty(value: Any) -> bool:
    """Return whether a cell has no value: an empty text, None, or a NaN."""
    return value is None or value == "" or bool(value != value)  # noqa: PLR0124  # NaN


def _is_missing(value: Any) -> bool:
    """Return whether a cell has no number: it is empty, or a text that stands for that."""
    return is_empty(value) or (isinstance(value, str) and value.strip().lower() in MISSING)


def open_table(source: Any) -> Table:
    """Return the table of a path, a data frame or a mapping of columns."""
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        path = Path(source)
        try:
            return _from_path(path)
        except (OSError, EOFError, zlib.error) as reason:  # the last two: of a broken .gz
            problem = getattr(reason, "strerror", None) or reason
            raise InvalidInput(
                f"cannot read the rows {str(path)!r}: {problem}; check the path and the file"
            ) from None
    if isinstance(source, Mapping):
        return Table("the rows", dict(source))
    if callable(getattr(source, "collect", None)):  # of a lazy frame, not yet computed
        raise InvalidInput(
            f"rows must come from a data frame in memory, got a {type(source).__name__}; give what "
            "its collect() or toPandas() returns"
        )
    columns = getattr(source, "columns", None)
    if hasattr(source, "column_names") or (
        columns is None and (hasattr(source, "__arrow_c_stream__") or _exchanges(source))
    ):
        return _from_arrow("the rows", _as_arrow(source))
    if columns is not None and hasattr(source, "__getitem__"):
        names = list(columns)
        _refuse_repeated(names, "the rows")
        return Table("the rows", {name: _values(source[name]) for name in names})
    raise InvalidInput(
        "rows must come from a path, a data frame or a mapping of columns, got a "
        f"{type(source).__name__}; give a list of values for each name"
    )


def _from_path(path: Path) -> Table:
    name = path.name.lower()
    if name.endswith(".parquet"):
        return _from_parquet(path)
    kind = Path(name.removesuffix(".gz")).suffix
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise InvalidInput(f"a file of rows must end in {SUFFIXES}, got {path.name!r}")
    read = _from_csv if kind in (".csv", ".tsv") else _from_jsonl
    if name.endswith(".gz"):
        import gzip

        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as unpacked:
            return read(str(path), unpacked)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return read(str(path), file)


def _from_csv(source: str, file: TextIO) -> Table:
    try:
        names, *records = [record for record in _records(file) if record] or [[]]
    except (csv.Error, UnicodeDecodeError) as reason:
        raise InvalidInput(
            f"{source} is not valid CSV: {reason}; save it as CSV in UTF-8"
        ) from None
    if not names:
        raise InvalidInput(f"{source} must have a line with the names of its columns, got none")
    names = [name.strip() for name in names]
    _refuse_repeated(names, source)
    for i, record in enumerate(records):
        if len(record) != len(names):
            raise InvalidInput(
                f"{source}: row {i + 1} must have {len(names)} cells as the header has, got "
                f"{len(record)}; complete the row"
            )
    columns = zip(*records, strict=True) if records else ((),) * len(names)
    return Table(source, dict(zip(names, columns, strict=True)))


def _records(file: TextIO) -> Iterable[list[str]]:
    """Return the records of a CSV file, with the separator and the spaces of its header."""
    header = next((line for line in file if line.strip()), "")
    file.seek(0)
    delimiter = max(DELIMITERS, key=header.count)
    return csv.reader(file, delimiter=delimiter, skipinitialspace=f"{delimiter} " in header)


def _from_jsonl(source: str, file: TextIO) -> Table:
    """Return the columns of one JSON object a line; absent keys are empty cells."""
    try:
        records = [json.loads(line) for line in file if line.strip()]
    except ValueError as reason:
        raise InvalidInput(f"{source} is not valid JSONL: {reason}") from None
    names: dict[str, None] = {}
    for i, record in enumerate(records):
        if not isinstance(record, dict):
            raise InvalidInput(f"{source}: row {i + 1} must be a JSON object; write one a line")
        names.update(dict.fromkeys(record))
    return Table(source, {name: [record.get(name) for record in records] for name in names})


def _from_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise InvalidInput(
            f"{path} needs pyarrow to be read; install almoner with its extra parquet, or give CSV"
        ) from None
    try:
        table = parquet.read_table(path)
    except ArrowInvalid as reason:
        raise InvalidInput(f"{path} is not valid Parquet: {reason}") from None
    return _from_arrow(str(path), table)


def _from_arrow(source: str, table: Any) -> Table:
    _refuse_repeated(table.column_names, source)
    return Table(source, _Lazy(table))


def _exchanges(source: Any) -> bool:
    return hasattr(source, "__dataframe__")


def _as_arrow(source: Any) -> Any:
    """Return the Arrow table of anything that exchanges data as Arrow or ``__dataframe__``."""
    if hasattr(source, "column_names"):
        return source
    try:
        import pyarrow
        from pyarrow.interchange import from_dataframe
    except ImportError:
        raise InvalidInput(
            f"a {type(source).__name__} needs pyarrow to be read; install almoner with its extra "
            "parquet, or give a mapping of columns"
        ) from None
    return (
        pyarrow.table(source) if hasattr(source, "__arrow_c_stream__") else from_dataframe(source)
    )


class _Lazy(dict[str, Any]):
    """The columns of an Arrow table, converted when they are asked for."""

    def __init__(self, table: Any) -> None:
        super().__init__(dict.fromkeys(table.column_names))
        self._table = table

    def __getitem__(self, name: str) -> Any:
        return self._table[name].to_pylist()


def _refuse_repeated(names: list[Any], source: str) -> None:
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InvalidInput(
            f"{source}: column names must be different, got {repeated[0]!r} twice; rename one"
        )


def _values(column: Any) -> Any:
    """Return the values of a data frame's column as an array or a list."""
    convert = getattr(column, "to_numpy", None)
    return column if convert is None else convert()


def _number(value: Any) -> float:
    """Return a value as a float, NaN if it is none."""
    if isinstance(value, str) and (known := TRUTH.get(value.strip().lower())) is not None:
        return known
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
