"""Numbers of an insured index: the evidence that it asks for, its price, and its levels."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["INSURANCES", "Insurance"]


class Insurance(NamedTuple):
    """Numbers of an insured index; ``caution`` multiplies evidence and premium.

    The evidence asked for after C plays is ``start`` + ``growth`` · log(1 + C), at most ``most``;
    all of it may cost ``premium`` of the campaign's reward. ``own`` and ``others`` are the shares
    of their level at which the context that has arrived and those that wait have their bounds;
    where a prior is in use, ``own`` is 1 instead.
    """

    caution: float
    start: float
    growth: float
    most: float
    premium: float
    own: float
    others: float


INSURANCES = {
    "flat": Insurance(1.0, 7.5, 0.0, 7.5, 0.08, 1.0, 0.6),
    "graded": Insurance(1.0, 3.6, 1.4, 8.5, 0.05, 0.8, 0.8),
}
"""Numbers at a caution of 1, by the name of the evidence."""
