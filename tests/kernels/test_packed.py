"""Packed tuples: kernels read from them what they read from the tuple itself."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np

from almoner.jit import jit_entry
from almoner.kernels.packed import Packed, unpacked


class Numbers(NamedTuple):
    whole: int
    part: float
    row: Any


@jit_entry
def weigh(values: Any, factor: float) -> float:
    numbers, table, _nothing, key = unpacked(values)
    total = numbers.part * numbers.whole + float(key)
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += factor * table[row, column] * numbers.row[column]
    table[0, 0] = total
    return float(total)


def values() -> tuple[Any, ...]:
    table = np.arange(24.0).reshape(6, 4)[::2, 1:]  # with strides of its own
    return Numbers(-3, 0.25, np.array([1.0, 10.0, 100.0])), table, None, np.uint64(2**60)


def test_a_kernel_reads_a_packed_tuple_as_the_tuple_itself() -> None:
    plain, other = values(), values()
    kept = Packed(other)
    assert weigh(kept, 2.0) == weigh(plain, 2.0)
    assert other[1].tolist() == plain[1].tolist()  # what is written arrives in the arrays
    assert weigh(kept, 2.0) == weigh(plain, 2.0)


def test_numbers_of_the_first_value_can_be_changed() -> None:
    plain, kept = values(), Packed(values())
    kept.change("whole", 7)
    kept.change("part", 2)  # as the number that it was, not as an integer
    numbers = plain[0]._replace(whole=7, part=2.0)
    assert weigh(kept, 0.5) == weigh((numbers, *plain[1:]), 0.5)


def test_a_packed_tuple_keeps_its_arrays_alive() -> None:
    kept = Packed(values())
    gc.collect()
    others = [np.full((6, 4), np.nan) for _ in range(1_000)]
    assert weigh(kept, 1.0) == weigh(values(), 1.0)
    assert len(others) == 1_000
