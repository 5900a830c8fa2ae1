"""Sentences about a campaign, all from one report, so that no two of them contradict each other.

Money is *spent* once a bill has come, *reserved* while a decision is open, and the rest is *left to
reserve*. Pace and plans go by what open decisions are expected to cost, and whether anything can be
given out now goes by what they reserve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from almoner.live.campaign import RUNNING
from almoner.live.decision import BUDGET, WHY
from almoner.live.report import RESERVED, Report
from almoner.service.web.formatting import count, percent, plural, sentence
from almoner.store.events import CLOSED, PAUSED

__all__ = [
    "after_horizon",
    "held_up",
    "in_brief",
    "never_affordable",
    "notices",
    "over",
    "pace",
    "shares",
    "skipped",
    "state",
    "summary",
    "waiting",
    "why",
]

Money = Callable[[float], str]

FINISHED = "finished"

ON_PACE = 0.005
"""Less than this share of the budget off the straight line is on it: it rounds to 0 %."""

IDLE_ARRIVALS, IDLE_ACTIONS = 100, 10
"""After so many skips in a row, for which even spending would have paid so many actions, something
may be wrong: with actions as frequent as that, chance alone leaves them out once in e¹⁰ times."""


def state(report: Report) -> str:
    """Return what a campaign is, in one word: finished is one that runs and has nothing to do."""
    return FINISHED if report.status == RUNNING and report.arrivals_left <= 0 else report.status


def over(report: Report) -> bool:
    """Return whether nobody will be served any more."""
    return report.arrivals_left <= 0 or report.status == CLOSED


def pace(report: Report) -> str:
    """Return whether money goes as fast as visitors come.

    The straight line spends the same on every arrival up to the horizon.
    """
    if not report.arrivals:
        return _uncounted(report)
    if over(report):
        used = (report.spent + report.planned) / report.budget if report.budget else 1.0
        return f"{percent(used)} of the budget {_spent_or_expected(report)} at the end"
    if abs(report.pace) < ON_PACE:
        return "on pace"
    side = "ahead of" if report.pace > 0 else "behind"
    return f"spending {percent(abs(report.pace))} {side} the straight line"


def summary(report: Report, horizon: float, money: Money) -> str:
    """Return in one sentence how a campaign is doing."""
    kind = "expected arrival" if report.closes else "arrival"
    if not report.arrivals:
        purpose = "left" if over(report) else f"for {plural(horizon, kind)}"
        return sentence(f"{_uncounted(report)}; {money(report.budget)} is {purpose}")
    return (
        f"{count(min(report.arrivals, horizon))} of {plural(horizon, kind)} have come, and "
        f"{money(report.spent + report.planned)} of {money(report.budget)} is "
        f"{_spent_or_expected(report)}: {pace(report)}."
    )


def after_horizon(report: Report, horizon: float) -> str:
    """Return how many have come after the last arrival that counts; nothing if none has."""
    late = report.arrivals - horizon
    return f", and {count(late)} after it" if late > 0 else ""


def shares(report: Report, money: Money) -> str:
    """Return where the budget is: what the bar shows."""
    return (
        f"Of the budget of {money(report.budget)}, {money(report.spent)} is spent, "
        f"{money(report.reserved)} reserved{_expected(report, money)} and {money(report.left)} "
        "left to reserve."
    )


def skipped(report: Report) -> str:
    """Return what became of the arrivals that are not served: with those, they add up."""
    uncounted = sum(report.skips.get(reason, 0) for reason in (PAUSED, CLOSED))
    skips = sum(report.skips.values()) - uncounted
    cancelled = _cancelled(report)
    said = f"{count(skips)} skipped"
    if cancelled > 0:
        said += f", {count(cancelled)} cancelled"
    if uncounted:
        said += f"; {count(uncounted)} more while paused or closed"
    return said


def waiting(report: Report) -> str:
    """Return how many decisions have no reward yet; nothing if all of them have."""
    if not report.waiting:
        return ""
    return f"{plural(report.waiting, 'decision')} still wait{'s' * (report.waiting == 1)} for one"


def held_up(report: Report, money: Money) -> str:
    """Return why nothing can be given out now; nothing if something can, or all is over."""
    if report.blocked == PAUSED:
        return "The campaign is paused: arrivals are skipped, and are not counted."
    if report.blocked == CLOSED:
        return "The campaign is closed: only settlements and rewards are still taken."
    if report.blocked == RESERVED:
        return (
            f"Nothing can be given out now: {money(report.reserved)} is reserved for open "
            f"decisions{_expected(report, money)}, and the {money(report.left)} left is less than "
            f"the {money(report.cheapest)} that the cheapest action reserves. It frees as bills "
            "are settled."
        )
    if report.blocked == BUDGET and report.budget < report.cheapest:
        return (
            f"Nothing can ever be given out: the cheapest action reserves {money(report.cheapest)},"
            f" and the budget is {money(report.budget)}."
        )
    if report.blocked == BUDGET and not report.unusable:
        return "The budget is used up: nothing more can be given out."
    return ""


def notices(report: Report, horizon: float, money: Money) -> list[str]:
    """Return what a person should know beyond the figures, a sentence each."""
    sentences = [
        _late(report, horizon),
        held_up(report, money),
        _unusable(report, money),
        *_never_taken(report, money),
        _overrun(report, money),
        _beyond_budget(report, money),
        _idle(report, horizon),
    ]
    return [*filter(None, sentences)]


def in_brief(report: Report, horizon: float, money: Money) -> str:
    """Return the pace, and why nothing is given out while the campaign runs, if nothing is."""
    sentences = [sentence(pace(report))]
    if state(report) == RUNNING:
        sentences += [held_up(report, money), _unusable(report, money), _idle(report, horizon)]
    return " ".join(filter(None, sentences))


def _uncounted(report: Report) -> str:
    """Return that no arrival was counted, and how many came while none was."""
    paused = report.skips.get(PAUSED, 0)
    if report.status == CLOSED:
        said = f"it was closed before anyone {'was counted' if paused else 'came'}"
    elif report.arrivals_left <= 0:
        said = f"nobody {'was counted' if paused else 'came'} before it ended"
    else:
        said = f"nobody has {'been counted' if paused else 'come'} yet"
    return f"{said}: {count(paused)} came while it was paused" if paused else said


def why(reason: str | None) -> str:
    """Return why a skip, in words."""
    return WHY.get(reason or "", reason or "")


def _late(report: Report, horizon: float) -> str:
    if report.arrivals <= horizon:
        return ""
    return (
        f"{count(report.arrivals - horizon)} more have come after the horizon of "
        f"{plural(horizon, 'arrival')}, and were skipped."
    )


def _unusable(report: Report, money: Money) -> str:
    if not report.unusable or report.budget < report.cheapest:
        return ""
    settled = report.reserved == report.planned
    left = "is left" if settled else "will be left if open decisions cost what is expected"
    return (
        f"{money(report.unusable)} {left}, but no action reserves less than "
        f"{money(report.cheapest)}, so it cannot be given out."
    )


def never_affordable(
    reserves: Iterable[tuple[str, float]], budget: float, money: Money
) -> list[str]:
    """Return a sentence for each action that reserves more than the budget in every context."""
    least: dict[str, float] = {}
    for action, reserve in reserves:
        least[action] = min(reserve, least.get(action, reserve))
    return [
        f"“{action}” can never be taken: it reserves {money(reserve)}, and the budget is "
        f"{money(budget)}."
        for action, reserve in least.items()
        if reserve > budget
    ]


def _never_taken(report: Report, money: Money) -> list[str]:
    if report.budget < report.cheapest:  # `held_up` says so of all actions
        return []
    pairs = [pair for context in report.contexts for pair in context.actions]
    return never_affordable([(pair.action, pair.reserve) for pair in pairs], report.budget, money)


def _overrun(report: Report, money: Money) -> str:
    if not report.overrun:
        return ""
    return (
        f"Bills have exceeded what was reserved for them by {money(report.overrun)} in all; raise "
        "the reserves of the next campaign."
    )


def _beyond_budget(report: Report, money: Money) -> str:
    """Return by how much bills exceed the budget, which bears no more than itself."""
    bills = report.spent + report.uncharged
    if bills <= report.budget or money(bills) == money(report.budget):  # a sum of floats
        return ""
    return (
        f"Bills add up to {money(bills)}, which is {money(bills - report.budget)} more than the "
        f"budget of {money(report.budget)}; no more than the budget is charged to the campaign."
    )


def _idle(report: Report, horizon: float) -> str:
    """Return that nothing is given out though it could be, and why."""
    idle = sum(report.idle.values())
    never = not report.served and 2 * report.arrivals >= horizon
    dearest = max((pair.cost for context in report.contexts for pair in context.actions), default=0)
    long = idle >= IDLE_ARRIVALS and idle * report.ratio_start >= IDLE_ACTIONS * dearest
    if report.blocked is not None or not report.arrivals or not (never or long):
        return ""
    cancelled = _cancelled(report) if not report.served else 0
    if report.served:
        said = f"Nothing was given out to the last {plural(idle, 'arrival')}"
    else:
        said = f"Nothing was given out to any of {plural(report.arrivals, 'arrival')}"
    reasons = [f"{count(number)} because {why(reason)}" for reason, number in report.idle.items()]
    if len(reasons) == 1 and not cancelled:
        reasons = [f"all because {why(*report.idle)}"]
    if cancelled:
        reasons.append(f"{count(cancelled)} cancelled")
    if report.waiting:
        reasons.append(f"{waiting(report)}, and a 0 must be told too")
    return f"{said}: {'; '.join(reasons)}."


def _cancelled(report: Report) -> int:
    uncounted = sum(report.skips.get(reason, 0) for reason in (PAUSED, CLOSED))
    return report.arrivals - report.served - (sum(report.skips.values()) - uncounted)


def _spent_or_expected(report: Report) -> str:
    return "spent or expected to be" if report.planned else "spent"


def _expected(report: Report, money: Money) -> str:
    """Return what the reserved money is expected to be used for, where that is less."""
    if report.reserved == report.planned:
        return ""
    return f" (expected to cost {money(report.planned)})"
