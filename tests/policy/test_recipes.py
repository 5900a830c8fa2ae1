from __future__ import annotations

import inspect
from typing import Any

import pytest

import almoner
from almoner.errors import InvalidPolicy
from almoner.policy.allocation import (
    AdaptiveLP,
    EagerRounding,
    FixedLP,
    Procrastinate,
    RoundedLP,
    SkipAlways,
)
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, KnownContexts, NoContexts, TruncatedContexts
from almoner.policy.priors import NoPrior, Pooled
from almoner.policy.recipes import RECIPES, recipe
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    EmpiricalMean,
    ExploreFirst,
    HorizonUCB,
    InsuredWilson,
    KnownRewards,
    LogPlus,
    Thompson,
    Wilson,
)

TABLE: dict[str, tuple[Any, ...]] = {
    "alp": (KnownRewards(), KnownContexts(), AdaptiveLP()),
    "flp": (KnownRewards(), KnownContexts(), FixedLP(override=False)),
    "pb": (KnownRewards(), NoContexts(), Procrastinate()),
    "ealp": (KnownRewards(), EmpiricalContexts(), AdaptiveLP()),
    "ealp2": (KnownRewards(), TruncatedContexts(until=None), AdaptiveLP()),
    "ucb_alp": (UCB(width=0.5), KnownContexts(), AdaptiveLP()),
    "ucb_flp": (UCB(width=0.5), KnownContexts(), FixedLP(override=False)),
    "ucb_pb": (UCB(width=0.5), NoContexts(), Procrastinate()),
    "ucb_ealp": (UCB(width=0.5), EmpiricalContexts(), AdaptiveLP()),
    "ucb_ealp2": (UCB(width=0.5), TruncatedContexts(until=None), AdaptiveLP()),
    "rounded": (KnownRewards(), KnownContexts(), RoundedLP()),
    "ucb_rounded": (UCB(width=0.5), EmpiricalContexts(), RoundedLP()),
    "kl_ucb_rounded": (KLUCB(width=1.0), EmpiricalContexts(), RoundedLP()),
    "log_plus_rounded": (LogPlus(width=0.25), EmpiricalContexts(), RoundedLP()),
    "thompson_rounded": (Thompson(), EmpiricalContexts(), RoundedLP()),
    "epsilon_first_alp": (ExploreFirst(), KnownContexts(), AdaptiveLP()),
    "epsilon_first_printed": (
        ExploreFirst(factor=50, update=False, untried=0),
        KnownContexts(),
        AdaptiveLP(),
    ),
    "horizon_alp": (HorizonUCB(width=0.25), EmpiricalContexts(), AdaptiveLP()),
    "wilson_eager": (Wilson(), EmpiricalContexts(), EagerRounding()),
    "thrifty": (
        InsuredWilson(caution=1.0, evidence="graded"),
        EmpiricalContexts(),
        EagerRounding(),
        Pooled(proof=4.0),
    ),
    "greedy": (EmpiricalMean(), EmpiricalContexts(), RoundedLP()),
    "skip_always": (EmpiricalMean(), NoContexts(), SkipAlways()),
}
"""Every recipe, part by part, with its prior if it has one."""


def test_the_table_misses_no_recipe() -> None:
    assert list(TABLE) == list(RECIPES)


@pytest.mark.parametrize("name", TABLE)
def test_a_recipe_is_the_product_of_its_parts(name: str) -> None:
    policy = RECIPES[name]()
    rewards, contexts, allocation, *prior = TABLE[name]
    assert (policy.rewards, policy.contexts, policy.allocation) == (rewards, contexts, allocation)
    assert policy.prior == (prior[0] if prior else NoPrior())


def test_no_two_recipes_are_the_same_policy() -> None:
    assert len({make() for make in RECIPES.values()}) == len(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_survives_json_and_its_own_repr(name: str) -> None:
    policy = RECIPES[name]()
    names: dict[str, Any] = {}
    exec("from almoner import *", names)  # noqa: S102
    assert eval(repr(policy), names) == policy  # noqa: S307
    assert Policy.from_json(policy.to_json()) == policy


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_goes_by_its_name_with_underscores_or_dashes(name: str) -> None:
    assert recipe(name) == recipe(name.replace("_", "-")) == RECIPES[name]()
    assert getattr(almoner, name) is RECIPES[name]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_takes_only_keywords_and_has_an_example(name: str) -> None:
    make = RECIPES[name]
    kinds = {parameter.kind for parameter in inspect.signature(make).parameters.values()}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
    assert f"{name}(" in (make.__doc__ or "").split("Examples")[1]


GIVEN: list[tuple[str, dict[str, Any], Policy]] = [
    (
        "alp",
        {"context_probs": [0.4, 0.6], "reward_means": [[0.8], [0.3]]},
        Policy(
            rewards=KnownRewards(means=((0.8,), (0.3,))),
            contexts=KnownContexts(probs=(0.4, 0.6)),
            allocation=AdaptiveLP(),
        ),
    ),
    (
        "flp",
        {"context_probs": [0.4, 0.6], "override": True},
        Policy(
            rewards=KnownRewards(),
            contexts=KnownContexts(probs=(0.4, 0.6)),
            allocation=FixedLP(override=True),
        ),
    ),
    (
        "ealp2",
        {"until": 70},
        Policy(
            rewards=KnownRewards(),
            contexts=TruncatedContexts(until=70),
            allocation=AdaptiveLP(),
        ),
    ),
    (
        "ucb_flp",
        {"width": 0.125, "override": True},
        Policy(
            rewards=UCB(width=0.125), contexts=KnownContexts(), allocation=FixedLP(override=True)
        ),
    ),
    (
        "ucb_rounded",
        {"width": 2, "contexts": KnownContexts(probs=(0.4, 0.6))},
        Policy(
            rewards=UCB(width=2.0),
            contexts=KnownContexts(probs=(0.4, 0.6)),
            allocation=RoundedLP(),
        ),
    ),
    (
        "thrifty",
        {"caution": 0.25},
        Policy(
            rewards=InsuredWilson(caution=0.25, evidence="graded"),
            contexts=EmpiricalContexts(),
            allocation=EagerRounding(),
            prior=Pooled(proof=4.0),
        ),
    ),
]


@pytest.mark.parametrize(("name", "arguments", "policy"), GIVEN)
def test_an_argument_goes_to_the_part_it_is_about(
    name: str, arguments: dict[str, Any], policy: Policy
) -> None:
    assert RECIPES[name](**arguments) == policy


@pytest.mark.parametrize(
    "name", [name for name in RECIPES if "width" in inspect.signature(RECIPES[name]).parameters]
)
def test_a_width_is_passed_on(name: str) -> None:
    rewards: Any = RECIPES[name](width=0.75).rewards
    assert rewards.width == 0.75


@pytest.mark.parametrize("junk", ["", "empirical"])
@pytest.mark.parametrize(
    "name", [name for name in RECIPES if "contexts" in inspect.signature(RECIPES[name]).parameters]
)
def test_what_is_no_context_knowledge_is_refused(name: str, junk: Any) -> None:
    with pytest.raises(InvalidPolicy, match=r"^contexts must be one of "):
        RECIPES[name](contexts=junk)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("ubc-alp", "; did you mean 'ucb_alp'?"),
        ("Thrifty!", "; did you mean 'thrifty'?"),
        (7, "'7'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name: Any, ending: str) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        recipe(name)
    names = f"{', '.join(RECIPES)}, or on rows {', '.join(almoner.ROW_RECIPES)}"
    assert str(refused.value).startswith(f"policy must be one of {names}, got policy=")
    assert str(refused.value).endswith(ending)
