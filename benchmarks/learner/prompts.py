"""Prompts of 90 kinds for three models: what each would answer, and what it would charge.

A kind is a length, a language, a topic and a team. Long prompts and two of the five topics are
hard; the small model suffers most from that. Language and team make no difference, which the
router is not told.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from almoner.types import Floats, Ints

__all__ = ["KINDS", "MEDIUM", "MODELS", "RESERVES", "Prompts", "costs", "draw"]

MODELS, MEDIUM = ("small", "medium", "large"), 1
PRICES = np.array([0.15e-6, 1e-6, 10e-6])
"""Of a token."""

QUALITY, SENSITIVITY = np.array([0.75, 0.82, 0.88]), np.array([1.0, 0.6, 0.15])
LONG_IS_HARDER, TOPIC_IS_HARDER = 0.35, 0.2

SIZES, LANGUAGES, TOPICS, TEAMS = 3, 2, 5, 3
KINDS = SIZES * LANGUAGES * TOPICS * TEAMS
RESERVES = np.round(PRICES * 20_000, 6)
"""A call uses at most 20,000 tokens, most of the time."""


@dataclass(frozen=True)
class Prompts:
    """Prompts with random numbers that decide about them: kind, size, quality and bill by model."""

    kind: Ints
    size: Ints
    quality: Floats
    bill: Floats
    judged: Floats
    right: Floats


def draw(seed: int, count: int) -> Prompts:
    """Return random prompts."""
    rng = np.random.default_rng(seed)
    tokens = np.floor(rng.lognormal(6.5, 1.3, count))
    topic = rng.integers(TOPICS, size=count)
    language = rng.integers(LANGUAGES, size=count)
    team = rng.integers(TEAMS, size=count)
    size = np.searchsorted([300, 2000], tokens, side="right")
    hard = (tokens > 2000) * LONG_IS_HARDER + (topic >= 3) * TOPIC_IS_HARDER
    answer = rng.lognormal(6.5, 1.0, (count, len(MODELS)))
    return Prompts(
        kind=((size * LANGUAGES + language) * TOPICS + topic) * TEAMS + team,
        size=size,
        quality=QUALITY - hard[:, None] * SENSITIVITY,
        bill=np.round(PRICES * (tokens[:, None] + answer), 6),
        judged=rng.random(count),
        right=rng.random(count),
    )


@cache
def costs() -> Floats:
    """Return the mean bill of each model for prompts of each kind, which depends on the length.

    It is rounded to the smallest amount of the ledger.
    """
    prompts = draw(99, 2_000_000)
    arrivals = np.bincount(prompts.size, minlength=SIZES)
    by_size = np.stack(
        [
            np.bincount(prompts.size, prompts.bill[:, model], SIZES) / arrivals
            for model in range(len(MODELS))
        ],
        axis=1,
    )
    by_kind: Floats = np.repeat(by_size, KINDS // SIZES, axis=0)
    return by_kind.round(6)
