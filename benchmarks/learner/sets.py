"""The sets of problems: those that constants were chosen on, those drawn afterwards, named ones.

`HELD_OUT` was written down, and committed, before any policy was played on its problems; they were
drawn once. It is the fourth such set. The sets of seeds 41181, 20261118 and 60614 were played with
earlier states of the rule, which were then changed; they are not used any more.
"""

from __future__ import annotations

from dataclasses import replace

import almoner as al
from almoner.scenarios import scenario
from benchmarks.learner.problems import (
    RANDOM,
    STRUCTURED,
    Case,
    Synthetic,
    random_problem,
    structured,
    synthetic,
    unstructured,
)

__all__ = [
    "DEVELOPMENT",
    "HELD_OUT",
    "SETS",
    "SHOP",
    "development",
    "held_out",
    "named",
    "notes",
    "paper",
]

DEVELOPMENT, HELD_OUT = 11, 71129
"""Seeds of the generators."""

TRIED = (
    Synthetic(30, 5, 10_000, 15_000, 0.3, 201),
    Synthetic(90, 3, 6_000, 9_000, 0.25, 203),
    Synthetic(30, 10, 10_000, 10_000, 0.2, 204, level=-3.0),
    Synthetic(60, 4, 10_000, 15_000, 0.0, 205, independent=True),
    Synthetic(100, 5, 10_000, 10_000, 0.1, 206),
)
"""Problems with unequal costs in the development set."""

NOTED = (
    Synthetic(30, 5, 10_000, 10_000, 0.3, 101),
    Synthetic(100, 3, 10_000, 20_000, 0.1, 102),
    Synthetic(90, 3, 6_000, 9_000, 0.25, 103),
    Synthetic(30, 10, 10_000, 10_000, 0.2, 104, level=-3.0),
    Synthetic(60, 4, 10_000, 12_000, 0.0, 105, independent=True),
    Synthetic(300, 10, 20_000, 20_000, 0.2, 106),
    Synthetic(300, 5, 20_000, 20_000, 0.0, 107, level=-2.5),
)
"""Problems with unequal costs of the research notes: known before the rule was frozen, no constant
was chosen on them. The held-out ones have the same parameters and other seeds."""

SHOP = al.Problem(
    context_probs=[0.5, 0.35, 0.15],
    reward_means=[[0.04, 0.10], [0.20, 0.24], [0.45, 0.35]],
    horizon=10_000,
    budget=2_500,
)
"""The shop of the tutorial."""


def development() -> list[Case]:
    """Return the problems that the constants of the rule were chosen on."""
    return [*_drawn(DEVELOPMENT), *map(synthetic, TRIED)]


def held_out() -> list[Case]:
    """Return the problems that were drawn after the rule was frozen."""
    others = [replace(terms, seed=HELD_OUT + i) for i, terms in enumerate(NOTED)]
    return [*_drawn(HELD_OUT), *map(synthetic, others)]


def notes() -> list[Case]:
    """Return the problems with unequal costs of the research notes."""
    return [synthetic(terms) for terms in NOTED]


def named() -> list[Case]:
    """Return the paper's problems, the tutorial's shop, and the scenario with unequal costs."""
    two, ten = (
        [paper("two", ratio) for ratio in (0.39, 0.40, 0.41)],
        [paper("ten", ratio) for ratio in (0.49, 0.50, 0.51)],
    )
    long = [*two, *ten, Case("named", "shop", SHOP)]
    short = [replace(case, problem=case.problem.scaled(1_000)) for case in long]
    unequal = scenario("heterogeneous")
    costs = [
        Case("named", f"heterogeneous, ρ = {ratio:g}", unequal.replace(budget=10_000 * ratio))
        for ratio in (1.1, 0.4)
    ]
    return [*long, *short, *costs]


def paper(name: str, ratio: float) -> Case:
    """Return one of the paper's problems with another budget."""
    problem = scenario(f"paper-{name}")
    return Case("named", f"{name}, ρ = {ratio:.2f}", problem.replace(budget=10_000 * ratio))


def _drawn(seed: int) -> list[Case]:
    return [
        *(random_problem(number, seed) for number in range(RANDOM)),
        *(unstructured(number, seed) for number in range(RANDOM)),
        *(structured(number, seed) for number in range(len(STRUCTURED))),
    ]


SETS = {"development": development, "heldout": held_out, "notes": notes, "named": named}
"""Every set by the name of its file of rows."""
