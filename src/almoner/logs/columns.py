"""Columns that tell contexts apart, as codes with labels, and contexts as products of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from almoner.types import Floats, Ints

__all__ = ["Cells", "Column", "encode", "encode_column", "product"]

QUANTILES = 4
"""Parts into which a column of many different numbers is cut."""

FEW_NUMBERS, MOST_LABELS = 8, 50
"""Different numbers that are not cut at quantiles; labels of a column, the rarer ones together."""

EVERYONE, UNKNOWN, OTHER = "everyone", "unknown", "other"


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """A column of a log: a code for each row, and a label for each code."""

    name: str
    codes: Ints
    labels: tuple[str, ...]
    numeric: bool = False

    def rows(self, rows: Ints) -> Column:
        """Return the column of some rows."""
        return replace(self, codes=self.codes[rows])

    def titled(self) -> tuple[str, ...]:
        """Return labels that are clear beside those of other columns."""
        if not self.numeric:
            return self.labels
        return tuple(
            label if label.startswith(f"{self.name} ") else f"{self.name}={label}"
            for label in self.labels
        )


class Cells(NamedTuple):
    """The context of each row, the names of the contexts, and the columns they come from."""

    codes: Ints
    labels: tuple[str, ...]
    columns: tuple[str, ...]


def encode(texts: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return the code of each text, and the texts in sorted order.

    Examples
    --------
    >>> codes, names = encode(["old", "new", "old"])
    >>> codes.tolist(), names
    ([1, 0, 1], ['new', 'old'])
    """
    seen: dict[str, int] = {}
    codes = np.array([seen.setdefault(text, len(seen)) for text in texts], np.int64)
    names = sorted(seen)
    places = np.empty(len(names), np.int64)
    places[[seen[name] for name in names]] = np.arange(len(names))
    return places[codes], names


def encode_column(name: str, texts: Sequence[str], *, cut: bool = True) -> Column:
    """Return a column of texts as codes; many different numbers are cut at quantiles."""
    codes, names = encode(texts)
    numbers = _numbers(names)
    if numbers is not None and cut and len(names) > FEW_NUMBERS:
        return _quantiles(name, numbers[codes])
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")
        codes, names = np.argsort(order)[codes], [names[i] for i in order]
    elif len(names) > MOST_LABELS and cut:
        codes, names = _frequent(codes, names)
    labels = tuple(text or UNKNOWN for text in names)
    return Column(name=name, codes=codes, labels=labels, numeric=numbers is not None)


def product(columns: Sequence[Column], rows: int) -> Cells:
    """Return the contexts that occur in the product of some columns."""
    names = tuple(column.name for column in columns)
    if not columns:
        return Cells(np.zeros(rows, np.int64), (EVERYONE,), ())
    if len(columns) == 1:
        return _occurring(columns[0].codes, columns[0].labels, names)
    codes, labels = np.zeros(rows, np.int64), [""]
    for column in columns:
        codes = codes * len(column.labels) + column.codes
        labels = [f"{left}, {right}" for left in labels for right in column.titled()]
        cells = _occurring(codes, labels, names)  # early: the product may have millions of labels
        codes, labels = cells.codes, list(cells.labels)
    return Cells(codes, tuple(label.removeprefix(", ") for label in labels), names)


def _occurring(codes: Ints, labels: Sequence[str], names: tuple[str, ...]) -> Cells:
    """Return contexts without those that no row has."""
    present = np.bincount(codes, minlength=len(labels)) > 0
    if present.all():
        return Cells(codes, tuple(labels), names)
    kept = tuple(label for label, here in zip(labels, present, strict=True) if here)
    return Cells((np.cumsum(present) - 1)[codes], kept, names)


def _numbers(names: list[str]) -> Floats | None:
    """Return texts as numbers, NaN for the empty one; None if one of them is no number."""
    try:
        return np.array([float(text) if text else np.nan for text in names])
    except ValueError:
        return None


def _quantiles(name: str, numbers: Floats) -> Column:
    """Return a column of numbers cut at its quantiles."""
    known = ~np.isnan(numbers)
    shares = np.arange(1, QUANTILES) / QUANTILES
    edges = np.unique(np.quantile(numbers[known], shares, method="inverted_cdf"))
    edges = edges[edges > numbers[known].min()]  # nothing would be below the first
    codes = np.searchsorted(edges, numbers, side="right").astype(np.int64)
    codes[~known] = len(edges) + 1
    shown = [f"{edge:.6g}" for edge in edges]
    between = [f"{name} {low} to {high}" for low, high in pairwise(shown)]
    labels = [f"{name} < {shown[0]}", *between, f"{name} ≥ {shown[-1]}", f"{name} {UNKNOWN}"]
    return Column(name=name, codes=codes, labels=tuple(labels), numeric=True)


def _frequent(codes: Ints, names: list[str]) -> tuple[Ints, list[str]]:
    """Return the most frequent texts, all others as one."""
    counts = np.bincount(codes, minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_LABELS - 1])
    new = np.full(len(names), len(kept))
    new[kept] = np.arange(len(kept))
    return new[codes], [*(names[i] for i in kept), OTHER]
