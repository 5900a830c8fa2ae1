from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
import pytest

from almoner import checks
from almoner.checks import messages
from almoner.errors import InvalidInput, InvalidPolicy, InvalidProblem

EXACT: dict[str, Callable[[], object]] = {
    "width must be a number, got width='a'": lambda: checks.number("width", "a"),
    "width must be a number, got width=True": lambda: checks.number("width", True),
    "width must be a number, got width=None": lambda: checks.number("width", None),
    "width must be finite, got width=nan": lambda: checks.number("width", math.nan),
    "width must be finite, got width=-inf": lambda: checks.number("width", -math.inf),
    "width must be greater than 0, got width=0": lambda: checks.number("width", 0, above=0),
    "width must be at least 0, got width=-3.5": lambda: checks.number("width", -3.5, low=0),
    "width must be at most 2, got width=7": lambda: checks.number("width", 7, high=2),
    "width must be between 0 and 1, got width=1.5; halve it": lambda: checks.number(
        "width", np.float64(1.5), low=0, high=1, remedy="halve it"
    ),
    "runs must be a whole number, got runs=10.5": lambda: checks.whole("runs", 10.5),
    "runs must be a whole number, got runs='a'": lambda: checks.whole("runs", "a"),
    "runs must be a whole number, got runs=True": lambda: checks.whole("runs", True),
    "runs must be a whole number, got runs=nan": lambda: checks.whole("runs", math.nan),
    "runs must be a whole number, got runs=inf": lambda: checks.whole("runs", math.inf),
    "runs must be at least 1, got runs=0": lambda: checks.whole("runs", 0),
    "runs must be at least 3, got runs=2": lambda: checks.whole("runs", 2, low=3),
    "runs must be below 2**53, got runs=9007199254740992": lambda: checks.whole("runs", 2**53),
    "u must have shape 2×any (contexts × actions), got shape 1×3": lambda: checks.array(
        "u", [[1, 2, 3]], shape=(2, None), of="contexts × actions"
    ),
    "u must be a list of numbers, got a single number": lambda: checks.array("u", 4, shape=(None,)),
    "u must have shape 2, got a single number": lambda: checks.array("u", 4, shape=(2,)),
    "u must not be empty, got shape 2×0": lambda: checks.array("u", [[], []], shape=(2, None)),
    "u must be numbers in rows of equal length, got u=[[1, 2], [3]]": lambda: checks.array(
        "u", [[1, 2], [3]], shape=(2, None)
    ),
    "u must be numbers in rows of equal length, got u=[1, None]": lambda: checks.array(
        "u", [1, None], shape=(2,), remedy="scale it"
    ),
    "u[1, 0] must be at most 1, got u[1, 0]=3.0": lambda: checks.array(
        "u", [[0, 1], [3, 4]], shape=(2, 2), high=1
    ),
    "probs must sum to 1, got a sum of 0.9; divide each entry by it": lambda: checks.probabilities(
        "probs", [0.4, 0.5]
    ),
    "kind must be one of red, blue, got kind='blu'; did you mean 'blue'?": lambda: checks.choice(
        "kind", "blu", ["red", "blue"]
    ),
    "kind must be one of red, blue, got kind=7": lambda: checks.choice("kind", 7, ["red", "blue"]),
    "the table has the unknown key 'horizn'; did you mean 'horizon'?": lambda: checks.known_keys(
        "the table", ["horizn"], required=["horizon", "budget"]
    ),
    "the table has the unknown key 'x'; use only horizon, budget": lambda: checks.known_keys(
        "the table", ["x"], required=["horizon"], optional=["budget"]
    ),
    "the table lacks the key 'budget'; add it": lambda: checks.known_keys(
        "the table", ["horizon"], required=["horizon", "budget"]
    ),
    "arms must hold 3 names, one each, got 2": lambda: checks.names("arms", ["a", "b"], count=3),
    "arms must be different names, got arms=['a', 'a']": lambda: checks.names(
        "arms", ["a", "a"], count=2
    ),
    "arms must be a list of names, got arms=['a', 2]": lambda: checks.names(
        "arms", ["a", 2], count=2
    ),
    "arms must be a list of names, got arms=['']": lambda: checks.names("arms", [""], count=1),
}


@pytest.mark.parametrize("sentence", EXACT)
def test_a_refusal_says_name_rule_value_and_remedy_in_one_sentence(sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        EXACT[sentence]()
    assert str(refused.value) == sentence


NARROW: dict[str, Callable[[type[InvalidInput]], object]] = {
    "number": lambda error: checks.number("x", "a", error=error),
    "whole": lambda error: checks.whole("x", "a", error=error),
    "array": lambda error: checks.array("x", "a", shape=(2,), error=error),
    "array entry": lambda error: checks.array("x", [1, -1], shape=(2,), low=0, error=error),
    "probabilities": lambda error: checks.probabilities("x", [0.3], error=error),
    "costs": lambda error: checks.costs("x", 0, shape=(1, 2), error=error),
    "names": lambda error: checks.names("x", [1], count=1, error=error),
    "choice": lambda error: checks.choice("x", "a", ["b"], error=error),
    "known_keys": lambda error: checks.known_keys("x", ["a"], required=[], error=error),
}


@pytest.mark.parametrize("error", [InvalidInput, InvalidPolicy, InvalidProblem])
@pytest.mark.parametrize("check", NARROW)
def test_every_check_raises_the_error_it_is_told_to(check: str, error: type[InvalidInput]) -> None:
    with pytest.raises(InvalidInput) as refused:
        NARROW[check](error)
    assert type(refused.value) is error


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.int32(3), np.float64(3.0)])
def test_a_whole_number_may_come_in_any_numeric_type(value: Any) -> None:
    result = checks.whole("runs", value)
    assert (result, type(result)) == (3, int)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_a_number_comes_back_as_a_plain_float(value: Any) -> None:
    result = checks.number("width", value, low=0.5, high=0.5)
    assert (result, type(result)) == (0.5, float)


