from __future__ import annotations

import codecs
import json
import math
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import any_cost_problems, unit_problems

from almoner.errors import InvalidProblem
from almoner.problem import Problem

GOOD: dict[str, Any] = {
    "context_probs": [0.4, 0.6],
    "reward_means": [[0.2, 0.8, 0.5], [0.1, 0.4, 0.3]],
    "horizon": 10,
    "budget": 4,
}

SENTENCES: list[tuple[dict[str, Any], str]] = [
    (
        {"context_probs": [0.4, 0.5]},
        "context_probs must sum to 1, got a sum of 0.9; divide each entry by it",
    ),
    (
        {"reward_means": [[0.2, 1.8, 0], [0, 0, 0]]},
        "reward_means[0, 1] must be between 0 and 1, got reward_means[0, 1]=1.8; "
        "scale rewards to [0, 1]",
    ),
    ({"horizon": 10.5}, "horizon must be a whole number, got horizon=10.5"),
    ({"budget": -3.0}, "budget must be at least 0, got budget=-3.0"),
    (
        {"costs": [[1, 2, -1], [1, 1, 1]]},
        "costs[0, 2] must be greater than 0, got costs[0, 2]=-1.0; every action needs its cost; "
        "what is free is skipping, see default_rewards",
    ),
]


@pytest.mark.parametrize(("changes", "sentence"), SENTENCES)
def test_the_sentence_names_the_field_the_rule_the_value_and_the_remedy(
    changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidProblem) as refused:
        Problem(**{**GOOD, **changes})
    assert str(refused.value) == sentence


BAD: dict[str, list[Any]] = {
    "context_probs": [
        *([], 1.0, [[0.4, 0.6]], [math.nan, 1], [-0.4, 1.4], [0.2, 0.3, 0.4], ["a", "b"], None),
    ],
    "reward_means": [
        *([[0.1, 0.2], [0.3]], [[], []], [[0.2, 0.8]], [0.2, 0.8], [[0.2, None], [0.1, 0.4]]),
        *([[0.2, math.nan], [0, 0]], [[0.2, math.inf], [0, 0]], [[0.2, -0.1], [0, 0]], "abc"),
        *([[True, False], [False, True]], [[1j, 0], [0, 0]]),
    ],
    "horizon": [0, -1, 10.5, "a", True, None, math.nan, math.inf, [10], 2**53],
    "budget": [-0.5, math.nan, math.inf, "4", True, None, [4], 10**400],
    "costs": [
        *(0, -1, math.nan, math.inf, None, "x", True, [1, 2], [[1, 2, 3]], [[1], [2]]),
        *([1, 2, None], [[1, 2, None], [1, 1, 1]], [[1, 2, math.nan], [1, 1, 1]]),
        *([[1, 2, math.inf], [1, 1, 1]], [[1, 2, 0], [1, 1, 1]], [[1, 2, 3], [1, 2]]),
    ],
    "default_rewards": [[0.1], [0.1, 0.2, 0.3], 1.2, [0.1, -0.1], "x", None, [[0.1], [0.2, 0.3]]],
    "defaults_known": [1, 0, "yes", None, [True]],
    "reward_spread": [-0.1, 1.1, math.nan, "x", None],
    "contexts": [["a"], ["a", "a"], "ab", [1, 2], ["a", ""], None],
    "actions": [["a", "b"], ["a", "b", "b"], 3],
}


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in BAD.items() for value in values],
    ids=lambda part: str(part)[:30],
)
def test_a_bad_value_is_refused_in_one_sentence_about_its_field(field: str, value: Any) -> None:
    with pytest.raises(InvalidProblem) as refused:
        Problem(**{**GOOD, field: value})
    sentence = str(refused.value)
    assert sentence.startswith(field)
    assert " must " in sentence
    assert ", got " in sentence
    assert "\n" not in sentence


def test_shapes_that_disagree_are_reported_side_by_side() -> None:
    with pytest.raises(InvalidProblem) as refused:
        Problem(**{**GOOD, "context_probs": [0.3, 0.3, 0.4]})
    sentence = "reward_means must have shape 3×any (contexts × actions), got shape 2×3"
    assert str(refused.value).startswith(sentence)


def test_costs_and_default_rewards_may_be_one_number_for_all() -> None:
    problem = Problem(**GOOD, costs=2, default_rewards=0.25)
    assert problem.costs.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert problem.default_rewards.tolist() == [0.25, 0.25]


def test_left_out_fields_are_those_of_the_paper() -> None:
    problem = Problem(**GOOD)
    assert problem.costs.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert problem.default_rewards.tolist() == [0, 0]
    assert (problem.reward_spread, problem.contexts, problem.actions) == (1, (), ())
    assert problem.defaults_known is False
    assert set(problem.to_dict()) == set(GOOD)


