"""Tables and lists of losses of ``docs/benchmarks.md``, from the rows beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.comparison.logs import RATIOS
from benchmarks.comparison.published import PUBLISHED
from benchmarks.comparison.routing import BLOCKS, FEATURES, SCORES
from benchmarks.comparison.rows import FOLDER, Estimate, Learner, Routing, Speed
from benchmarks.learner.rows import read
from benchmarks.pages import table

__all__ = ["TABLES", "in_full", "learner_ratios"]

OURS_ON_SCORES, OURS = "priced", "thrifty"
THEIRS = "ParetoBandit's rules"
FEATURE_POLICIES = ("linear", THEIRS)


def _routing(prompts: str) -> list[Routing]:
    return [row for row in read("routing", Routing, folder=FOLDER) if row.prompts == prompts]


def published() -> str:
    """Return our policies beside the published figures, with shares of the hindsight optimum."""
    lines = []
    for budget, theirs in PUBLISHED.items():
        rows = {row.policy: row for row in _routing(SCORES) if row.budget == budget}
        ours = (rows[name] for name in (OURS_ON_SCORES, *FEATURE_POLICIES))
        lines.append(
            [
                in_full(budget),
                *(f"{row.reward:.3f} ({_share(row)})" for row in ours),
                f"{theirs.reward:.3f} ({100 * theirs.reward / theirs.optimum:.1f} %)",
            ]
        )
    heading = ("budget per prompt", "`priced`", "`linear`", THEIRS, "ParetoBandit, published")
    return table(heading, lines)


def in_full(budget: float) -> str:
    """Return a small budget without an exponent.

    >>> in_full(8.3e-5), in_full(0.0019)
    ('0.000083', '0.0019')
    """
    return f"{budget:.6f}".rstrip("0")


def _share(row: Routing) -> str:
    return f"{100 * row.reward / row.optimum:.1f} %"


def pacing(prompts: str) -> str:
    """Return all rules that decide by the same scores, budget by budget."""
    rows = [row for row in _routing(prompts) if row.policy not in FEATURE_POLICIES]
    budgets = sorted({row.budget for row in rows})
    lines = [
        [f"`{name}`" if " " not in name else _in_code(name)]
        + [_reward(row) for row in rows if row.policy == name]
        for name in dict.fromkeys(row.policy for row in rows)
    ]
    best = [f"{next(row.optimum for row in rows if row.budget == b):.4f}" for b in budgets]
    return table(
        ("budget per prompt", *(in_full(budget) for budget in budgets)),
        [*lines, ["optimum in hindsight", *best]],
    )


def _in_code(name: str) -> str:
    recipe, *rest = name.split(",")
    return ",".join([f"`{recipe}`", *rest])


def _reward(row: Routing) -> str:
    return f"{row.reward:.4f} ± {row.stderr:.4f}"


def features() -> str:
    """Return the two that learn from features, on four models."""
    rows = _routing(FEATURES)
    lines = []
    for budget in sorted({row.budget for row in rows}):
        here = {row.policy: row for row in rows if row.budget == budget}
        each = [f"{_reward(here[name])} ({_share(here[name])})" for name in FEATURE_POLICIES]
        lines.append([f"{100 * budget:g} %", *each])
    return table(("budget, of the full cost", "`linear`", THEIRS), lines)


def routing_losses(prompts: str) -> str:
    """Return in words where another policy beats `priced`."""
    rows = _routing(prompts)
    ours = {row.budget: row for row in rows if row.policy == OURS_ON_SCORES}
    lost = []
    for row in rows:
        mine = ours[row.budget]
        beyond = row.reward - mine.reward
        if beyond > 0:
            clear = beyond > 2 * math.hypot(row.stderr, mine.stderr)
            remark = "more than two standard errors" if clear else "within two standard errors"
            where = f"{_in_code(row.policy)} at {in_full(row.budget)}"
            lost.append(f"- `priced` loses to {where} by {beyond:.4f}, {remark}.")
    return "\n".join(lost) or "`priced` loses to none of them at any budget."


def learners() -> str:
    """Return the regret of every learner on every problem; the least is bold."""
    rows = read("learners", Learner, folder=FOLDER)
    names = list(dict.fromkeys(row.policy for row in rows))
    lines = []
    for problem in dict.fromkeys(row.problem for row in rows):
        here = [row for row in rows if row.problem == problem]
        least = min(here, key=lambda row: row.regret)
        lines.append([problem, f"{here[0].optimum:,.0f}", *(_regret(r, least) for r in here)])
    lines.append(["geometric mean of ratios to `thrifty`", "", *_means(rows, names)])
    return table(("", "optimum", *(_named(name) for name in names)), lines)


def _regret(row: Learner, least: Learner) -> str:
    text = f"{row.regret:.1f} ± {row.stderr:.1f}" if row.regret < 1000 else f"{row.regret:,.0f}"
    return f"**{text}**" if row is least else text


def _named(name: str) -> str:
    return f"`{name}`" if name == name.lower() else name


def learner_ratios(rows: Sequence[Learner]) -> dict[str, dict[str, float]]:
    """Return the regret of each policy over that of `thrifty`, by policy and problem."""
    ours = {row.problem: row.regret for row in rows if row.policy == OURS}
    ratios: dict[str, dict[str, float]] = {}
    for row in rows:
        ratios.setdefault(row.policy, {})[row.problem] = row.regret / ours[row.problem]
    return ratios


def _means(rows: Sequence[Learner], names: Sequence[str]) -> Iterator[str]:
    ratios = learner_ratios(rows)
    for name in names:
        yield f"{np.exp(np.mean(np.log(list(ratios[name].values())))):.2f}"


def learner_losses() -> str:
    """Return in words where others lose less than `thrifty`, on average or in the tail."""
    rows = read("learners", Learner, folder=FOLDER)
    ours = {row.problem: row for row in rows if row.policy == OURS}
    lost = []
    for row in rows:
        mine = ours[row.problem]
        beyond = mine.regret - row.regret
        if beyond > 0:
            clear = beyond > 2 * math.hypot(row.stderr, mine.stderr)
            remark = "" if clear else ", which is within two standard errors"
            lost.append(
                f"- {row.problem}: the regret of {_named(row.policy)} is {row.regret:.1f}, that of "
                f"`thrifty` {mine.regret:.1f}{remark}."
            )
    for problem, mine in ours.items():
        shorter = [
            f"{_named(row.policy)} {row.q99:.0f}"
            for row in rows
            if row.problem == problem and row.q99 < 0.8 * mine.q99 and row.regret >= mine.regret
        ]
        if shorter:
            lost.append(
                f"- {problem}: on average `thrifty` has less regret, but its tail is longer. 99 % "
                f"of its runs stay below {mine.q99:.0f}, of others below: {', '.join(shorter)}."
            )
    return "\n".join(lost) or "No policy loses less than `thrifty` on any of these problems."


def estimates() -> str:
    """Return every estimate from the log beside the truth."""
    rows = read("logs", Estimate, folder=FOLDER)
    lines = []
    for name in dict.fromkeys(row.estimate for row in rows):
        here = {row.budget: row for row in rows if row.estimate == name}
        each = [f"{here[ratio].value:.4f} ± {here[ratio].stderr:.4f}" for ratio in RATIOS]
        lines.append([name, f"{here[RATIOS[0]].rounds:,}", *each])
    truth = [f"{next(r.truth for r in rows if r.budget == ratio):.4f}" for ratio in RATIOS]
    heading = ("value of an arrival", "rounds", *(f"ρ = {ratio:g}" for ratio in RATIOS))
    return table(heading, [*lines, ["the truth, of a plan that knows it", "", *truth]])


def speed() -> str:
    """Return the time of a round, the fastest first."""
    rows = [row for row in read("speed", Speed, folder=FOLDER) if row.version]
    rows.sort(key=lambda row: row.microseconds)
    lines = [
        (
            f"{row.program} {row.version}",
            _named(row.policy) if row.program == "almoner" else row.policy,
            row.loop,
            "yes" if row.program in ("almoner", "budgetCB") else "no",
            _microseconds(row),
        )
        for row in rows
    ]
    return table(("", "policy", "loop", "keeps a budget", "a round"), lines)


def _microseconds(row: Speed) -> str:
    return (
        f"{row.microseconds:,.0f} µs" if row.microseconds >= 100 else f"{row.microseconds:.3g} µs"
    )


def speed_losses() -> str:
    """Return in words what is faster than a loop of ours, or was not measured."""
    rows = read("speed", Speed, folder=FOLDER)
    measured = [row for row in rows if row.version]
    lost = []
    for mine in [row for row in measured if row.program == "almoner"]:
        faster = [
            f"{row.program}'s {row.policy} ({_microseconds(row)})"
            for row in measured
            if row.program != "almoner" and row.microseconds < mine.microseconds
        ]
        if faster:
            what = f"{_named(mine.policy)}, {mine.loop} ({_microseconds(mine)})"
            lost.append(f"- {what} is slower than {', '.join(faster)}.")
    lost += [
        f"- {row.program} could not be measured: {row.policy}" for row in rows if not row.version
    ]
    return "\n".join(lost)


TABLES: dict[str, Callable[[], str]] = {
    "published": published,
    "pacing": partial(pacing, SCORES),
    "pacing losses": partial(routing_losses, SCORES),
    "blocks": partial(pacing, BLOCKS),
    "block losses": partial(routing_losses, BLOCKS),
    "features": features,
    "learners": learners,
    "learner losses": learner_losses,
    "estimates": estimates,
    "speed": speed,
    "speed losses": speed_losses,
}
"""Every block by its name in the markers of the page."""
