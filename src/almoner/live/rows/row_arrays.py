"""Arrays of a state on rows, which are in tuples within tuples: to plain values and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np

__all__ = ["arrays_to_dict", "restore_arrays"]


def arrays_to_dict(record: Any) -> Any:
    """Return the arrays of a record, and of the records in it, as text by name.

    As lists of numbers, the market would take 15 ms instead of one to write.
    """
    if isinstance(record, np.ndarray):
        stored = record.astype(record.dtype.newbyteorder("<"), copy=False)
        return b64encode(stored.tobytes()).decode()
    return {name: arrays_to_dict(part) for name, part in record._asdict().items()}


def restore_arrays(record: Any, table: Any) -> None:
    """Write the result of `arrays_to_dict` into the arrays of a record."""
    if isinstance(record, np.ndarray):
        stored = np.frombuffer(b64decode(table), record.dtype.newbyteorder("<"))
        record[...] = stored.reshape(record.shape)
        return
    for name, part in record._asdict().items():
        restore_arrays(part, table[name])
