"""The page of the comparison with others is what its rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.comparison.figures import draw
from benchmarks.comparison.learners import COMPILED, IN_PYTHON, cases
from benchmarks.comparison.page import PAGE, rewrite
from benchmarks.comparison.peer_loop import PEERS
from benchmarks.comparison.routing import BLOCKS, FEATURES, ON_SCORES, SCORES
from benchmarks.comparison.rows import FOLDER, Learner, Routing, Speed
from benchmarks.learner.rows import read
from benchmarks.pages import rewrite_blocks


def test_the_page_shows_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rewrite(text) == text, "run `python -m benchmarks.comparison.page`"


def test_the_figures_show_the_rows(tmp_path: Path) -> None:
    for path in draw(folder=tmp_path):
        stored = PAGE.parent / "figures" / path.name
        assert stored.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_the_rows_are_of_every_problem_and_policy() -> None:
    learners = read("learners", Learner, folder=FOLDER)
    assert [(row.problem, row.policy) for row in learners] == [
        (case.name, policy) for case in cases() for policy in (*COMPILED, *IN_PYTHON)
    ]
    routing = read("routing", Routing, folder=FOLDER)
    for prompts in (SCORES, BLOCKS):
        here = {row.policy for row in routing if row.prompts == prompts}
        assert here >= set(ON_SCORES)
    assert {row.policy for row in routing if row.prompts == FEATURES} == {
        "linear",
        "ParetoBandit's rules",
    }
    assert {row.program for row in read("speed", Speed, folder=FOLDER)} == {"almoner", *PEERS}


def test_nothing_earns_more_than_the_optimum() -> None:
    for row in read("routing", Routing, folder=FOLDER):
        assert row.reward < row.optimum


def test_a_block_without_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="no markers for first"):
        rewrite_blocks("nothing", {"first": str})
