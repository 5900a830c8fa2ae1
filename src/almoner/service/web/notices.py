"""Notices of a campaign: sentences on states that a person should know or act on.

All come from one report, like the sentences of `almoner.service.web.sentences`.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from almoner.live.reports.report import RESERVED, Report
from almoner.live.state.status import SkipReason, Status
from almoner.service.web.cap_text import full_caps, held_back
from almoner.service.web.formatting import Money, count, exact, isolated, moment, plural, sentence
from almoner.service.web.reward_format import RewardFormat
from almoner.service.web.sentences import cancelled, expected_cost, pace, state, waiting, why

__all__ = ["blocked", "in_brief", "never_affordable", "notices"]

ACTIONS_NAMED = 3
"""Number of actions up to which each has a sentence of its own."""

IDLE_ARRIVALS, IDLE_ACTIONS = 100, 10
"""Consecutive skips, and actions that even spending would have paid for during them, from which on
a notice is shown: at that frequency of actions, chance alone skips them all once in e¹⁰ times."""


def notices(report: Report, horizon: float, money: Money) -> list[str]:
    """Return all notices of a campaign, one sentence each."""
    sentences = [
        _late(report, horizon),
        blocked(report, money),
        held_back(report, money),
        _unusable(report, money),
        *_never_taken(report, money),
        _overrun(report, money),
        _beyond_budget(report, money),
        _only_good_news(report),
        _unlearned_skips(report),
        _idle(report, horizon),
    ]
    return [*filter(None, sentences)]


def in_brief(report: Report, horizon: float, money: Money) -> str:
    """Return the pace, and the reason if a running campaign gives nothing out."""
    sentences = [sentence(pace(report))]
    if state(report) == Status.RUNNING:
        sentences += [blocked(report, money), _unusable(report, money), _idle(report, horizon)]
    return " ".join(filter(None, sentences))


def blocked(report: Report, money: Money) -> str:
    """Return the reason why no action can be taken now; empty if one can, or after the end."""
    if report.blocked == SkipReason.PAUSED:
        return "The campaign is paused: arrivals are skipped, and are not counted."
    if report.blocked == SkipReason.CLOSED:
        return "The campaign is closed: only settlements and rewards are still taken."
    if report.blocked == SkipReason.PACE:
        return f"Nothing can be given out now: {full_caps(report, money)}."
    if report.blocked == RESERVED:
        return _all_reserved(report, money)
    if report.blocked == SkipReason.BUDGET and report.budget < report.cheapest:
        return (
            f"Nothing can ever be given out: the cheapest action reserves {money(report.cheapest)},"
            f" and the budget is {money(report.budget)}."
        )
    if report.blocked == SkipReason.BUDGET and not report.unusable:
        return "The budget is used up: nothing more can be given out."
    return ""


def _all_reserved(report: Report, money: Money) -> str:
    """Return why nothing can be given out although money is there, and when it frees."""
    reserved = f"{money(report.reserved)} is reserved for open decisions"
    enough = (
        f"and the {money(report.left)} left is less than the {money(report.cheapest)} that the "
        "cheapest action reserves"
    )
    if report.risk:
        risk = f"but for the risk of {exact(report.risk)}"
        enough = f"and with another one they might cost more than the budget allows, {risk}"
    frees = "bills are settled"
    if report.next_expiry is not None:
        frees += f" and reserves expire, the next {moment(report.next_expiry)}"
    return (
        f"Nothing can be given out now: {reserved}{expected_cost(report, money)}, {enough}. "
        f"It frees as {frees}."
    )


def never_affordable(
    reserves: Iterable[tuple[str, float]], budget: float, money: Money
) -> list[str]:
    """Return sentences on actions that reserve more than the budget in every context.

    Each action has one of its own, or many share one.
    """
    least: dict[str, float] = {}
    for action, reserve in reserves:
        least[action] = min(reserve, least.get(action, reserve))
    dear = {action: reserve for action, reserve in least.items() if reserve > budget}
    if len(dear) > ACTIONS_NAMED:
        named = [Markup("“{}”").format(isolated(action)) for action in [*dear][:ACTIONS_NAMED]]
        sentence = Markup("{} and {} can never be taken: each reserves more than the budget of {}.")
        more = plural(len(dear) - ACTIONS_NAMED, "more action")
        return [sentence.format(Markup(", ").join(named), more, money(budget))]
    return [
        Markup("“{}” can never be taken: it reserves {}, and the budget is {}.").format(
            isolated(action), money(reserve), money(budget)
        )
        for action, reserve in dear.items()
    ]


def _late(report: Report, horizon: float) -> str:
    if report.arrivals <= horizon:
        return ""
    end = "the closing time" if report.closes else f"the horizon of {plural(horizon, 'arrival')}"
    return f"{count(report.arrivals - horizon)} more have come after {end}, and were skipped."


def _unusable(report: Report, money: Money) -> str:
    if not report.unusable or report.budget < report.cheapest:
        return ""
    settled = report.reserved == report.planned
    left = "is left" if settled else "will be left if open decisions cost what is expected"
    return (
        f"{money(report.unusable)} {left}, but no action reserves less than "
        f"{money(report.cheapest)}, so it cannot be given out."
    )


def _never_taken(report: Report, money: Money) -> list[str]:
    if report.budget < report.cheapest:  # `blocked` says so of all actions
        return []
    pairs = [pair for context in report.contexts for pair in context.actions]
    return never_affordable([(pair.action, pair.reserve) for pair in pairs], report.budget, money)


def _overrun(report: Report, money: Money) -> str:
    if not report.overrun:
        return ""
    return (
        f"Bills have exceeded what was reserved for them by {money(report.overrun)} in all; raise "
        "the reserves, and let none expire before its bill can come."
    )


def _beyond_budget(report: Report, money: Money) -> str:
    """Return by how much the bills exceed the budget, beyond which nothing is charged."""
    bills = report.spent + report.uncharged
    if bills <= report.budget or money(bills) == money(report.budget):  # floats: compare as shown
        return ""
    return (
        f"Bills add up to {money(bills)}, which is {money(bills - report.budget)} more than the "
        f"budget of {money(report.budget)}; no more than the budget is charged to the campaign."
    )


def _only_good_news(report: Report) -> str:
    """Return a warning where it seems that zeros are not told."""
    if not report.only_good_news:
        return ""
    rewards = "reward so far is" if report.rewarded == 1 else "rewards so far are all"
    return (
        f"The {count(report.rewarded)} {rewards} above 0, and {plural(report.waiting, 'decision')} "
        "had none. If silence means 0, tell the zeros too, or give the next campaign a reward "
        "window: otherwise every mean is too high, and doing nothing may look best."
    )


def _unlearned_skips(report: Report) -> str:
    """Return a warning where skips bring rewards that the campaign does not learn from."""
    if report.skip_reward <= 0:
        return ""
    total = RewardFormat.of(report).total(report.skip_reward)
    if report.rows is not None and report.rows.value_taken is not None:
        return (
            f"Skips have brought {total}. Scores count above what a skip would bring: give that "
            "with them, under “skip”, or the campaign overrates its actions."
        )
    return (
        f"Skips have brought {total}, and the campaign "
        "takes them to bring nothing, so it overrates its actions: let the next campaign learn "
        "what doing nothing brings."
    )


def _idle(report: Report, horizon: float) -> str:
    """Return a warning if a campaign that could act has skipped many arrivals, with the reasons."""
    idle = sum(report.idle.values())
    never = not report.served and 2 * report.arrivals >= horizon
    dearest = max((pair.cost for context in report.contexts for pair in context.actions), default=0)
    long = idle >= IDLE_ARRIVALS and idle * report.budget / report.horizon >= IDLE_ACTIONS * dearest
    if report.blocked is not None or not report.arrivals or not (never or long):
        return ""
    all_cancelled = 0 if report.served else cancelled(report)
    if report.served:
        message = f"Nothing was given out to the last {plural(idle, 'arrival')}"
    else:
        message = f"Nothing was given out to any of {plural(report.arrivals, 'arrival')}"
    reasons = [f"{count(number)} because {why(reason)}" for reason, number in report.idle.items()]
    if len(reasons) == 1 and not all_cancelled:
        reasons = [f"all because {why(*report.idle)}"]
    if all_cancelled:
        reasons.append(f"{count(all_cancelled)} cancelled")
    if report.waiting and report.reward_window is None:
        reasons.append(f"{waiting(report)}, and a 0 must be told too")
    return f"{message}: {'; '.join(reasons)}."
