"""Sentences about the state of a campaign, all from one report so that none contradict each other.

Money is *spent* when an action is settled, *reserved* while its decision is open, and otherwise
*left to reserve*. Pace and plan use the expected cost of open decisions; whether an action is
affordable now depends on their reserve.
"""

from __future__ import annotations

from almoner.live.reports.report import Report
from almoner.live.state.status import EXPLANATIONS, SkipReason, Status
from almoner.service.web.formatting import Money, count, moment, percent, plural, sentence

__all__ = [
    "after_horizon",
    "cancelled",
    "expected_cost",
    "held_out",
    "over",
    "pace",
    "shares",
    "skip_reasons",
    "skipped",
    "state",
    "summary",
    "waiting",
    "why",
]

FINISHED = "finished"

ON_PACE = 0.005
"""Share of the budget below which a deviation from the straight line rounds to 0 %."""


def state(report: Report) -> str:
    """Return the status of a campaign, or ``finished`` for a running one without arrivals left."""
    return (
        FINISHED if report.status == Status.RUNNING and report.arrivals_left <= 0 else report.status
    )


def over(report: Report) -> bool:
    """Return whether no further arrival will be served."""
    return report.arrivals_left <= 0 or report.status == Status.CLOSED


def pace(report: Report) -> str:
    """Return spending compared with the straight line, or with the budget at the end.

    The straight line spends the same on every arrival up to the horizon.
    """
    if not report.arrivals:
        return _nobody_counted(report)
    if over(report):
        used = (report.spent + report.planned) / report.budget if report.budget else 1.0
        return f"{percent(used)} of the budget {_spent_or_expected(report)} at the end"
    if abs(report.pace) < ON_PACE:
        return "on pace"
    side = "ahead of" if report.pace > 0 else "behind"
    return f"spending {percent(abs(report.pace))} {side} the straight line"


def summary(report: Report, horizon: float, money: Money) -> str:
    """Return arrivals, spending and pace in one sentence."""
    kind = "expected arrival" if report.closes and report.arrivals_left > 0 else "arrival"
    if not report.arrivals:
        purpose = "left" if over(report) else f"for {plural(horizon, kind)}"
        return sentence(f"{_nobody_counted(report)}; {money(report.budget)} is {purpose}")
    return (
        f"{count(min(report.arrivals, horizon))} of {plural(horizon, kind)} have come, and "
        f"{money(report.spent + report.planned)} of {money(report.budget)} is "
        f"{_spent_or_expected(report)}: {pace(report)}."
    )


def after_horizon(report: Report, horizon: float) -> str:
    """Return the number of arrivals after the horizon; empty if there are none."""
    late = report.arrivals - horizon
    return f", and {count(late)} after it" if late > 0 else ""


def shares(report: Report, money: Money) -> str:
    """Return the parts of the budget bar as a sentence."""
    if report.risk:
        return (
            f"Of the budget of {money(report.budget)}, {money(report.spent)} is spent, "
            f"{money(report.planned)} expected for open decisions, which may cost "
            f"{money(report.reserved)} at most, and {money(report.left)} left."
        )
    return (
        f"Of the budget of {money(report.budget)}, {money(report.spent)} is spent, "
        f"{money(report.reserved)} reserved{expected_cost(report, money)} and {money(report.left)} "
        "left to reserve."
    )


def skipped(report: Report) -> str:
    """Return the numbers of skipped, cancelled and uncounted arrivals."""
    uncounted = _uncounted_skips(report)
    text = f"{count(sum(report.skips.values()) - uncounted)} skipped"
    if cancelled(report) > 0:
        text += f", {count(cancelled(report))} cancelled"
    if uncounted:
        text += f"; {count(uncounted)} more while paused or closed"
    return text


def skip_reasons(report: Report) -> str:
    """Return how many arrivals were skipped for each reason; empty if none was."""
    reasons = sorted(report.skips.items(), key=lambda item: -item[1])
    listed = "; ".join(f"{count(number)} because {why(reason)}" for reason, number in reasons)
    return f"Skipped so far: {listed}." if listed else ""


def held_out(share: float) -> str:
    """Return that a share of arrivals gets nothing whatever the plan is; empty without one."""
    return f"{percent(share)} of the arrivals are held out, and get nothing." if share else ""


def open_reserves(report: Report) -> str:
    """Return how many decisions have a reserve, and when the next of these expires."""
    if not report.open:
        return ""
    message = f"for {plural(report.open, 'open decision')}"
    if report.next_expiry is None:
        return message
    which = "" if report.open == 1 else "the next "
    return f"{message}; {which}expires {moment(report.next_expiry)}"


def waiting(report: Report) -> str:
    """Return the number of decisions without a reward yet; empty if there are none."""
    if not report.waiting:
        return ""
    text = f"{plural(report.waiting, 'decision')} still wait{'s' * (report.waiting == 1)} for one"
    if report.reward_window is None:
        return text
    share = percent(report.still_expected)
    return f"{text} within {report.reward_window}, and {share} of all rewards are still expected"


def why(reason: str | None) -> str:
    """Return the reason of a skip in words."""
    return EXPLANATIONS.get(reason or "", reason or "")


def cancelled(report: Report) -> int:
    """Return the number of counted arrivals whose action was cancelled."""
    skips = sum(report.skips.values()) - _uncounted_skips(report)
    return report.arrivals - report.served - skips


def expected_cost(report: Report, money: Money) -> str:
    """Return the expected cost of the reserved money in brackets, where it is less."""
    if report.reserved == report.planned:
        return ""
    return f" (expected to cost {money(report.planned)})"


def _uncounted_skips(report: Report) -> int:
    return sum(report.skips.get(reason, 0) for reason in (SkipReason.PAUSED, SkipReason.CLOSED))


def _nobody_counted(report: Report) -> str:
    """Return that no arrival was counted, and how many came while paused."""
    paused = report.skips.get(SkipReason.PAUSED, 0)
    if report.status == Status.CLOSED:
        message = f"it was closed before anyone {'was counted' if paused else 'came'}"
    elif report.arrivals_left <= 0:
        message = f"nobody {'was counted' if paused else 'came'} before it ended"
    else:
        message = f"nobody has {'been counted' if paused else 'come'} yet"
    return f"{message}: {count(paused)} came while it was paused" if paused else message


def _spent_or_expected(report: Report) -> str:
    return "spent or expected to be" if report.planned else "spent"
