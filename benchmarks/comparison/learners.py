"""Regret of policies that learn: ``python -m benchmarks.comparison.learners``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import almoner as al
from almoner.scenarios import scenario
from benchmarks.comparison.knapsacks import LagrangeBwK, PrimalDualBwK
from benchmarks.comparison.rows import FOLDER, Learner
from benchmarks.learner.problems import Case, random_problem
from benchmarks.learner.rows import write

__all__ = ["cases"]

SEED, RANDOM, RANDOM_SEED = 5, 8, 1718
RUNS, PYTHON_RUNS = 500, 20

COMPILED = (
    *("thrifty", "wilson_eager", "thompson_rounded", "kl_ucb_rounded", "ucb_rounded"),
    *("ucb_alp", "epsilon_first_alp"),
)
IN_PYTHON: dict[str, Callable[[al.Problem], al.PlainPolicy]] = {
    "PrimalDualBwK": PrimalDualBwK,
    "LagrangeBwK": LagrangeBwK,
}


def cases() -> Iterator[Case]:
    """Return the paper's problems, one of unequal costs, and random ones of a seed of their own."""
    yield Case("paper", "two contexts, ρ = 0.4", scenario("paper-two").scaled(5_000, ratio=0.4))
    yield Case("paper", "ten contexts, ρ = 0.5", scenario("paper-ten").scaled(5_000, ratio=0.5))
    unequal = scenario("heterogeneous").scaled(5_000, ratio=1.1)
    yield Case("unequal", "unequal costs, ρ = 1.1", unequal)
    for number in range(RANDOM):
        case = random_problem(number, RANDOM_SEED)
        yield Case(case.kind, f"random {number + 1}: {case.name}", case.problem)


def play(case: Case) -> Iterator[Learner]:
    """Play every policy on a problem."""
    policies: dict[str, al.Policy | al.PlainPolicy] = {name: al.recipe(name) for name in COMPILED}
    policies |= {name: make(case.problem) for name, make in IN_PYTHON.items()}
    for name, policy in policies.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pairs left untried; an oracle out of reach
            runs = al.simulate(
                case.problem, policy, runs=PYTHON_RUNS if name in IN_PYTHON else RUNS, seed=SEED
            )
        yield Learner(
            problem=case.name,
            rounds=case.problem.horizon,
            budget=case.problem.budget,
            against=runs.against,
            optimum=runs.regret.mean + runs.reward.mean,
            policy=name,
            runs=len(runs),
            regret=runs.regret.mean,
            stderr=runs.regret.stderr,
            q99=runs.regret.quantile(0.99),
        )


if __name__ == "__main__":
    print(write("learners", [row for case in cases() for row in play(case)], folder=FOLDER))
