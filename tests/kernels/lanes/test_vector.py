"""Vectors of lanes against numpy arrays of shape (8,)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from support.plain_kernels import plain

from almoner.jit import jit_callable
from almoner.kernels.lanes.state import aligned
from almoner.kernels.lanes.vector import (
    WIDTH,
    any_lane,
    as_floats,
    as_integers,
    as_lanes,
    floats,
    integers,
    lane,
    where,
)

EVERY = np.arange(WIDTH)


@jit_callable
def _compute(array: Any, out: Any) -> int:
    """Write a row of ``out`` for each operation on the first two rows of ``array``."""
    vectors, results = as_lanes(array, array), as_lanes(out, out)
    x, y, row = vectors[0], vectors[1], 0
    for result in (
        *(x + y, x - 2.0, 3 * x, x / y, 1 / y),
        *(max(x, y), min(x, 0.5), max(0.25, y), math.sqrt(x), floats(7.0)),
        *(where(x < y, x, y), where(x <= y, 1.0, 0.0), where(x > y, y, 2), where(x >= 0.5, 1, y)),
        *(where(x == y, x, 0.0), where(x != y, x, 0.0), where(~(x < y), x, 0.0)),
        *(where((x < 0.5) & (y < 0.5), 1.0, 0.0), where((x < 0.5) | (y < 0.5), 1.0, 0.0)),
        *(where((x < 0.5) ^ (y < 0.5), 1.0, 0.0), as_floats(x < y), -x),
    ):
        results[row] = result
        row += 1
    return row


def test_operations_are_those_of_numpy() -> None:
    array, out = aligned(2), aligned(32)
    array[:] = np.random.default_rng(1).random(array.shape)
    array[0, 3] = array[1, 3]
    x, y = array
    low, high = x < 0.5, y < 0.5
    expected = [
        *(x + y, x - 2.0, 3 * x, x / y, 1 / y),
        *(np.maximum(x, y), np.minimum(x, 0.5), np.maximum(0.25, y), np.sqrt(x), 0 * x + 7.0),
        *(np.where(x < y, x, y), x <= y, np.where(x > y, y, 2.0), np.where(x >= 0.5, 1.0, y)),
        *(np.where(x == y, x, 0.0), np.where(x != y, x, 0.0), np.where(x >= y, x, 0.0)),
        *(low & high, low | high, low ^ high, x < y, -x),
    ]
    assert _compute(array, out) == len(expected)
    assert np.array_equal(out[: len(expected)], np.array(expected, np.float64))


@jit_callable
def _mix(array: Any, out: Any) -> None:
    keys, results = as_lanes(array, array), as_lanes(out, out)
    key = keys[0] * np.uint64(0x9E3779B97F4A7C15)
    results[0] = key ^ (key >> np.uint64(31))
    results[1] = (key << np.uint64(3)) - (key & integers(255))
    results[2] = as_integers(as_floats(key >> np.uint64(11)) * 2.0**-40)


def test_integers_wrap_around_and_are_rounded_down() -> None:
    array, out = aligned(1).view(np.uint64), aligned(3).view(np.uint64)
    array[:] = np.random.default_rng(2).integers(0, 2**64, WIDTH, np.uint64)
    _mix(array, out)
    key = array[0] * np.uint64(0x9E3779B97F4A7C15)
    assert np.array_equal(out[0], key ^ (key >> np.uint64(31)))
    assert np.array_equal(out[1], (key << np.uint64(3)) - (key & np.uint64(255)))
    assert np.array_equal(out[2], (key >> np.uint64(51)))


@jit_callable
def _index(array: Any, table: Any, out: Any) -> tuple[bool, float]:
    entries, results = as_lanes(array, array), as_lanes(out, out)
    column = as_integers(entries[0, 0])
    results[0] = entries[1, column]
    results[1] = table[column] + table[column + 1]
    entries[1, column] = results[0] + 1.0
    results[2] = entries[column, 0]
    return any_lane(results[0] > 2.0), lane(results[1], 5)


def test_vectors_are_indices_of_each_lane() -> None:
    array, out, table = aligned(3, 3), aligned(3), np.arange(4.0) ** 2
    array[:] = np.random.default_rng(3).random(array.shape)
    array[0, 0] = [0, 1, 2, 1, 0, 2, 2, 0]
    before, column = array.copy(), array[0, 0].astype(int)
    some, sixth = _index(array, table, out)
    assert not some
    assert sixth == table[2] + table[3]
    assert np.array_equal(out[0], before[1, column, EVERY])
    assert np.array_equal(out[1], table[column] + table[column + 1])
    assert np.array_equal(out[2], array[column, 0, EVERY])
    before[1, column, EVERY] += 1.0
    assert np.array_equal(array, before)


def test_comparisons_with_nan_are_those_of_numpy() -> None:
    array, out = aligned(2), aligned(32)
    array[0], array[1] = math.nan, 0.25
    _compute(array, out)
    assert not out[11].any()  # x <= y
    assert np.isnan(out[5]).all()  # the first of two where they cannot be compared
    assert (out[16] != 0.0).all()  # not (x < y)


@jit_callable
def _choose(x: float, y: float) -> Any:
    return where(x < y, x, y) if any_lane(x >= 0.0) else where(x < y, 1, 2.0)


def test_choices_between_numbers_are_those_of_python() -> None:
    for x, y in ((1.0, 2.0), (3.0, 2.0), (-1.0, 0.0), (-1.0, -2.0)):
        expected = min(x, y) if x >= 0.0 else 1.0 if x < y else 2.0
        assert _choose(x, y) == expected == plain(_choose)(x, y)
