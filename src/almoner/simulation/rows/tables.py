"""Columns of numbers from CSV and Parquet files, data frames and mappings."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from almoner.errors import InvalidInput
from almoner.types import Floats

__all__ = ["Table", "open_table"]

SUFFIXES = ".csv, .csv.gz or .parquet"


class Table:
    """Named columns, each converted to numbers when it is asked for."""

    def __init__(self, source: str, columns: Mapping[str, Any]) -> None:
        self.source = source
        self.names = list(columns)
        self._columns = columns

    def column(self, name: str) -> Floats:
        """Return a column as finite numbers."""
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
        if len(bad):
            value = values[int(bad[0])] if hasattr(values, "__getitem__") else numbers[bad[0]]
            shown = "nothing" if value is None or value == "" else repr(_plain(value))
            raise InvalidInput(
                f"{self.source}: column {name!r} must hold finite numbers, got {shown} in row "
                f"{bad[0] + 1}; fill it in, or leave the row out"
            )
        return numbers


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
    columns = getattr(source, "columns", None)
    if columns is not None and hasattr(source, "__getitem__"):
        names = list(columns)
        _refuse_repeated(names, "the rows")
        return Table("the rows", {name: _values(source[name]) for name in names})
    raise InvalidInput(
        "rows must come from a path, a data frame or a mapping of columns, got a "
        f"{type(source).__name__}; give rewards= and costs= as columns"
    )


def _from_path(path: Path) -> Table:
    if path.suffix == ".parquet":
        return _from_parquet(path)
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _from_csv(str(path), file)
    if path.name.endswith(".csv.gz"):
        import gzip

        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            return _from_csv(str(path), file)
    raise InvalidInput(f"a file of rows must end in {SUFFIXES}, got {path.name!r}")


def _from_csv(source: str, file: Iterable[str]) -> Table:
    try:
        names, *records = [record for record in csv.reader(file) if record] or [[]]
    except (csv.Error, UnicodeDecodeError) as reason:
        raise InvalidInput(f"{source} is not valid CSV: {reason}") from None
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
    _refuse_repeated(table.column_names, str(path))
    return Table(str(path), _Lazy(table))


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
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