@pytest.mark.parametrize("field", ["context_probs", "reward_means", "costs", "default_rewards"])
def test_nothing_in_a_problem_can_be_changed(field: str) -> None:
    problem = Problem(**GOOD, costs=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        getattr(problem, field)[0] = 0.5
    with pytest.raises(FrozenInstanceError):
        setattr(problem, field, 0.5)


def test_a_problem_does_not_follow_the_array_it_was_made_from() -> None:
    means = np.array([[0.2, 0.8], [0.1, 0.4]])
    problem = Problem(context_probs=[0.4, 0.6], reward_means=means, horizon=5, budget=2)
    means[0, 0] = 0.9
    assert problem.reward_means[0, 0] == 0.2


def test_problems_are_equal_when_every_field_is() -> None:
    problem = Problem(**GOOD)
    same = Problem(**GOOD, costs=[1, 1, 1], default_rewards=[0, 0])
    assert problem == same
    assert hash(problem) == hash(same)
    assert problem != GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"context_probs": [0.6, 0.4]},
        {"reward_means": [[0.2, 0.8, 0.5], [0.1, 0.4, 0.31]]},
        {"horizon": 11},
        {"budget": 4.5},
        {"costs": [1, 1, 2]},
        {"default_rewards": [0, 0.1]},
        {"defaults_known": True},
        {"reward_spread": 0.5},
        {"contexts": ["new", "old"]},
        {"actions": ["a", "b", "c"]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_problems_differ_when_one_field_does(change: dict[str, Any]) -> None:
    problem = Problem(**GOOD)
    other = problem.replace(**change)
    assert problem != other
    assert hash(problem) != hash(other)
    assert Problem.from_dict(other.to_dict()) == other


def test_a_replaced_field_is_checked_again() -> None:
    with pytest.raises(InvalidProblem, match="budget must be at least 0, got budget=-1"):
        Problem(**GOOD).replace(budget=-1)


@pytest.mark.parametrize(
    ("costs", "horizon", "ratio", "budget"),
    [
        (1, 20, None, 8),
        (1, 7, None, 3),  # 2.8 actions are 3
        (1, 100, 0.391, 39),
        (1, 100, 0, 0),
        (2, 7, None, 2.8),  # money is not rounded
        ([1, 1, 2], 10, 0.25, 2.5),
    ],
)
def test_scaled_keeps_or_sets_the_ratio(
    costs: Any, horizon: int, ratio: float | None, budget: float
) -> None:
    problem = Problem(**GOOD, costs=costs).scaled(horizon, ratio=ratio)
    assert problem.budget == pytest.approx(budget, rel=1e-15)
    assert problem == Problem(**GOOD, costs=costs).replace(horizon=horizon, budget=problem.budget)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 0.5), "horizon"), ((2.5, 0.5), "horizon"), ((9, -1), "ratio"), ((9, math.nan), "ratio")],
)
def test_scaled_refuses_what_the_constructor_would(arguments: Any, name: str) -> None:
    with pytest.raises(InvalidProblem, match=f"^{name} must "):
        Problem(**GOOD).scaled(arguments[0], ratio=arguments[1])


ODD_NAMES = [
    '"',
    "\\",
    "\n",
    "\t",
    "\0",
    "\x7f",
    "\u2028",
    "é",
    "日本",
    "🎁",
    " ",
    "a\r\nb",
    "\\u0041",
]
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), min_size=1)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_a_file_keeps_a_name_to_the_letter(tmp_path: Path, name: str, suffix: str) -> None:
    problem = Problem(**GOOD, contexts=["plain", name])
    problem.to_file(tmp_path / f"problem{suffix}")
    assert Problem.from_file(tmp_path / f"problem{suffix}").contexts == ("plain", name)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@given(problem=unit_problems() | any_cost_problems(), data=st.data())
@pytest.mark.slow
def test_a_file_gives_back_the_problem_it_was_written_from(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, problem: Problem, data: st.DataObject
) -> None:
    contexts, actions = problem.reward_means.shape
    named = problem.replace(
        contexts=data.draw(
            st.lists(NAMES, min_size=contexts, max_size=contexts, unique=True) | st.just([])
        ),
        actions=data.draw(
            st.lists(NAMES, min_size=actions, max_size=actions, unique=True) | st.just([])
        ),
    )
    path = tmp_path_factory.getbasetemp() / f"round_trip{suffix}"
    named.to_file(path)
    assert Problem.from_file(path) == named


TOML = "context_probs = [1.0]\nreward_means = [[0.5]]\nhorizon = 10\n"

