"""Names of policies as people write them."""

from __future__ import annotations

import pytest

import almoner as al
from almoner.policy.recipe_names import WRITTEN_AS
from almoner.policy.recipes import described


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


@pytest.mark.parametrize(
    ("written", "name", "policy"),
    [
        ("thrifty(caution=2)", "thrifty(caution=2)", al.thrifty(caution=2)),
        ("Thrifty( caution = 0.5 )", "thrifty(caution=0.5)", al.thrifty(caution=0.5)),
        ("UCB-ALP(width=1)", "ucb_alp(width=1)", al.ucb_alp(width=1)),
        ("thrifty()", "thrifty", al.thrifty()),
        (
            "epsilon_first_alp(rounds=50, update=false, test='usable')",
            "epsilon_first_alp(rounds=50, update=False, test=usable)",
            al.epsilon_first_alp(rounds=50, update=False, test="usable"),
        ),
    ],
)
def test_a_name_may_have_arguments(written: str, name: str, policy: al.Policy) -> None:
    assert al.recipe_name(written) == name
    assert al.recipe(written) == al.recipe(name) == policy


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("thrifty(caution=11)", "caution must be between 0 and 10, got caution=11"),
        ("thrifty(caution=nan)", "caution must be finite"),
        ("thrifty(caution=high)", "caution must be a number, got caution='high'"),
        ("thrifty(bravery=1)", "policy thrifty takes caution, got 'bravery'"),
        ("greedy(width=1)", "policy greedy takes no arguments, got 'width'"),
        ("alp(reward_means=0.5)", "means must have shape"),
        ("Thriffty(caution=1)", "did you mean 'thrifty'"),
        *(
            (written, "with arguments if any, as in thrifty")
            for written in (
                "thrifty(2)",
                "thrifty(caution=)",
                "thrifty(caution=2",
                "thrifty caution=2)",
                "thrifty(caution=1, caution=2)",
                "thrifty(caution=(1))",
                "thrifty(caution=2) or so",
            )
        ),
    ],
)
def test_arguments_that_a_recipe_does_not_take_are_refused(written: str, message: str) -> None:
    with pytest.raises(al.InvalidPolicy) as refusal:
        al.recipe(written)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "name",
    [
        "thrifty",
        "thrifty(caution=2)",
        "thrifty(caution=0)",
        "thrifty(caution=1.23456789)",
        "priced",
    ],
)
def test_a_policy_is_described_by_the_name_that_makes_it(name: str) -> None:
    assert described(al.recipe(name)) == name


def test_a_policy_that_no_recipe_makes_is_described_in_full() -> None:
    insured = al.Policy(
        rewards=al.InsuredWilson(caution=2),
        contexts=al.EmpiricalContexts(),
        allocation=al.EagerRounding(),
    )
    assert described(insured) == repr(insured)
    assert described(al.ucb_alp(width=2)) == repr(al.ucb_alp(width=2))
