"""Names of policies as people write them."""

from __future__ import annotations

import pytest

import almoner as al
from almoner.policy.recipe_names import WRITTEN_AS


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("UCB-ALP", "ucb_alp"),
        ("ucb alp", "ucb_alp"),
        ("Thompson", "thompson_rounded"),
        ("Thompson sampling", "thompson_rounded"),
        ("KL-UCB", "kl_ucb_rounded"),
        ("KLUCB", "kl_ucb_rounded"),
        ("EALP2", "ealp2"),
        ("ε-First ALP", "epsilon_first_alp"),
        ("Thrifty", "thrifty"),
        ("Log+", "log_plus_rounded"),
        ("PID", "pid_pacing"),
    ],
)
def test_names_of_the_field_are_understood(written: str, name: str) -> None:
    assert al.recipe_name(written) == name
    assert al.recipe(written) == al.recipe(name)


@pytest.mark.parametrize("name", [*al.RECIPES, *al.ROW_RECIPES])
def test_every_recipe_is_found_in_capitals_and_with_dashes(name: str) -> None:
    assert al.recipe_name(name.upper().replace("_", "-")) == name


def test_every_other_name_leads_to_a_recipe() -> None:
    assert set(WRITTEN_AS.values()) <= {*al.RECIPES, *al.ROW_RECIPES}
    assert not set(WRITTEN_AS) & {*al.RECIPES, *al.ROW_RECIPES}


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(al.InvalidPolicy, match="did you mean 'thrifty'"):
        al.recipe("Thriffty")
