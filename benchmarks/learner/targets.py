"""Targets that were set before the rule was written, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.learner.router import Routing
from benchmarks.learner.rows import Comparison, geometric_mean, read
from benchmarks.learner.speed import Speed
from benchmarks.pages import table

__all__ = ["Target", "measured", "targets"]

LONG = 10_000


@dataclass(frozen=True)
class Target:
    """A figure with its standard error, if it has one, and the most or least that was asked."""

    what: str
    figure: float
    error: float | None = None
    most: float | None = None
    least: float | None = None
    digits: int = 1

    @property
    def verdict(self) -> str:
        """Whether the figure meets the target; within two standard errors, that is said."""
        if self.most is not None:
            margin = self.most - self.figure
        else:
            margin = self.figure - (self.least or 0.0)
        verdict = "met" if margin >= 0 else "**missed**"
        near = self.error is not None and abs(margin) < 2 * self.error
        return f"{verdict}, within two standard errors" if near else verdict


def targets() -> str:
    """Return the table of all targets."""
    lines = []
    for target in measured():
        bar, sign = (target.most, "≤") if target.most is not None else (target.least, "≥")
        figure = f"{target.figure:.{target.digits}f}"
        error = "" if target.error is None else f" ± {target.error:.{target.digits}f}"
        cells = (target.what, f"{sign} {bar:g}", figure + error, target.verdict)
        lines.append([cell.replace("-", "−") for cell in cells])
    return table(("", "target", "measured", ""), lines)


def measured() -> Iterator[Target]:
    """Yield every target with its figure."""
    yield from _named()
    held_out = read("heldout", Comparison)
    bars = {"random": 0.89, "unstructured": 1.03, "structured": 0.6, "unequal costs": 0.65}
    for kind, bar in bars.items():
        rows = [row for row in held_out if row.kind == kind]
        mean, error = geometric_mean(rows)
        what = f"held out, {kind}: mean ratio of {len(rows)}"
        yield Target(what, mean, error, most=bar, digits=3)
        if kind == "unstructured":
            worst = max(rows, key=lambda row: row.ratio)
            what = "held out, unstructured: worst ratio"
            yield Target(what, worst.ratio, worst.ratio_stderr, most=1.1, digits=3)
    mean, error = geometric_mean(read("notes", Comparison))
    yield Target("research notes, unequal costs: mean ratio of 7", mean, error, most=0.65, digits=3)
    for routing in read("router", Routing):
        if routing.policy != "thrifty":
            continue
        judged = f"router, {100 * routing.judged:.0f} % judged"
        least = 0.003 if routing.judged == 1 else -0.002
        what = f"{judged}: quality less medium"
        yield Target(what, routing.less_medium, routing.stderr, least=least, digits=4)
        if routing.judged < 1:
            better = routing.better
            yield Target(
                f"{judged}: share of runs better than medium",
                better,
                (better * (1 - better) / routing.runs) ** 0.5,
                least=0.55,
                digits=3,
            )
    for row in read("speed", Speed):
        if row.what.startswith("a live decision"):
            yield Target(f"{row.what}, µs of CPU time", row.new, most=20)
        else:
            yield Target(
                f"{row.what}: CPU time, ratio to `wilson_eager` before", row.ratio, most=2, digits=2
            )


def _named() -> Iterator[Target]:
    rows = [row for row in read("named", Comparison) if row.rounds == LONG]
    for row in rows:
        if row.problem.startswith("ten"):
            yield Target(row.problem, row.new, row.new_stderr, most=104)
    two = [row for row in rows if row.problem.startswith("two")]
    error = sum(row.new_stderr**2 for row in two) ** 0.5 / len(two)
    mean = sum(row.new for row in two) / len(two)
    yield Target("two, average of the three budgets", mean, error, most=15.5, digits=2)
    [shop] = [row for row in rows if row.problem == "shop"]
    yield Target("shop", shop.new, shop.new_stderr, most=28.5)
    yield Target("shop, 99 % stay below", shop.new_q99, most=75)
    bad = shop.new_bad
    error = (bad * (1 - bad) / shop.runs) ** 0.5
    yield Target("shop, share of runs that lose a tenth", bad, error, most=0.006, digits=4)
    [unequal] = [row for row in rows if row.problem == "heterogeneous, ρ = 1.1"]
    yield Target(unequal.problem, unequal.new, unequal.new_stderr, most=76)
