"""A small kernel of lanes, to find out whether vectors compile on this machine."""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_callable
from almoner.kernels.lanes.vector import any_lane, as_integers, as_lanes, where

__all__ = ["probe"]


@jit_callable
def probe(array: Any) -> None:
    """Read and write entries of an array of lanes (3, lanes) by vectors."""
    lanes = as_lanes(array, array)
    index = as_integers(lanes[0])
    root = math.sqrt(lanes[index])
    if any_lane(root > 0.0):
        lanes[index] = where(root > 1.0, root, 1.0)
