"""Run all that ``make run`` needs, once: what a new user's first minute compiles."""

from __future__ import annotations

import almoner as al
from almoner.scenarios import scenario


def main() -> None:
    for name in ("paper-two", "paper-ten"):
        problem = scenario(name)
        for make in al.RECIPES.values():
            try:
                al.simulate(problem, make(), runs=1)
            except al.InvalidPolicy:  # some are for two contexts only
                continue
        al.optimal_value(problem)
        al.exact_value(problem, al.rounded())


if __name__ == "__main__":
    main()
