from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields
from itertools import product
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
from almoner.policy.base import PARTS, ROW_PARTS, Policy
from almoner.policy.contexts import EmpiricalContexts, KnownContexts, NoContexts, TruncatedContexts
from almoner.policy.priors import NoPrior, Pooled
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    ExploreFirst,
    HorizonUCB,
    InsuredWilson,
    KnownRewards,
    LogPlus,
    Thompson,
    Wilson,
)

NEED_SHARES = (Wilson, HorizonUCB, InsuredWilson, ExploreFirst)
WITHOUT_PRIOR = (KnownRewards, ExploreFirst)

FULL = Policy(
    rewards=KnownRewards(means=((0.2, 0.8, 0.5), (0.1, 0.4, 0.3))),
    contexts=KnownContexts(probs=(0.4, 0.6)),
    allocation=FixedLP(override=True),
)
POLICIES = [
    FULL,
    Policy(rewards=UCB(width=0.125), contexts=EmpiricalContexts(), allocation=AdaptiveLP()),
    Policy(rewards=KLUCB(), contexts=TruncatedContexts(until=70), allocation=RoundedLP()),
    Policy(rewards=Thompson(), contexts=NoContexts(), allocation=Procrastinate()),
    Policy(
        rewards=InsuredWilson(caution=0.5),
        contexts=EmpiricalContexts(),
        allocation=EagerRounding(),
        prior=Pooled(),
    ),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_repr_evaluates_back(policy: Policy) -> None:
    names = {name: getattr(almoner, name) for name in dir(almoner)}
    assert eval(repr(policy), names) == policy  # noqa: S307


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_json_gives_back_an_equal_policy(policy: Policy) -> None:
    again = Policy.from_json(policy.to_json())
    assert again == policy
    assert hash(again) == hash(policy)
    assert Policy.from_dict(policy.to_dict()) == policy


def test_the_json_is_one_table_per_part_with_its_kind() -> None:
    assert json.loads(FULL.to_json()) == {
        "rewards": {"kind": "KnownRewards", "means": [[0.2, 0.8, 0.5], [0.1, 0.4, 0.3]]},
        "contexts": {"kind": "KnownContexts", "probs": [0.4, 0.6]},
        "allocation": {"kind": "FixedLP", "override": True},
    }
    assert "\n" not in FULL.to_json()


def test_parameters_left_out_of_the_json_have_their_defaults() -> None:
    table = {
        "rewards": {"kind": "LogPlus"},
        "contexts": {"kind": "KnownContexts"},
        "allocation": {"kind": "AdaptiveLP"},
    }
    assert Policy.from_dict(table) == Policy(
        rewards=LogPlus(width=0.25), contexts=KnownContexts(probs=None), allocation=AdaptiveLP()
    )


def test_policies_are_equal_when_their_parts_are_however_written() -> None:
    means: Any = [[0.2, 0.8, 0.5], [0.1, 0.4, 0.3]]
    probs: Any = [0.4, 0.6]
    same = Policy(
        rewards=KnownRewards(means=means),
        contexts=KnownContexts(probs=probs),
        allocation=FixedLP(override=True),
    )
    assert same == FULL
    assert hash(same) == hash(FULL)
    assert len({*POLICIES, same}) == len(POLICIES)


@pytest.mark.parametrize("axis", PARTS)
def test_a_policy_cannot_be_changed(axis: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(FULL, axis, None)


@pytest.mark.parametrize("axis", PARTS)
def test_every_code_of_an_axis_is_its_own(axis: str) -> None:
    base, parts = PARTS[axis]
    assert sorted(part.code for part in parts.values()) == list(range(len(parts)))
    assert all(issubclass(part, base) for part in parts.values())


@pytest.mark.parametrize(
    "part", [part for _, parts in PARTS.values() for part in parts.values()], ids=repr
)
def test_every_part_is_public_frozen_keyword_only_and_usable_without_arguments(part: Any) -> None:
    assert part.__name__ in dir(almoner)
    made = part()
    assert made == part()
    assert hash(made) == hash(part())
    for field in fields(part):
        assert field.kw_only
        with pytest.raises(FrozenInstanceError):
            setattr(made, field.name, 0.5)


def combinations() -> list[tuple[Any, Any, Any, Any]]:
    return list(product(*(parts.values() for _, parts in PARTS.values())))


def test_every_combination_of_parts_is_a_policy_or_refused_for_one_of_four_reasons() -> None:
    """Combinations that remain: a rule weighs contexts, or there is nothing to weigh.

    Known rewards and exploration first have no use for a prior.
    """
    for rewards, contexts, allocation, prior in combinations():
        weightless = contexts is NoContexts
        if allocation is Procrastinate:
            sensible = weightless and rewards not in NEED_SHARES
        elif allocation is SkipAlways:
            sensible = not (weightless and rewards in NEED_SHARES)
        else:
            sensible = not weightless
        parts = {"rewards": rewards(), "contexts": contexts(), "allocation": allocation()}
        if sensible and (prior is NoPrior or rewards not in WITHOUT_PRIOR):
            policy = Policy(**parts, prior=prior())
            assert Policy.from_json(policy.to_json()) == policy
        else:
            remedy = "; leave prior out" if sensible else "; give contexts="
            with pytest.raises(InvalidPolicy, match=remedy):
                Policy(**parts, prior=prior())


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            (UCB(), NoContexts(), AdaptiveLP()),
            "AdaptiveLP weighs contexts, so it needs to know of them; "
            "give contexts=KnownContexts() or EmpiricalContexts() instead of NoContexts()",
        ),
        (
            (Wilson(), NoContexts(), Procrastinate()),
            "Wilson needs each context's share of the rounds; "
            "give contexts=EmpiricalContexts() instead of NoContexts()",
        ),
        (
            (UCB(), KnownContexts(probs=(0.4, 0.6)), Procrastinate()),
            "Procrastinate ranks contexts and never weighs them, so knowledge of their "
            "probabilities would be ignored, got contexts=KnownContexts(probs=(0.4, 0.6)); "
            "give contexts=NoContexts()",
        ),
        (
            (UCB(), KnownContexts(), "alp"),
            f"allocation must be one of {', '.join(PARTS['allocation'][1])}, got allocation='alp'",
        ),
        (
            (KnownContexts(), KnownContexts(), AdaptiveLP()),
            f"rewards must be one of {', '.join(PARTS['rewards'][1])}, "
            "got rewards=KnownContexts(probs=None)",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused_in_one_sentence(
    parts: tuple[Any, Any, Any], sentence: str
) -> None:
    rewards, contexts, allocation = parts
    with pytest.raises(InvalidPolicy) as refused:
        Policy(rewards=rewards, contexts=contexts, allocation=allocation)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("rewards", WITHOUT_PRIOR)
def test_rewards_that_use_no_prior_refuse_one_in_one_sentence(rewards: Any) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        Policy(rewards=rewards(), contexts=KnownContexts(), allocation=AdaptiveLP(), prior=Pooled())
    assert str(refused.value) == (
        f"{rewards.__name__} takes its means from nowhere else, so that a prior would be ignored, "
        "got prior=Pooled(proof=None); leave prior out"
    )


def test_a_prior_is_named_in_the_json_only_if_there_is_one() -> None:
    """So policies written before there were priors are read, and written, as before."""
    pooled = POLICIES[-1]
    assert pooled.to_dict()["prior"] == {"kind": "Pooled", "proof": None}
    assert Policy.from_dict({**pooled.to_dict(), "prior": {"kind": "Pooled"}}) == pooled
    assert set(FULL.to_dict()) == {"rewards", "contexts", "allocation"}
    table = {**FULL.to_dict(), "prior": {"kind": "NoPrior"}}
    assert Policy.from_dict(table) == FULL
    assert FULL.prior == NoPrior()


@pytest.mark.parametrize(
    ("part", "parameters", "sentence"),
    [
        (UCB, {"width": -1}, "width must be at least 0, got width=-1"),
        (KLUCB, {"width": True}, "width must be a number, got width=True"),
        (LogPlus, {"width": float("nan")}, "width must be finite, got width=nan"),
        (KnownRewards, {"means": [[0.1, 2]]}, "means[0, 1] must be between 0 and 1, got "),
        (KnownRewards, {"means": [0.1, 0.2]}, "means must have shape any×any, got shape 2"),
        (KnownContexts, {"probs": [0.4, 0.5]}, "probs must sum to 1, got a sum of 0.9; "),
        (TruncatedContexts, {"until": 0}, "until must be at least 1, got until=0"),
        (TruncatedContexts, {"until": 2.5}, "until must be a whole number, got until=2.5"),
        (FixedLP, {"override": "no"}, "override must be "),
        (InsuredWilson, {"caution": -0.1}, "caution must be between 0 and 10, got caution=-0.1"),
        (InsuredWilson, {"caution": 11}, "caution must be between 0 and 10, got caution=11"),
        (
            InsuredWilson,
            {"evidence": "grade"},
            "evidence must be one of flat, graded, got evidence='grade'; did you mean 'graded'?",
        ),
        (Pooled, {"proof": -1}, "proof must be between 0 and 1000, got proof=-1"),
    ],
)
def test_a_bad_parameter_is_refused_when_the_part_is_made(
    part: Any, parameters: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        part(**parameters)
    assert str(refused.value).startswith(sentence)


TABLE = FULL.to_dict()
KINDS = ", ".join([*PARTS["rewards"][1], *ROW_PARTS["rewards"]])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([], "a policy must be a table of its parts, got a policy=[]"),
        (
            {**TABLE, "alocation": {}},
            "the policy has the unknown key 'alocation'; did you mean 'allocation'?",
        ),
        ({"rewards": {"kind": "UCB"}}, "the policy lacks the key 'contexts'; add it"),
        (
            {**TABLE, "rewards": {"kind": "UBC"}},
            f"rewards kind must be one of {KINDS}, got rewards kind='UBC'; did you mean 'UCB'?",
        ),
        (
            {**TABLE, "rewards": {"kind": "RewardKnowledge"}},
            f"rewards kind must be one of {KINDS}, got rewards kind='RewardKnowledge'",
        ),
        ({**TABLE, "rewards": {}}, f"rewards kind must be one of {KINDS}, got rewards kind=None"),
        (
            {**TABLE, "rewards": {"kind": "UCB", "widht": 1}},
            "UCB has the unknown key 'widht'; did you mean 'width'?",
        ),
        (
            {**TABLE, "rewards": {"kind": "UCB", "code": 1}},
            "UCB has the unknown key 'code'; use only width",
        ),
        (
            {**TABLE, "rewards": {"kind": "UCB", "width": "wide"}},
            "width must be a number, got width='wide'",
        ),
    ],
)
def test_a_table_with_an_unknown_or_missing_name_is_refused_in_one_sentence(
    table: Any, sentence: str
) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        Policy.from_json(json.dumps(table))
    assert str(refused.value) == sentence


def test_text_that_is_not_json_is_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidPolicy, match=r"^a policy must be valid JSON: [^\n]*$"):
        Policy.from_json("UCB-ALP")
