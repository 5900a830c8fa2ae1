"""The rules that were tried in place of `thrifty` are played as the package plays its own."""

from __future__ import annotations

import numpy as np
import pytest

import almoner as al
from almoner.kernels.indices import exploration_level
from benchmarks.learner.alternatives import HORIZONS, RULES, SETTINGS, Alternative
from benchmarks.learner.gittins import STEP, boundary
from benchmarks.learner.other_indices import Rule
from benchmarks.learner.other_rules import PACKAGE
from benchmarks.learner.other_runs import SEED, Setting, lowered, regret
from benchmarks.learner.rows import read
from benchmarks.learner.sets import SHOP


@pytest.mark.slow
def test_the_loop_plays_thrifty_as_the_simulator_does() -> None:
    shop = Setting("shop", SHOP.scaled(1_000), 20)
    values = regret(lowered(al.thrifty(), shop.problem), Rule(PACKAGE), shop)
    runs = al.simulate(shop.problem, al.thrifty(), runs=20, seed=SEED, threads=1)
    assert values.tolist() == runs.regret.values.tolist()


@pytest.mark.slow
def test_the_computed_boundary_is_near_the_formula() -> None:
    levels = boundary()
    for x in (1.0, 10.0, 100.0, 1_000.0, 100_000.0):
        computed = float(np.interp(np.log1p(x), STEP * np.arange(len(levels)), levels))
        assert computed == pytest.approx(exploration_level(x), rel=0.04)


def test_the_rows_are_of_all_rules_and_problems() -> None:
    rows = read("alternatives", Alternative)
    assert [(row.problem, row.rule) for row in rows] == [
        (setting.name, rule) for setting in SETTINGS for rule in RULES
    ]
    assert {row.problem for row in read("premiums", Alternative)} == {s.name for s in HORIZONS}
