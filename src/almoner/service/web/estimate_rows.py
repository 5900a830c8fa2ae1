"""Rows of the table of estimates: the actions shown of each context, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almoner.live.reports.report import ActionReport, ContextReport
from almoner.service.web import svg
from almoner.service.web.action_colours import ActionColours

__all__ = ["ContextRows", "EstimateRow", "estimate_rows", "shown_actions"]

PAIRS_SHOWN = 240
"""Maximal number of rows: each is a kilobyte of a page that is fetched every two seconds."""


class EstimateRow(NamedTuple):
    """One action in one context; ``kind`` names its colour in the style sheet."""

    pair: ActionReport
    whisker: svg.Whisker
    kind: str


class ContextRows(NamedTuple):
    """The rows of a context, the number of its other actions, and how often those were taken."""

    context: ContextReport
    rows: list[EstimateRow]
    hidden: int
    hidden_taken: int


def shown_actions(contexts: Sequence[ContextReport]) -> list[list[ActionReport]]:
    """Return the actions to show of each context, in their order.

    Those in the plan are shown, then those taken most often.
    """
    most = max(1, PAIRS_SHOWN // max(1, len(contexts)))
    return [_most_used(context.actions, most) for context in contexts]


def estimate_rows(
    contexts: Sequence[ContextReport],
    shown: Sequence[list[ActionReport]],
    colours: ActionColours,
    top: float,
    start: float = 0.0,
) -> list[ContextRows]:
    """Return the rows of each context, with intervals on an axis from ``start`` to ``top``."""
    return [
        ContextRows(
            context,
            [
                EstimateRow(pair, svg.whisker(pair, top, start), colours.kind(pair.action))
                for pair in pairs
            ],
            len(context.actions) - len(pairs),
            sum(pair.taken for pair in context.actions) - sum(pair.taken for pair in pairs),
        )
        for context, pairs in zip(contexts, shown, strict=True)
    ]


def _most_used(pairs: list[ActionReport], most: int) -> list[ActionReport]:
    if len(pairs) <= most:
        return pairs
    ranked = sorted(
        range(len(pairs)), key=lambda index: (-pairs[index].planned, -pairs[index].taken)
    )
    return [pairs[index] for index in sorted(ranked[:most])]
