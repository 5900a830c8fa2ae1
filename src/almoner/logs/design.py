"""Probabilities of logged actions: from a design, and checked against how often actions come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from almoner import checks
from almoner.checks.numbers import SUM_TOLERANCE
from almoner.errors import InvalidInput
from almoner.types import Floats, Ints

__all__ = ["by_name", "check_probabilities", "designed"]

SIGMAS, ROUNDING = 6.0, 0.02
"""Standard errors, and share, by which the weights of an action may differ from the rows: chance,
and probabilities written with two digits."""

SMALLEST = 1e-9
"""Smallest probability: the weight of such a row outweighs all others."""

UNIFORM = "uniform"


def designed(
    source: str,
    design: str | Mapping[str, float] | None,
    taken: Ints,
    actions: list[str],
    skip: str | None,
) -> Floats:
    """Return the probability of each row's action by the design of the log."""
    skips = bool(np.any(taken < 0))
    if design is None:
        raise InvalidInput(
            f"{source}: a log needs the probability of each action, and has no column of it; name "
            "it with probability=…, or say how actions were drawn: design='uniform', or a "
            "probability for each action"
        )
    if isinstance(design, str):
        checks.choice("design", design, [UNIFORM])
        each = np.full(len(actions) + 1, 1.0 / (len(actions) + skips))
    else:
        each = _table(design, actions, skip if skip is not None else "", skips)
    probabilities: Floats = each[taken]
    return probabilities


def by_name(table: Mapping[Any, float]) -> dict[str, float]:
    """Return a table by action with texts as names; None, like an empty text, is skipping."""
    return {"" if name is None else str(name): value for name, value in table.items()}


def _table(design: Mapping[str, float], actions: list[str], skip: str, skips: bool) -> Floats:
    """Return a probability for each action, and one for skipping at the end."""
    given = by_name(design)
    if skips and skip not in given and "skip" in given:
        skip = "skip"
    names = [*actions, skip] if skips else actions
    checks.known_keys("design", given, required=names, optional=["", "skip"])
    chances = [
        checks.number(f"the design of {name or 'skipping'!r}", given[name], above=0.0, high=1.0)
        for name in names
    ]
    if abs(sum(chances) - 1.0) > 1e3 * SUM_TOLERANCE:
        raise InvalidInput(
            f"design must sum to 1 over all actions, skipping included, got {sum(chances):.6g}; "
            "divide each entry by it"
        )
    return np.array(chances if skips else [*chances, np.nan])


def check_probabilities(
    source: str, probabilities: Floats, taken: Ints, actions: list[str]
) -> list[str]:
    """Refuse probabilities that contradict the actions; return notes on missing overlap.

    If every row could take an action, its weights 1/p sum up to the number of rows, but for chance.
    Larger sums contradict the probabilities; smaller ones say that some rows could not take it.
    """
    for rule, bad in (
        ("be greater than 0 and at most 1", ~((probabilities > 0.0) & (probabilities <= 1.0))),
        (f"be at least {SMALLEST:g}", probabilities < SMALLEST),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise InvalidInput(
                f"{source}: the probability in row {row + 1} must {rule}, got "
                f"{probabilities[row]:g}; give the probability with which the action of the row "
                "was taken"
            )
    rows, notes = len(taken), []
    for action in sorted(set(taken.tolist())):
        own = probabilities[taken == action]
        name = repr(actions[action]) if action >= 0 else "skipping"
        total = float(np.sum(1.0 / own))
        slack = SIGMAS * float(np.sqrt(np.sum((1.0 - own) / own**2))) + ROUNDING * rows
        if total > rows + slack:
            raise InvalidInput(
                f"{source}: probabilities must fit how often actions were taken, and those of "
                f"{name} do not: {len(own):,} of {rows:,} rows took it, with weights 1/p that sum "
                f"up to {total:,.0f}; check the column, or the design"
            )
        if total < rows - slack:
            notes.append(
                f"overlap is missing: {name} could be taken in about {100 * total / rows:.0f} % of "
                "the rows only, and estimates say nothing of the others"
            )
    return notes
