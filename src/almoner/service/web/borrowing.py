"""Borrowed rewards in words: what a pair learns from other contexts and actions, and how much."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from almoner.live.reports.report import ActionReport
from almoner.service.web.estimate_rows import ContextRows
from almoner.service.web.formatting import count, isolated, percent, plural

__all__ = ["explanation", "rewards_counted"]

NO_BREAK = "\N{NO-BREAK SPACE}"


def rewards_counted(pair: ActionReport) -> str:
    """Return the own and the borrowed rewards of an estimate; empty if nothing is borrowed."""
    if pair.pooled is None:
        return ""
    parts = [f"{_number(_own(pair))} own"]
    parts += [f"{_number(pair.inherited)} inherited"] if pair.inherited else []
    parts += [f"{_number(pair.borrowed)} borrowed"] if pair.borrowed is not None else []
    return ", ".join(part.replace(" ", NO_BREAK) for part in parts)


def explanation(contexts: Sequence[ContextRows]) -> Markup:
    """Return what is borrowed, with one pair as an example; empty if nothing is.

    The example is the first pair with own rewards, or else the first one, so that it stays the same
    while the page updates.
    """
    pairs = [
        (context.context.context, row.pair)
        for context in contexts
        for row in context.rows
        if row.pair.pooled is not None
    ]
    if not pairs:
        return Markup()
    name, pair = next((each for each in pairs if each[1].rewarded), pairs[0])
    return Markup(
        "The campaign decides by the estimate, the diamond: it adds {}. For “{}” with “{}” it is "
        "made of {}."
    ).format(
        _sources([each[1] for each in pairs]), isolated(name), isolated(pair.action), _parts(pair)
    )


def _sources(pairs: Sequence[ActionReport]) -> str:
    """Return what estimates add to own rewards."""
    lent = "what similar contexts and actions have taught, as borrowed rewards"
    before = "what was known before it began, as inherited rewards"
    has_lent = any(pair.borrowed is not None for pair in pairs)
    if not any(pair.inherited for pair in pairs):
        return lent
    return f"{before}, and {lent}" if has_lent else before


def _parts(pair: ActionReport) -> str:
    """Return the numbers of own and borrowed rewards of a pair, and the weight of its own."""
    borrowed = pair.borrowed or 0.0
    others = [f"{_about(pair.inherited)} inherited"] if pair.inherited else []
    others += [f"{_about(borrowed)} borrowed"] if pair.borrowed is not None else []
    if not _own(pair):
        return f"{', '.join(others)}, and no reward of its own yet"
    weight = percent(_own(pair) / (_own(pair) + pair.inherited + borrowed))
    own = plural(pair.rewarded, "own reward")
    if pair.evidence is not None and pair.evidence != pair.rewarded:
        own = f"{_about(pair.evidence)} own"
    *first, last = [own, *others]
    return f"{', '.join(first)} and {last}: its own weigh {weight}"


def _own(pair: ActionReport) -> float:
    """Return the number of own rewards of a pair; in a window, of decisions by their age."""
    return pair.rewarded if pair.evidence is None else pair.evidence


def _about(rewards: float) -> str:
    return f"{'about ' if rewards >= 1 else ''}{_number(rewards)}"


def _number(rewards: float) -> str:
    return "under 1" if 0 < rewards < 1 else count(rewards)
