"""Borrowed rewards in words: what a pair learns from other contexts and actions, and how much."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from almoner.live.report import ActionReport
from almoner.service.web.estimate_rows import ContextRows
from almoner.service.web.formatting import count, isolated, percent, plural

__all__ = ["explanation", "rewards_counted"]

NO_BREAK = "\N{NO-BREAK SPACE}"


def rewards_counted(pair: ActionReport) -> str:
    """Return the own and the borrowed rewards of an estimate; empty if nothing is borrowed."""
    if pair.borrowed is None:
        return ""
    own, borrowed = f"{count(pair.rewarded)} own", f"{_number(pair.borrowed)} borrowed"
    return f"{own}, {borrowed}".replace(" ", NO_BREAK).replace(f",{NO_BREAK}", ", ")


def explanation(contexts: Sequence[ContextRows]) -> Markup:
    """Return what is borrowed, with one pair as an example; empty if nothing is.

    The example is the first pair with own rewards, or else the first one, so that it stays the same
    while the page updates.
    """
    pairs = [
        (context.context.context, row.pair)
        for context in contexts
        for row in context.rows
        if row.pair.borrowed is not None
    ]
    if not pairs:
        return Markup()
    name, pair = next((each for each in pairs if each[1].rewarded), pairs[0])
    return Markup(
        "The campaign decides by the estimate, the diamond: it adds what similar contexts and "
        "actions have taught, as borrowed rewards. For “{}” with “{}” it is made of {}."
    ).format(isolated(name), isolated(pair.action), _parts(pair))


def _parts(pair: ActionReport) -> str:
    """Return the numbers of own and borrowed rewards of a pair, and the weight of its own."""
    borrowed = pair.borrowed or 0.0
    lent = f"{'about ' if borrowed >= 1 else ''}{_number(borrowed)}"
    if not pair.rewarded:
        return f"{lent} borrowed, and no reward of its own yet"
    weight = percent(pair.rewarded / (pair.rewarded + borrowed))
    return f"{plural(pair.rewarded, 'own reward')} and {lent} borrowed: its own weigh {weight}"


def _number(borrowed: float) -> str:
    return count(borrowed) if borrowed >= 1 else "under 1"
