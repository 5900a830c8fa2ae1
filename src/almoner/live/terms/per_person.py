"""The term `PerPerson`: the most actions that one person gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.times.durations import duration, in_words

__all__ = ["PerPerson", "parse_per_person", "written_per_person"]


@dataclass(frozen=True, kw_only=True)
class PerPerson:
    """The most actions that one person gets.

    Parameters
    ----------
    actions
        How many, at least 1.
    every
        The time in which they count, such as ``"30 days"``: an older action counts no more.

    Examples
    --------
    >>> PerPerson(actions=1, every="30 days")
    PerPerson(actions=1, every='30 days')
    """

    actions: int
    every: Any


def parse_per_person(value: Any) -> tuple[int, int] | None:
    """Return the number of actions and the microseconds in which they count."""
    if value is None:
        return None
    if not isinstance(value, PerPerson):
        remedy = 'write PerPerson(actions=1, every="30 days")'
        raise checks.refuse("per_person", "be a PerPerson", value, remedy, InvalidTerms)
    actions = checks.whole("actions of per_person", value.actions, low=1, error=InvalidTerms)
    return actions, duration("every of per_person", value.every)


def written_per_person(per_person: tuple[int, int] | None) -> PerPerson | None:
    """Return the term as a person writes it."""
    if per_person is None:
        return None
    return PerPerson(actions=per_person[0], every=in_words(per_person[1]))
