"""Program that runs every kernel of ``make run`` once, to measure their compilation."""

from __future__ import annotations

import almoner as al
from almoner.experiments.reproduction.paper import POLICIES
from almoner.scenarios import scenario


def main() -> None:
    for figure, policies in POLICIES.items():
        problem = scenario(f"paper-{figure.split('-')[0]}").scaled(100)  # compilation is the work
        for name in policies:
            al.simulate(problem, al.recipe(name), runs=1, marks=[1])
        al.optimal_value(problem)
        al.exact_value(problem, al.rounded())


if __name__ == "__main__":
    main()
