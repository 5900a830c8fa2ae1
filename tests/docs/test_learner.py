"""The tables of the page on the default policy are those of the rows beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.learner.page import PAGE, rewrite
from benchmarks.learner.problems import random_problem, structured, unstructured
from benchmarks.learner.rows import Comparison, read
from benchmarks.learner.sets import DEVELOPMENT, HELD_OUT, SETS

ROOT = Path(__file__).parents[2]


def test_the_page_shows_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rewrite(text) == text, "run `python -m benchmarks.learner.page`"


@pytest.mark.parametrize("name", SETS)
def test_the_rows_are_of_all_problems_of_their_set(name: str) -> None:
    rows, cases = read(name, Comparison), SETS[name]()
    assert [(row.kind, row.problem, row.rounds, row.budget) for row in rows] == [
        (case.kind, case.name, case.problem.horizon, case.problem.budget) for case in cases
    ]


def test_every_problem_that_got_worse_is_listed() -> None:
    [listed] = re.findall(
        r"<!-- begin worse -->(.*?)<!-- end worse -->", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    for name in SETS:
        for row in read(name, Comparison):
            assert (f"| {row.problem}, T = {row.rounds:,} |" in listed) or row.ratio <= 1.05


@pytest.mark.parametrize("generate", [random_problem, unstructured, structured])
def test_the_sets_have_no_problem_in_common(generate: object) -> None:
    assert callable(generate)
    one, other = generate(4, DEVELOPMENT).problem, generate(4, HELD_OUT).problem
    again = generate(4, DEVELOPMENT).problem
    assert one.reward_means.tolist() == again.reward_means.tolist()
    assert one.reward_means.tolist() != other.reward_means.tolist()