def test_a_whole_number_too_large_for_a_float_is_refused_like_any_other() -> None:
    with pytest.raises(InvalidInput, match=r"^budget must be "):
        checks.number("budget", 10**400)


def test_a_long_value_is_cut_in_the_sentence() -> None:
    with pytest.raises(InvalidInput) as refused:
        checks.array("u", [[1, 2]] * 50 + [[3]], shape=(51, 2))
    assert str(refused.value).endswith("...")
    assert len(str(refused.value)) < 120


SEGMENTS = [f"segment-{index:04d}" for index in range(10_000)]
TEN = ", ".join(SEGMENTS[:10])


@pytest.fixture
def undiffed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails whoever compares a text with thousands of others, or one of a million letters."""

    def compare(text: str, options: list[str], n: int) -> list[str]:
        assert len(text) < 1000
        assert len(options) <= messages.COMPARED
        return get_close_matches(text, options, n=n)

    monkeypatch.setattr(messages, "get_close_matches", compare)


@pytest.mark.usefixtures("undiffed")
def test_of_many_options_ten_are_shown_and_none_is_suggested() -> None:
    with pytest.raises(InvalidInput) as refused:
        checks.choice("context", "segmnt-0042", SEGMENTS)
    assert str(refused.value) == (
        f"context must be one of {TEN}, … and 9,990 more, got context='segmnt-0042'"
    )
    with pytest.raises(InvalidInput) as refused:
        checks.known_keys("costs", ["segmnt-0042"], required=SEGMENTS)
    assert str(refused.value) == (
        f"costs has the unknown key 'segmnt-0042'; use only {TEN}, … and 9,990 more"
    )


def test_of_a_few_dozen_options_ten_are_shown_and_the_nearest_is_suggested() -> None:
    with pytest.raises(InvalidInput) as refused:
        checks.choice("context", "segmnt-0042", SEGMENTS[:50])
    assert str(refused.value) == (
        f"context must be one of {TEN}, … and 40 more, got context='segmnt-0042'; "
        "did you mean 'segment-0042'?"
    )


def test_of_long_options_fewer_are_shown() -> None:
    long = [letter * 120 for letter in "abcd"]
    with pytest.raises(InvalidInput) as refused:
        checks.choice("kind", "x", long)
    assert (
        str(refused.value)
        == f"kind must be one of {long[0]}, {long[1]}, … and 2 more, got kind='x'"
    )
    with pytest.raises(InvalidInput) as refused:
        checks.choice("kind", "x", ["y" * 400])
    assert str(refused.value) == f"kind must be one of {'y' * 400}, got kind='x'"


@pytest.mark.usefixtures("undiffed")
@pytest.mark.parametrize("value", ["x" * 1_000_000, 10**5000, ["red"] * 1000], ids=type)
def test_an_absurd_name_is_refused_in_few_words(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^kind must be one of red, blue, got kind=") as refused:
        checks.choice("kind", value, ["red", "blue"])
    assert len(str(refused.value)) < 120
    if isinstance(value, str):
        with pytest.raises(InvalidInput, match=r"^t has the unknown key 'xxx") as refused:
            checks.known_keys("t", [value], required=["red"])
        assert len(str(refused.value)) < 120


def test_a_number_may_be_meant_as_a_name() -> None:
    with pytest.raises(InvalidInput, match=r"got week=7; did you mean '7'\?$"):
        checks.choice("week", 7, ["6", "7"])


def test_an_array_is_a_read_only_copy() -> None:
    given = np.array([[1, 2, 3], [4, 5, 6]])
    kept = checks.array("u", given, shape=(2, 3))
    given[0, 0] = 9
    assert kept.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert kept.dtype == np.float64
    assert not kept.flags.writeable


@pytest.mark.parametrize(
    "given", [2.5, [2.5, 2.5], np.array(2.5), [[2.5, 2.5], [2.5, 2.5], [2.5, 2.5]]]
)
def test_costs_may_be_one_number_one_row_or_a_table(given: Any) -> None:
    assert checks.costs("costs", given, shape=(3, 2)).tolist() == [[2.5, 2.5]] * 3


def test_a_row_of_costs_holds_for_every_context() -> None:
    assert checks.costs("costs", [1, 4], shape=(3, 2)).tolist() == [[1, 4]] * 3


@pytest.mark.parametrize("given", [[1, 2, 3], [[1], [2], [3]], [[1, 2]]])
def test_costs_of_another_shape_are_not_stretched(given: Any) -> None:
    with pytest.raises(InvalidInput, match="costs must have shape 3×2"):
        checks.costs("costs", given, shape=(3, 2))


@pytest.mark.parametrize(("total", "fine"), [(1 + 5e-10, True), (1 - 5e-9, False), (1.1, False)])
def test_probabilities_may_be_off_by_what_nine_digits_leave_out(total: float, fine: bool) -> None:
    given = [total - 0.25, 0.25]
    if fine:
        assert checks.probabilities("probs", given).tolist() == given
    else:
        with pytest.raises(InvalidInput, match="probs must sum to 1"):
            checks.probabilities("probs", given)


def test_names_may_be_left_out_and_become_a_tuple() -> None:
    assert checks.names("arms", [], count=3) == ()
    assert checks.names("arms", ["b", "a"], count=2) == ("b", "a")


def test_known_keys_accepts_the_required_with_or_without_the_optional() -> None:
    checks.known_keys("t", ["a"], required=["a"], optional=["b"])
    checks.known_keys("t", ["b", "a"], required=["a"], optional=["b"])
