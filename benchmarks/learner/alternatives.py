"""Other rules beside `thrifty`: indices, insurances and premiums that were tried in its place.

``python -m benchmarks.learner.alternatives [part …]`` writes ``docs/learner/alternatives.csv`` and
``docs/learner/premiums.csv``. The problems are named or in the development set; their noise is new.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np

import almoner as al
from almoner.types import Floats
from benchmarks.learner.other_indices import BAYES_PLAYS, BAYES_ROUNDS, GITTINS, Rule
from benchmarks.learner.other_rules import PACKAGE
from benchmarks.learner.other_runs import Setting, lowered, regret
from benchmarks.learner.problems import random_problem, unstructured
from benchmarks.learner.rows import paired_ratio, write
from benchmarks.learner.sets import DEVELOPMENT, SHOP, paper

__all__ = ["HORIZONS", "RULES", "SETTINGS", "Alternative"]

PREMIUMS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Regret of a rule on a problem, and its ratio to that of `thrifty` on the same noise."""

    problem: str
    rule: str
    runs: int
    mean: float
    stderr: float
    ratio: float
    ratio_stderr: float
    q99: float
    bad: float


TWO, TEN = paper("two", 0.40).problem, paper("ten", 0.50).problem
SETTINGS = (
    Setting("shop", SHOP, 1_000),
    Setting("two", TWO, 600),
    Setting("two, T = 1,000", TWO.scaled(1_000), 2_000),
    Setting("two, 200 rounds late", TWO, 300, late=200),
    Setting("ten", TEN, 160),
    Setting("needles, sparse 5×2", unstructured(2, DEVELOPMENT).problem, 400),
    Setting("needles, sparse 20×8", random_problem(10, DEVELOPMENT).problem, 60),
)
HORIZONS = (
    Setting("shop, T = 1,000", SHOP.scaled(1_000), 2_000),
    Setting("shop, T = 10,000", SHOP, 1_000),
    Setting("shop, T = 100,000", SHOP.scaled(100_000), 60),
    Setting("two, T = 1,000", TWO.scaled(1_000), 2_000),
    Setting("two, T = 10,000", TWO, 600),
)

THOMPSON = replace(al.thrifty(), rewards=al.Thompson())
RULES: dict[str, tuple[al.Policy, Rule]] = {
    "thrifty": (al.thrifty(), Rule(PACKAGE)),
    "no insurance": (al.thrifty(caution=0), Rule(PACKAGE)),
    "Gittins": (al.thrifty(), Rule(GITTINS)),
    "Bayes-UCB, plays left": (al.thrifty(), Rule(BAYES_PLAYS)),
    "Bayes-UCB, rounds": (al.thrifty(), Rule(BAYES_ROUNDS)),
    "Thompson sampling": (THOMPSON, Rule(PACKAGE)),
    "Gittins, insured": (al.thrifty(), Rule(GITTINS, insured=1)),
    "Bayes-UCB, plays left, insured": (al.thrifty(), Rule(BAYES_PLAYS, insured=1)),
    "top-two, 5 %": (al.thrifty(), Rule(0, challenge=0.05)),
    "top-two, 20 %": (al.thrifty(), Rule(0, challenge=0.2)),
    "information-directed": (al.thrifty(), Rule(0, sampling=1)),
}
"""Rules by name: what the package lowers, learns and fits, and what decides."""


def row(setting: Setting, rule: str, values: Floats, base: Floats) -> Alternative:
    """Return the row of a rule, and print it."""
    runs = len(values)
    ratio, error = paired_ratio(values, base[:runs])
    result = Alternative(
        problem=setting.name,
        rule=rule,
        runs=runs,
        mean=float(values.mean()),
        stderr=float(np.std(values, ddof=1)) / runs**0.5,
        ratio=ratio,
        ratio_stderr=error,
        q99=float(np.quantile(values, 0.99)),
        bad=float(np.mean(values > 0.1 * al.optimal_value(setting.problem))),
    )
    print(
        f"{setting.name:24} {rule:32} {result.mean:7.1f} ± {result.stderr:.1f}  × {ratio:.3f} ± "
        f"{error:.3f}  q99 {result.q99:.0f}  bad {result.bad:.4f}  {time.process_time():.0f} s",
        flush=True,
    )
    return result


def alternatives() -> list[Alternative]:
    """Play every rule on every problem, on the same contexts and reward noise."""
    rows = []
    for setting in SETTINGS:
        base = np.empty(0)
        for name, (policy, rule) in RULES.items():
            values = regret(lowered(policy, setting.problem), rule, setting)
            base = values if name == "thrifty" else base
            rows.append(row(setting, name, values, base))
    return rows


def premiums() -> list[Alternative]:
    """Play `thrifty` with other premiums at three horizons."""
    rows = []
    for setting in HORIZONS:
        base = regret(lowered(al.thrifty(), setting.problem), Rule(PACKAGE), setting)
        for premium in PREMIUMS:
            terms = lowered(al.thrifty(), setting.problem, premium)
            values = regret(terms, Rule(PACKAGE), setting)
            rows.append(row(setting, f"{100 * premium:g} %", values, base))
    return rows


def main() -> None:
    parts = {"alternatives": alternatives, "premiums": premiums}
    for name in sys.argv[1:] or parts:
        write(name, parts[name]())


if __name__ == "__main__":
    main()
