"""Colours of actions in bars, legends and tables: one for each, or for those used most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["OTHERS", "ActionColours", "PlannedAction", "PlannedContext", "action_colours"]

COLOURS = 6
"""Number of action colours in the style sheet: more could not be told apart."""

OTHERS = "action-others"
"""The kind of all actions without a colour of their own, which are drawn hatched."""


class PlannedAction(Protocol):
    """An action with the probability that a plan gives it, in a report or a preview."""

    @property
    def action(self) -> str:
        """Name of the action."""

    @property
    def planned(self) -> float:
        """Probability of the action."""


class PlannedContext(Protocol):
    """A context with its share of arrivals and its actions, in a report or a preview."""

    @property
    def share(self) -> float:
        """Share of arrivals."""

    @property
    def actions(self) -> Sequence[PlannedAction]:
        """All actions, in the same order in every context."""


@dataclass(frozen=True, kw_only=True)
class ActionColours:
    """Colours of the actions of a page.

    Attributes
    ----------
    kinds
        Names of the colours in the style sheet by action, without those that have none.
    others
        Number of actions without a colour of their own.
    """

    kinds: dict[str, str]
    others: int

    def kind(self, action: str) -> str:
        """Return the name of an action's colour."""
        return self.kinds.get(action, OTHERS)


def action_colours(
    contexts: Iterable[PlannedContext], taken: Mapping[str, int] | None = None
) -> ActionColours:
    """Return the colours of the actions of some contexts.

    If there are too many actions, those have one that the plan takes most often, then those that
    were ``taken`` most often.
    """
    expected: dict[str, float] = {}
    planned: dict[str, float] = {}
    for context in contexts:
        for action in context.actions:
            name, probability = action.action, action.planned
            expected[name] = expected.get(name, 0.0) + context.share * probability
            planned[name] = planned.get(name, 0.0) + probability
    names, counts = list(planned), taken or {}
    most_used = sorted(
        range(len(names)),
        key=lambda index: (
            -expected[names[index]],
            -planned[names[index]],
            -counts.get(names[index], 0),
        ),
    )
    numbers = _numbers(most_used[:COLOURS])
    return ActionColours(
        kinds={name: f"action-{numbers[i]}" for i, name in enumerate(names) if i in numbers},
        others=max(0, len(names) - COLOURS),
    )


def _numbers(indices: Sequence[int]) -> dict[int, int]:
    """Return a colour for each index: its own if that is free, so that few change with the plan."""
    numbers: dict[int, int] = {}
    for index in indices:
        candidates = ((index + step) % COLOURS for step in range(COLOURS))
        numbers[index] = next(c for c in candidates if c not in numbers.values())
    return numbers
