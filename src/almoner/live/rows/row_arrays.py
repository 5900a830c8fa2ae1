"""Arrays of a state on rows, which are in tuples within tuples: to plain values and back."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["arrays_to_dict", "copy_arrays", "restore_arrays"]


def arrays_to_dict(record: Any) -> Any:
    """Return the arrays of a record, and of the records in it, as lists by name."""
    if isinstance(record, np.ndarray):
        return record.tolist()
    return {name: arrays_to_dict(part) for name, part in record._asdict().items()}


def restore_arrays(record: Any, table: Any) -> None:
    """Write the result of `arrays_to_dict` into the arrays of a record."""
    if isinstance(record, np.ndarray):
        record[...] = np.array(table, record.dtype).reshape(record.shape)
        return
    for name, part in record._asdict().items():
        restore_arrays(part, table[name])


def copy_arrays(source: Any, target: Any) -> None:
    """Copy the arrays of a record into those of another one of the same shapes."""
    if isinstance(source, np.ndarray):
        target[...] = source
        return
    for before, after in zip(source, target, strict=True):
        copy_arrays(before, after)
