"""The page on speed is what its rows say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import almoner as al
from almoner.scenarios import scenario
from benchmarks import c_programs
from benchmarks.growth.series import GrowthPoint, exponent, points
from benchmarks.speed import GROWTH, MEASURES
from benchmarks.speed_page import PAGE, rewrite
from benchmarks.speed_rows import SECTIONS, read_growth, read_section


def test_the_page_shows_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rewrite(text) == text, "run `python -m benchmarks.speed_page`"


def test_every_section_is_measured_and_has_a_heading() -> None:
    assert list(MEASURES) == list(SECTIONS)
    assert GROWTH not in SECTIONS
    headings = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [*SECTIONS.values(), "Cost against problem size"]


@pytest.mark.parametrize("name", SECTIONS)
def test_a_missed_bar_is_bold_and_listed(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for row in read_section(name):
        assert bool(row.bar) == bool(row.verdict)
        assert (f"| **{row.what}** | " in text) == (row.verdict == "missed")
        assert (f"\n- {row.what}: " in text) == (row.verdict == "missed" or row.ratio < 1)


def test_every_series_of_growth_has_several_sizes() -> None:
    sizes: dict[tuple[str, str], list[int]] = {}
    for point in read_growth():
        sizes.setdefault((point.operation, point.size), []).append(point.value)
    assert {size for _, size in sizes} == {
        "rounds",
        "contexts",
        "actions",
        "runs",
        "contexts × actions",
        "events",
    }
    assert all(len(values) >= 3 and values == sorted(values) for values in sizes.values())


def test_the_exponent_is_that_of_a_power() -> None:
    power: list[GrowthPoint] = points("any", "size", {n: 3e-6 * n**1.5 for n in (10, 40, 900)})
    assert exponent(power) == pytest.approx(1.5)


@pytest.mark.parametrize(
    "program", [c_programs.LITERAL, c_programs.VECTOR], ids=["literal", "vector"]
)
def test_programs_in_c_earn_the_reward_of_the_package(
    program: c_programs.CProgram, tmp_path: Path
) -> None:
    """With 300 rounds, untried actions and ties matter most; tolerance 4 standard errors."""
    problem, runs = scenario("paper-ten").scaled(300), 4000
    drawn = al.simulate(problem, "ucb_alp", runs=runs, seed=1, against="upper bound").reward_drawn
    error = float(np.std(drawn)) * (2 / runs) ** 0.5
    reason = c_programs.why_without(program)
    paths = [] if reason else c_programs.build(program, tmp_path)
    for path in paths:
        size = {"horizon": 300, "budget": int(problem.budget), "runs": runs}
        outcome = c_programs.run(path, **size, seed=2)
        assert outcome.reward == pytest.approx(float(drawn.mean()), abs=4 * error)
    assert paths or reason
