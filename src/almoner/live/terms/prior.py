"""Prior: what is known of the rewards before the first arrival, and files that it is read from."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from almoner import checks
from almoner.errors import InvalidInput, InvalidTerms, StoreError
from almoner.live.terms.names import NAME_RULE, is_name

__all__ = ["WEIGHT", "Prior", "parse_prior"]

WEIGHT = 50.0
"""Rewards that a mean of a prior counts for, if nothing else is said."""

HEAVIEST = 1e9
"""Largest weight: beyond it a campaign could never learn anything else."""

Table = dict[str, dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Mean rewards that are expected before the first arrival, and how sure they are.

    A campaign counts each mean as that of ``weight`` rewards which it has seen itself.

    Parameters
    ----------
    means
        Mean rewards by context and action, in the unit of the campaign's rewards; the action
        ``"skip"`` is for skipping, where its reward is learned. Pairs may be missing.
    weight
        The number of rewards that each mean counts for: one number, or one for each pair like the
        means. 0 is none.

    Examples
    --------
    >>> Prior(means={"new": {"coupon": 0.04, "skip": 0.02}}).weight
    50.0
    """

    means: Mapping[str, Mapping[str, float]]
    weight: float | Mapping[str, Mapping[str, float]] = WEIGHT

    def __post_init__(self) -> None:
        means, weight = _table("the means of a prior", self.means), self.weight
        if not isinstance(weight, Mapping):
            weight = _weight("the weight of a prior", weight)
        else:
            weight = _table("the weight of a prior", weight)
            for context, action, _ in _pairs(means):
                if action not in weight.get(context, {}):
                    raise InvalidTerms(
                        f"the weight of a prior lacks the pair {context!r}, {action!r}, which has "
                        "a mean; give one number for all pairs, or one for each"
                    )
            for context, action, value in _pairs(weight):
                _weight(f"the weight of {action!r} for {context!r}", value)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "weight", weight)

    @classmethod
    def from_table(cls, table: Any, *, weight: float = WEIGHT) -> Prior:
        """Return the prior of a table with a row for each pair.

        Parameters
        ----------
        table
            Rows with ``context``, ``action``, ``mean`` and, if they differ, ``weight``: an iterable
            of mappings, or the path of a CSV or JSON file.
        weight
            The weight of rows without one.

        Examples
        --------
        >>> Prior.from_table([{"context": "new", "action": "coupon", "mean": 0.04, "weight": 200}])
        Prior(means={'new': {'coupon': 0.04}}, weight={'new': {'coupon': 200.0}})
        """
        means: Table = {}
        weights: Table = {}
        rows = _rows(table) if isinstance(table, (str, Path)) else _listed(table)
        for row in rows:
            context, action, mean = _columns("the table of a prior", row, "mean")
            if action in means.setdefault(context, {}):
                raise InvalidTerms(
                    f"the table of a prior has {action!r} for {context!r} twice; keep one row"
                )
            means[context][action] = mean
            own = row.get("weight")
            weights.setdefault(context, {})[action] = (
                weight if own in (None, "") else _number("weight", own)
            )
        return cls(means=means, weight=weights)

    @classmethod
    def from_log(cls, path: str | Path, *, memory: float = 1.0) -> Prior:
        """Return the prior of a log of decisions: the number and the mean of each pair's rewards.

        Parameters
        ----------
        path
            A CSV, JSON or Parquet file with a row for each decision and the columns ``context``,
            ``action`` and ``reward`` (empty where none has come), as ``almoner ledger export``
            writes it.
        memory
            The factor of all counts, from 0 to 1.
        """
        checks.number("memory", memory, low=0, high=1, error=InvalidTerms)
        totals: dict[tuple[str, str], tuple[int, float]] = {}
        for row in _rows(path):
            if "reward" in row and row["reward"] in (None, ""):
                continue
            context, action, reward = _columns(f"the log {str(path)!r}", row, "reward")
            pair = _unescaped(context, path), _unescaped(action, path)
            count, total = totals.get(pair, (0, 0.0))
            totals[pair] = count + 1, total + reward
        means: Table = {}
        weights: Table = {}
        for (context, action), (count, total) in totals.items():
            means.setdefault(context, {})[action] = total / count
            weights.setdefault(context, {})[action] = memory * count
        return cls(means=means, weight=weights)

    def pairs(self) -> Iterator[tuple[str, str, float, float]]:
        """Yield context, action, weight and mean of each pair."""
        for context, action, mean in _pairs(self.means):
            yield context, action, _of(self.weight, context, action), mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"means": self.means, "weight": self.weight}


