"""ArrivalRow: the scores or features of one arrival, checked, to the log and back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from almoner import checks
from almoner.errors import InvalidInput
from almoner.live.policy.detail import written_numbers
from almoner.live.terms.terms import ROWS, SKIP_NAME, Terms
from almoner.policy.rows import REGRESSOR_LIMIT, SCORE_LIMIT

__all__ = ["ArrivalRow", "known_row", "learned_parts", "logged_row", "row_context"]


@dataclass(slots=True)
class ArrivalRow:
    """What one arrival offers: scores or features by name; the value of a skip is among the scores.

    ``available`` are the actions that it allows, None for all; ``horizon`` is the number of
    arrivals that the plan was made for, once there is one.
    """

    scores: dict[str, float] | None
    features: dict[str, float] | None
    available: Collection[str] | None = None
    horizon: int | None = None

    def written(self) -> str:
        """Return scores or features, and the horizon, as members of the JSON object in the log."""
        kind, table = "scores", self.scores
        if table is None:
            kind, table = "features", self.features or {}
        numbers = written_numbers(table)
        if self.horizon is None:
            return f'"{kind}":{numbers}'
        return f'"{kind}":{numbers},"horizon":{self.horizon}'


def row_context(context: Any) -> str:
    """Return the context of all arrivals of a campaign on rows; refuse another one."""
    if context not in (None, ROWS):
        raise checks.refuse(
            "context", "be left out in a campaign on rows", context, "give scores or features"
        )
    return ROWS


def known_row(
    terms: Terms, scores: Any, features: Any, available: Collection[str] | None
) -> ArrivalRow | None:
    """Return the row of an arrival, checked; None in a campaign with named contexts."""
    if type(scores) is dict and features is None and terms.scores:
        return ArrivalRow(_scores(terms, scores, available), None, available)
    for name, given, expected in (
        ("scores", scores, terms.scores),
        ("features", features, bool(terms.features)),
    ):
        if given is not None and not expected:
            needs = "scores" if terms.scores else "features" if terms.features else "a context"
            raise InvalidInput(f"decide takes no {name} in this campaign, got {name}; give {needs}")
        if given is None and expected:
            raise InvalidInput(f"decide needs the {name} of the arrival; give {name}")
        if given is not None and not isinstance(given, Mapping):
            raise checks.refuse(name, "be a table of numbers by name", given)
    if terms.scores:
        return ArrivalRow(_scores(terms, scores, available), None, available)
    return ArrivalRow(None, _features(terms, features), available) if terms.features else None


def _scores(
    terms: Terms, scores: Mapping[Any, Any], available: Collection[str] | None
) -> dict[str, float]:
    """Return a score for each action that the arrival allows, and that of a skip if given."""
    if available is None and _are_plain(scores):
        numbers = dict(scores)
        idle = numbers.pop(None, None)
        if numbers.keys() == terms.active_names:
            if idle is not None:
                numbers[SKIP_NAME] = idle
            return numbers
    return _checked_scores(terms, scores, available)


def _are_plain(table: Mapping[Any, Any]) -> bool:
    """Return whether a table has floats only, whose sum is within all limits."""
    values = table.values()
    return {*map(type, values)} == _FLOATS and sum(map(abs, values)) <= REGRESSOR_LIMIT


_FLOATS = {float}


def _checked_scores(
    terms: Terms, scores: Mapping[Any, Any], available: Collection[str] | None
) -> dict[str, float]:
    """Return the same, and refuse bad scores in a sentence."""
    given = {SKIP_NAME if name is None else name: value for name, value in scores.items()}
    if len(given) < len(scores):
        raise InvalidInput(f"scores have a value for None and for {SKIP_NAME!r}; give one of them")
    for name in given:
        if name != SKIP_NAME:
            checks.choice("an action with a score", name, terms.actions)
    for name in terms.active if available is None else available:
        if name not in given and name not in terms.stopped:
            raise InvalidInput(
                f"scores lack the action {name!r}; give its score, or leave it out of available"
            )
    learned = getattr(terms.policy.rewards, "trust", None) is not None
    most = REGRESSOR_LIMIT if learned else SCORE_LIMIT
    return {
        str(name): checks.number(f"the score of {name!r}", score, low=-most, high=most)
        for name, score in given.items()
    }


def _features(terms: Terms, features: Mapping[Any, Any]) -> dict[str, float]:
    """Return a number for each feature of the campaign."""
    if features.keys() == terms.feature_names and _are_plain(features):
        return dict(features)
    checks.known_keys("features", features, required=terms.features, error=InvalidInput)
    most = REGRESSOR_LIMIT
    return {
        name: checks.number(f"the feature {name!r}", features[name], low=-most, high=most)
        for name in terms.features
    }


def logged_row(detail: str | None, available: str | None) -> tuple[ArrivalRow, dict[str, int]]:
    """Return the row of a decision in the log, and the costs that it had of its own.

    ``available`` are the actions that it allowed, as the log has them.
    """
    table = json.loads(detail or "{}")
    allowed = None if available is None else json.loads(available)
    row = ArrivalRow(table.get("scores"), table.get("features"), allowed, table.get("horizon"))
    return row, table.get("costs", {})


def learned_parts(detail: str | None) -> dict[str, Any]:
    """Return the parts of a decision's detail that its rewards and bills repeat, to learn from."""
    table = json.loads(detail or "{}")
    return {name: table[name] for name in ("costs", "scores", "features") if name in table}
