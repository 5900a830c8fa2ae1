"""Rows from arrays: shapes, names and finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import almoner as al

GOOD: dict[str, Any] = {"rewards": [[0.6, 0.9], [0.5, 0.6]], "costs": [[1, 3], [1, 3]]}


def test_names_are_numbers_if_left_out() -> None:
    rows = al.Rows(**GOOD, features=[[1.0], [2.0]])
    assert rows.actions == ("action 1", "action 2")
    assert rows.feature_names == ("feature 1",)
    assert repr(rows) == "Rows(2 rows, actions=('action 1', 'action 2'), 1 feature)"
    assert repr(al.Rows(**GOOD, scores=GOOD["rewards"], actions=["a", "b"])) == (
        "Rows(2 rows, actions=('a', 'b'), scores)"
    )


def test_one_cost_for_each_action_holds_for_every_row() -> None:
    rows = al.Rows(rewards=GOOD["rewards"], costs=(1, 3), expected_costs=np.array([2.0, 4.0]))
    assert rows.costs.tolist() == GOOD["costs"]
    assert rows.expected_costs.tolist() == [[2.0, 4.0], [2.0, 4.0]]


def test_arrays_are_copies_that_cannot_be_changed() -> None:
    given = np.array(GOOD["rewards"])
    rows = al.Rows(rewards=given, costs=GOOD["costs"])
    given[0, 0] = 7.0
    assert rows.rewards[0, 0] == 0.6
    with pytest.raises(ValueError, match="read-only"):
        rows.rewards[0, 0] = 7.0
    with pytest.raises(AttributeError):
        rows.costs = rows.rewards  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rewards": [0.5, 0.6]}, "rewards must have shape any×any and not be empty, got 2"),
        ({"rewards": []}, "rewards must have shape any×any and not be empty, got 0"),
        ({"costs": [[1, 3]]}, "costs must have shape 2×2 and not be empty, got 1×2"),
        ({"costs": [["a", "b"]]}, "costs must be numbers in rows of equal length, got costs="),
        ({"costs": [[1, 3], [1, -1]]}, "costs in row 2 must be finite and at least 0, got"),
        ({"scores": [[1, 3], [np.nan, 1]]}, "scores in row 2 must be finite, got"),
        ({"features": [[1.0]]}, "features must have shape 2×any and not be empty, got 1×1"),
        ({"skip_rewards": [1.0]}, "skip_rewards must have shape 2 and not be empty, got 1"),
        ({"skip_scores": [1.0, np.inf]}, "skip_scores in row 2 must be finite, got"),
        ({"actions": ["a"]}, "actions must hold 2 names, one each, got 1"),
        ({"actions": ["a", "a"]}, "actions must be different names, got"),
    ],
)
def test_bad_arrays_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(al.InvalidInput) as refused:
        al.Rows(**{**GOOD, **changes})
    assert str(refused.value).startswith(sentence)
