"""Policies on rows: their parts, recipes, tables and lowering; mixtures with others are refused."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

import almoner as al
from almoner.policy.base import ROW_PARTS
from almoner.policy.recipes import RECIPES, recipe
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, NO_DEFAULT, WARM_UP, lower_rows

TABLE: dict[str, tuple[Any, ...]] = {
    "priced": (al.GivenScores(trust=None), al.Market(size=None), al.Priced()),
    "linear": (al.LinearModel(ridge=10.0, learn_costs=True), al.Market(size=256), al.Priced()),
    "dual_descent": (al.GivenScores(), al.Market(), al.DualDescent(step=0.05)),
    "pid_pacing": (al.GivenScores(), al.Market(), al.PIDPacing(proportional=0.5, integral=0.02)),
    "ema_pacing": (al.GivenScores(), al.Market(), al.EMAPacing(step=0.05, weight=0.05)),
    "greedy_scores": (al.GivenScores(), al.Market(), al.Unpriced()),
    "fixed_rate": (al.GivenScores(), al.Market(), al.FixedRate()),
}
"""Every recipe on rows, part by part."""

PARTS = [part for parts in ROW_PARTS.values() for part in parts.values()]


def test_the_table_has_every_recipe() -> None:
    assert list(TABLE) == list(al.ROW_RECIPES)
    assert not set(al.ROW_RECIPES) & set(RECIPES)


@pytest.mark.parametrize("name", TABLE)
def test_a_recipe_is_one_expression_over_the_parts(name: str) -> None:
    policy = al.ROW_RECIPES[name]()
    assert (policy.rewards, policy.contexts, policy.allocation) == TABLE[name]
    assert policy.on_rows
    assert recipe(name) == recipe(name.replace("_", "-")) == policy
    assert getattr(al, name) is al.ROW_RECIPES[name]


@pytest.mark.parametrize("name", TABLE)
def test_repr_and_tables_give_back_an_equal_policy(name: str) -> None:
    policy = al.ROW_RECIPES[name]()
    names = {each: getattr(al, each) for each in dir(al)}
    assert eval(repr(policy), names) == policy  # noqa: S307
    assert al.Policy.from_json(policy.to_json()) == policy
    assert al.Policy.from_dict(policy.to_dict()) == policy
    assert hash(policy) == hash(al.ROW_RECIPES[name]())


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_keywords_and_reach_the_parts(name: str) -> None:
    for parameter in inspect.signature(al.ROW_RECIPES[name]).parameters.values():
        assert parameter.kind == inspect.Parameter.KEYWORD_ONLY
        value: Any = False if parameter.name == "learn_costs" else 0.75
        policy = al.ROW_RECIPES[name](**{parameter.name: value})
        table = {**policy.to_dict()["rewards"], **policy.to_dict()["allocation"]}
        assert table[parameter.name] == value


@pytest.mark.parametrize("axis", [axis for axis, parts in ROW_PARTS.items() if parts])
def test_every_code_of_an_axis_is_its_own(axis: str) -> None:
    assert sorted(part.code for part in ROW_PARTS[axis].values()) == list(
        range(len(ROW_PARTS[axis]))
    )


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_every_part_is_public_frozen_keyword_only_and_usable_without_arguments(part: Any) -> None:
    assert getattr(al, part.__name__) is part
    for field in fields(part):
        assert field.kw_only
        with pytest.raises(FrozenInstanceError):
            setattr(part(), field.name, 0.5)


@pytest.mark.parametrize(
    ("part", "arguments", "sentence"),
    [
        (al.GivenScores, {"trust": 0}, "trust must be greater than 0, got trust=0"),
        (al.LinearModel, {"ridge": -1}, "ridge must be greater than 0, got ridge=-1"),
        (al.LinearModel, {"learn_costs": 1}, "learn_costs must be True or False, got"),
        (al.Market, {"size": 1}, "size must be at least 2, got size=1"),
        (al.Market, {"size": 70_000}, "size must be at most 65536, got size=70000"),
        (al.DualDescent, {"step": float("nan")}, "step must be finite, got step=nan"),
        (al.PIDPacing, {"integral": -1}, "integral must be at least 0, got integral=-1"),
        (al.EMAPacing, {"weight": 0}, "weight must be greater than 0, got weight=0"),
    ],
)
def test_bad_parameters_are_refused(part: Any, arguments: Any, sentence: str) -> None:
    with pytest.raises(al.InvalidPolicy, match=f"^{sentence}"):
        part(**arguments)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"rewards": al.UCB()}, "rewards must be one of GivenScores, LinearModel beside parts on"),
        ({"contexts": al.EmpiricalContexts()}, "contexts must be one of Market beside parts on ro"),
        ({"allocation": al.AdaptiveLP()}, "allocation must be one of DualDescent, EMAPacing, "),
        ({"prior": al.Pooled()}, "prior must be left out on rows"),
    ],
)
def test_parts_on_rows_go_with_one_another_only(parts: dict[str, Any], sentence: str) -> None:
    own = {"rewards": al.GivenScores(), "contexts": al.Market(), "allocation": al.Priced()}
    with pytest.raises(al.InvalidPolicy) as refused:
        al.Policy(**{**own, **parts})
    assert str(refused.value).startswith(sentence)


def test_lowering_has_the_model_and_the_numbers_of_the_rule() -> None:
    terms: dict[str, Any] = {"horizon": 5_000, "budget": 700, "features": 4}
    given = lower_rows(al.priced(), **terms)
    assert (given.model, given.default, given.size) == (GIVEN, NO_DEFAULT, 256)
    trusted = lower_rows(al.priced(trust=20), **terms)
    assert (trusted.model, trusted.prior) == (CALIBRATED, 20.0)
    model = lower_rows(al.linear(ridge=3.0), **terms, learns_skip=True)
    assert (model.model, model.prior, model.learns_costs, model.learns_skip) == (LINEAR, 15.0, 1, 1)
    assert lower_rows(al.linear(learn_costs=False), **terms).learns_costs == 0
    pid = lower_rows(al.pid_pacing(proportional=0.3, integral=0.1), **terms)
    assert (pid.first, pid.second) == (0.3, 0.1)
    ema = lower_rows(al.ema_pacing(step=0.2, weight=0.4), **terms)
    assert (ema.first, ema.second) == (0.2, 0.4)
    assert lower_rows(al.dual_descent(step=0.7), **terms).first == 0.7


def test_warm_up_is_a_twentieth_of_a_short_horizon() -> None:
    sizes = {
        horizon: lower_rows(al.priced(), horizon=horizon, budget=1, features=0).warm_up
        for horizon in (1, 300, 100_000)
    }
    assert sizes == {1: 2, 300: 15, 100_000: WARM_UP}


def test_a_market_grows_with_the_horizon_up_to_a_limit() -> None:
    market = al.Market()
    assert [market.size_for(horizon) for horizon in (10, 10_240, 20_000, 10**6)] == [
        256,
        256,
        500,
        1024,
    ]
    assert al.Market(size=40).size_for(10**6) == 40


@pytest.mark.parametrize("make", [al.dual_descent, al.pid_pacing, al.ema_pacing, al.fixed_rate])
def test_a_pacer_cannot_set_money_aside(make: Any) -> None:
    with pytest.raises(al.InvalidPolicy, match="cannot set money aside for a default action; lea"):
        lower_rows(make(), horizon=9, budget=9, features=0, default=0)


def test_a_policy_on_contexts_is_no_policy_on_rows_and_the_reverse() -> None:
    with pytest.raises(al.InvalidPolicy, match=r"^rows need a policy on rows, got .*give priced"):
        lower_rows(al.thrifty(), horizon=9, budget=9, features=0)
    problem = al.Problem(context_probs=[1.0], reward_means=[[0.5]], horizon=9, budget=3)
    for name in al.ROW_RECIPES:
        with pytest.raises(al.InvalidPolicy, match=r"^contexts need a policy on contexts, got .*R"):
            al.simulate(problem, name)
        with pytest.raises(al.NotComputable, match=r"^exact_value needs a policy with known stati"):
            al.exact_value(problem, recipe(name))