FILES: dict[str, tuple[str, bytes | None, str]] = {
    "missing": ("no.toml", None, "cannot read the problem file '{}': No such file or directory; "),
    "suffix": ("a.yaml", b"", "a problem file must end in .toml or .json, got 'a.yaml'"),
    "not TOML": ("a.toml", b"horizon = [", "{} is not valid TOML: "),
    "JSON too deep": ("a.json", b"[" * 100_000, "{} is nested too deeply"),
    "TOML too deep": ("a.toml", b"a = " + b"[" * 3_000, "{} is nested too deeply"),
    "not JSON": ("a.json", b"{", "{} is not valid JSON: "),
    "not text": ("a.json", b"\xff\xfe", "{} is not valid JSON: "),
    "not a table": ("a.json", b"[1]", "{}: a problem must be a table of names and values"),
    "typo": (
        "a.toml",
        (TOML + "budgett = 3").encode(),
        "{}: the problem has the unknown key 'budgett'; did you mean 'budget'?",
    ),
    "lacking": ("a.toml", TOML.encode(), "{}: the problem lacks the key 'budget'; add it"),
    "bad value": (
        "a.toml",
        (TOML + "budget = -1").encode(),
        "{}: budget must be at least 0, got budget=-1",
    ),
    "NaN": (
        "a.json",
        json.dumps({**GOOD, "reward_means": [[math.nan], [0.5]]}).encode(),
        "{}: reward_means[0, 0] must be finite, got reward_means[0, 0]=nan; ",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_refused_in_one_sentence_that_names_it(tmp_path: Path, case: str) -> None:
    name, content, sentence = FILES[case]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidProblem) as refused:
        Problem.from_file(path)
    assert str(refused.value).startswith(sentence.format(path))
    assert "\n" not in str(refused.value)


def test_a_problem_is_not_written_to_a_file_it_could_not_be_read_from(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"must end in \.toml or \.json, got 'a\.txt'"):
        Problem(**GOOD).to_file(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_ratio_beyond_all_numbers_is_refused() -> None:
    problem = Problem(context_probs=[1], reward_means=[[0.5]], horizon=10, budget=5)
    with pytest.raises(InvalidProblem, match="budget must"):
        problem.scaled(1000, ratio=1e308)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, id="nothing that has a default"),
        pytest.param({"costs": 0.5}, id="one cost"),
        pytest.param({"costs": [1, 3]}, id="a cost for each action"),
        pytest.param({"default_rewards": 0.2}, id="one default reward"),
        pytest.param({"costs": [1, 3], "default_rewards": 0.2, "actions": ["a", "b"]}, id="all"),
    ],
)
def test_what_all_contexts_share_holds_for_any_number_of_them(given: dict[str, Any]) -> None:
    more: dict[str, Any] = {"context_probs": [0.2, 0.3, 0.5], "reward_means": [[0.1, 0.2]] * 3}
    sizes: dict[str, Any] = {"horizon": 10, "budget": 4}
    two = Problem(context_probs=[0.4, 0.6], reward_means=[[0.8, 0.1]] * 2, **sizes, **given)
    assert two.replace(**more) == Problem(**more, **sizes, **given)
    assert Problem.from_dict(two.to_dict()).replace(**more) == two.replace(**more)
    assert two.replace(horizon=20).costs.tolist() == two.costs.tolist()


def test_more_actions_at_the_same_cost_need_no_costs() -> None:
    one = Problem(context_probs=[1], reward_means=[[0.8]], horizon=10, budget=4, costs=0.5)
    assert one.replace(reward_means=[[0.8, 0.3]]).costs.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"costs": [[1, 3], [2, 4]]}, "costs must have shape 3×2"),
        ({"default_rewards": [0.1, 0.2]}, "default_rewards must have shape 3"),
        ({"contexts": ["a", "b"]}, "contexts must hold 3 names"),
    ],
)
def test_what_was_said_of_each_context_must_be_said_again(
    given: dict[str, Any], refused: str
) -> None:
    two = Problem(
        context_probs=[0.4, 0.6], reward_means=[[0.8, 0.1]] * 2, horizon=10, budget=4, **given
    )
    with pytest.raises(InvalidProblem, match=refused):
        two.replace(context_probs=[0.2, 0.3, 0.5], reward_means=[[0.1, 0.2]] * 3)


def test_a_field_that_does_not_exist_is_refused_in_one_sentence() -> None:
    problem = Problem(context_probs=[1], reward_means=[[0.8]], horizon=10, budget=4)
    with pytest.raises(InvalidProblem, match="unknown key 'horizn'; did you mean 'horizon'"):
        problem.replace(horizn=20)


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_a_byte_order_mark_is_no_part_of_a_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"shop{ending}"
    Problem(**GOOD).to_file(path)
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert Problem.from_file(path) == Problem(**GOOD)