def parse_prior(value: Any) -> Prior:
    """Return a prior, or the one of a table with the keys ``means`` and ``weight``."""
    if isinstance(value, Prior):
        return value
    if not isinstance(value, Mapping):
        remedy = checks.uncalled(value) or "write al.Prior(means={context: {action: mean}})"
        raise checks.refuse("prior", "be a Prior", value, remedy, InvalidTerms)
    checks.known_keys("prior", value, required=["means"], optional=["weight"], error=InvalidTerms)
    weight = value.get("weight")
    return Prior(means=value["means"], weight=WEIGHT if weight is None else weight)


def _of(weight: float | Mapping[str, Mapping[str, float]], context: str, action: str) -> float:
    return weight[context][action] if isinstance(weight, Mapping) else weight


def _pairs(table: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    for context, row in table.items():
        for action, value in row.items():
            yield context, action, value


def _table(name: str, value: Any) -> Table:
    """Return a table of numbers by context and action, checked."""
    rows = value.values() if isinstance(value, Mapping) else [value]
    if not all(isinstance(row, Mapping) for row in rows):
        remedy = "write them like {'new': {'coupon': 0.04}}"
        raise checks.refuse(name, "be numbers by context and action", value, remedy, InvalidTerms)
    names = [*value, *(action for row in value.values() for action in row)]
    for entry in names:
        if not is_name(entry):
            raise checks.refuse(f"a name in {name}", f"be {NAME_RULE}", entry, error=InvalidTerms)
    return {
        checks.plain(context): {
            checks.plain(action): checks.number(
                f"{name} of {action!r} for {context!r}", number, error=InvalidTerms
            )
            for action, number in row.items()
        }
        for context, row in value.items()
    }


def _weight(name: str, value: Any) -> float:
    remedy = "give the number of rewards that a mean counts for; 0 is none"
    return checks.number(name, value, low=0, high=HEAVIEST, error=InvalidTerms, remedy=remedy)


def _listed(table: Any) -> list[Mapping[str, Any]]:
    iterable = isinstance(table, Iterable) and not isinstance(table, Mapping)
    rows: list[Any] = [*table] if iterable else [None]
    if not all(isinstance(row, Mapping) for row in rows):
        remedy = "give rows with context, action and mean, or the path of a file"
        raise checks.refuse("table", "be a list of rows", table, remedy, InvalidTerms)
    return rows


def _columns(what: str, row: Mapping[str, Any], value: str) -> tuple[str, str, float]:
    """Return context, action and one number of a row."""
    wanted = ("context", "action", value)
    missing = [name for name in wanted if row.get(name) in (None, "")]
    if missing:
        raise InvalidTerms(
            f"{what} must have {', '.join(wanted)} in each row, and one has no {missing[0]}; add it"
        )
    return str(row["context"]), str(row["action"]), _number(value, row[value])


def _number(name: str, value: Any) -> float:
    try:
        return float(value) if isinstance(value, str) else checks.number(name, value)
    except (ValueError, InvalidInput):
        raise checks.refuse(name, "be a number", value, error=InvalidTerms) from None


def _rows(path: str | Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a CSV, JSON or Parquet file; JSON is an array of objects, or one a line."""
    ending = Path(path).suffix.lower()
    if ending not in _READERS:
        rule = f"end in {', '.join(_READERS)}"
        raise checks.refuse("the name of the file", rule, str(path), error=InvalidTerms)
    try:
        yield from _READERS[ending](Path(path))
    except (OSError, ValueError) as reason:
        raise InvalidTerms(f"the file {str(path)!r} cannot be read: {reason}") from None


def _read_csv(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        yield from csv.DictReader(file)


def _read_json(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as file:
        whole = file.read(1) == "["
        file.seek(0)
        rows = json.load(file) if whole else (json.loads(line) for line in file if line.strip())
        for row in rows:
            if not isinstance(row, Mapping):
                raise ValueError("it must hold one object for each row")
            yield row


def _read_parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise StoreError(
            "Parquet needs pyarrow, which is not installed; run pip install 'almoner[parquet]'"
        ) from None
    for batch in pq.ParquetFile(path).iter_batches(columns=["context", "action", "reward"]):
        yield from batch.to_pylist()


_READERS = {
    ".csv": _read_csv,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".parquet": _read_parquet,
}


def _unescaped(name: str, path: str | Path) -> str:
    """Return a name without the apostrophe that keeps spreadsheets from running it as a formula."""
    return name.removeprefix("'") if Path(path).suffix.lower() == ".csv" else name
