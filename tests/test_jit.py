from __future__ import annotations

from typing import Any

import numpy as np

from almoner.jit import jit_entry, specialize


@jit_entry
def scaled(values: Any, factor: Any) -> Any:
    values[0] *= factor
    return values[0]


def test_a_specialized_kernel_does_what_the_kernel_does() -> None:
    values = np.array([3.0])
    kernel = specialize(scaled, values, 2.0)
    assert kernel(values, 2.0) == scaled(np.array([3.0]), 2.0) == 6.0
    assert kernel(values, 0.5) == values[0] == 3.0


def test_arguments_of_other_types_have_a_specialized_kernel_of_their_own() -> None:
    whole = np.array([3])
    assert specialize(scaled, whole, 2)(whole, 2) == whole[0] == 6
