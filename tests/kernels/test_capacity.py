"""Growable arrays: views of the rows in use, and doubled capacity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import almoner as al
from almoner.kernels.capacity import HAS_ROWS, Buffers, doubled, first_contexts, new_buffers
from almoner.kernels.state import LEFT
from almoner.policy.lowering import lower


def buffers_for(contexts: int, costs: tuple[float, ...] = (1.0, 2.0, 4.0)) -> Buffers:
    table = np.array([costs] * contexts)
    return new_buffers(lower(al.thrifty(), horizon=50, budget=30.0, costs=table))


def arrays(record: Any) -> dict[str, Any]:
    return {name: one for name, one in record._asdict().items() if isinstance(one, np.ndarray)}


def test_every_array_with_a_row_for_each_context_is_known_as_one() -> None:
    """Seven contexts, three actions, four numbers of a memo: no two lengths are the same."""
    record: Any
    for record in buffers_for(7):
        flags = dict(zip(record._fields, HAS_ROWS[type(record)], strict=True))
        assert flags == {
            name: name in arrays(record) and len(getattr(record, name)) == 7
            for name in record._fields
        }


def test_views_are_laid_out_as_arrays_and_write_through() -> None:
    buffers = buffers_for(7)
    some = first_contexts(buffers, 4)
    for record, whole in zip(some, buffers, strict=True):
        for name, array in arrays(record).items():
            assert array.flags.c_contiguous
            assert array.size == 0 or np.shares_memory(array, getattr(whole, name))
    some.state.counts[3, 1] = 5.0
    some.state.progress[LEFT] = 11
    assert (buffers.state.counts[3, 1], buffers.state.progress[LEFT]) == (5.0, 11)
    assert some.policy.costs.shape == (4, 3)


@pytest.mark.parametrize("costs", [(1.0, 2.0, 4.0), (1.0, 1.0, 1.0)])
def test_doubled_buffers_equal_new_ones_of_that_size(costs: tuple[float, ...]) -> None:
    buffers, larger = buffers_for(3, costs), buffers_for(6, costs)
    for one in (buffers, larger):
        one.state.counts[:3], one.state.sums[:3], one.state.progress[:2] = 2.0, 1.0, (6, 17)
    expected = new_buffers(larger.policy)
    grown = doubled(buffers)
    for name, array in arrays(grown.policy).items():
        assert array.tolist() == getattr(larger.policy, name).tolist()
    for name, array in arrays(grown.state).items():
        assert array.tolist() == getattr(larger.state, name).tolist()
    for name in ("least", "most", "low", "high", "bottom", "top", "levels", "validity"):
        assert getattr(grown.memo, name).tolist() == getattr(expected.memo, name).tolist()
    assert grown.memo.means.tolist() == [[0.5] * 3] * 3 + [[1.0] * 3] * 3
    assert (grown.hulls is None) == (len(set(costs)) == 1)
