"""Logarithm and exponential of the kernels: accuracy, the same bits for numbers and for vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.plain_kernels import plain

from almoner.jit import jit_callable
from almoner.kernels.elementary import exp, log
from almoner.kernels.lanes.state import aligned
from almoner.kernels.lanes.vector import WIDTH, as_lanes
from almoner.types import Floats


@jit_callable
def _logs(numbers: Floats, out: Floats) -> None:
    for i in range(len(numbers)):
        out[i] = log(numbers[i])


@jit_callable
def _vector_logs(array: Any, out: Any) -> None:
    vectors, results = as_lanes(array, array), as_lanes(out, out)
    for i in range(vectors.shape[0]):
        results[i] = log(vectors[i])


@jit_callable
def _powers(numbers: Floats, out: Floats) -> None:
    for i in range(len(numbers)):
        out[i] = exp(numbers[i])


@jit_callable
def _vector_powers(array: Any, out: Any) -> None:
    vectors, results = as_lanes(array, array), as_lanes(out, out)
    for i in range(vectors.shape[0]):
        results[i] = exp(vectors[i])


def _numbers(kind: str) -> Floats:
    rng = np.random.default_rng(1)
    uniform = rng.random(8000)
    return {
        "wide": np.exp(1400.0 * uniform - 700.0),
        "near one": 1.0 + (uniform - 0.5) * 2.0 ** -rng.integers(1, 50, 8000),
        "shares": uniform + 1e-9,
        "powers": 2.0 ** rng.integers(-1000, 1000, 8000),
    }[kind]


@pytest.mark.parametrize("kind", ["wide", "near one", "shares", "powers"])
def test_it_is_accurate_and_the_same_for_vectors(kind: str) -> None:
    numbers = _numbers(kind)
    out, lanes, wanted = np.empty_like(numbers), aligned(1000), np.log(numbers)
    _logs(numbers, out)
    assert np.all(np.abs(out - wanted) <= np.spacing(np.abs(wanted)))
    array = aligned(1000)
    array[:] = numbers.reshape(1000, WIDTH)
    _vector_logs(array, lanes)
    assert np.array_equal(lanes.ravel(), out)
    assert [plain(log)(number) for number in numbers[:50]] == list(out[:50])


@pytest.mark.parametrize("scale", [1e-9, 0.5, 9.0, 700.0])
def test_exponentials_are_accurate_and_the_same_for_vectors(scale: float) -> None:
    uniform = np.random.default_rng(2).random(7997)
    numbers = scale * np.append([-1.0, 0.0, 1.0], 2.0 * uniform - 1.0)
    out, lanes, wanted = np.empty_like(numbers), aligned(1000), np.exp(numbers)
    _powers(numbers, out)
    assert np.all(np.abs(out - wanted) <= np.spacing(wanted))
    array = aligned(1000)
    array[:] = numbers.reshape(1000, WIDTH)
    _vector_powers(array, lanes)
    assert np.array_equal(lanes.ravel(), out)
    assert [plain(exp)(number) for number in numbers[:50]] == list(out[:50])
