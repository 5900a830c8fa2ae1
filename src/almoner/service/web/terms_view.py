"""Terms of a campaign in words, for its page: those that differ from what is usual."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from markupsafe import Markup

from almoner.live.reports.report import Report
from almoner.service.api.campaign_view import ActionCost, CampaignView
from almoner.service.web.formatting import Money, exact, isolated, percent, plural
from almoner.service.web.reward_format import RewardFormat

__all__ = ["Term", "terms_in_words"]

_PERIODS = {"hour": "an hour", "day": "a day", "week": "a week"}

NAMED = 8
"""Number of actions up to which all are named."""


class Term(NamedTuple):
    """A term in words; names in the text are marked up."""

    title: str
    text: Markup | str


def terms_in_words(view: CampaignView, report: Report, money: Money) -> list[Term]:
    """Return the policy, and the terms that a campaign need not have."""
    return [
        Term("Policy", report.policy),
        *_rewards(view, report),
        *_costs(view),
        *_spending(view, money),
        *_assignment(view),
        *_beginning(view),
    ]


def _rewards(view: CampaignView, report: Report) -> Iterator[Term]:
    if view.reward_range is not None:
        yield Term("Rewards", RewardFormat.of(report).range_text)
    if view.reward_window is not None:
        yield Term("Rewards come within", f"{view.reward_window}; silence is a 0 after that")
    if isinstance(view.default_rewards, dict):
        yield Term("Doing nothing", "brings known mean rewards")
    elif view.default_rewards is not None:
        yield Term("Doing nothing", "brings rewards that are learned")


def _costs(view: CampaignView) -> Iterator[Term]:
    learned = [name for name, action in view.actions.items() if action.learn_cost]
    if learned:
        every = len(learned) == len(view.actions)
        named = "all" if every else _listed([isolated(name) for name in learned])
        yield Term("Costs learned from bills", named)
    expiring = {name: action for name, action in view.actions.items() if action.expires}
    if expiring:
        yield Term("Reserves expire", _listed([*map(_expiry, expiring.items())]))
    if view.risk:
        yield Term(
            "Risk",
            f"bills may exceed the budget with a probability of {exact(view.risk)}; what is above "
            "it is not charged",
        )


def _spending(view: CampaignView, money: Money) -> Iterator[Term]:
    if isinstance(view.pace, dict):
        caps = [
            f"{money(float(cap))} {_PERIODS[period]}"
            for period, cap in view.pace.items()
            if period in _PERIODS
        ]
        yield Term("Pace", f"at most {', '.join(caps)}; time zone {view.pace['zone']}")
    elif view.pace is not None:
        yield Term("Pace", "even, within a fifth of the straight line")
    if view.default is not None:
        text = Markup("{} is taken, and paid for first").format(isolated(view.default))
        yield Term("In place of skipping", text)


def _assignment(view: CampaignView) -> Iterator[Term]:
    if view.holdout:
        yield Term("Hold-out", f"{percent(view.holdout)} of arrivals get nothing")
    if view.explore:
        others = "of the others " if view.holdout else "of arrivals "
        yield Term("Exploration", f"{percent(view.explore)} {others}are decided at random")
    if view.per_person is not None:
        actions, every = view.per_person["actions"], view.per_person["every"]
        yield Term("For a person", f"at most {plural(float(actions), 'action')} in {every}")
    if view.new_contexts:
        yield Term("New contexts", "are added when they arrive")


def _beginning(view: CampaignView) -> Iterator[Term]:
    if view.after is not None:
        name, memory = isolated(view.after), exact(view.memory or 0.0)
        yield Term("Goes on after", Markup("{}, with a memory of {}").format(name, memory))
    if view.prior is not None:
        yield Term("Prior", _prior(view.prior))


def _prior(prior: dict[str, Any]) -> str:
    pairs, weight = sum(map(len, prior["means"].values())), prior["weight"]
    sure = "with a weight each" if isinstance(weight, dict) else f"as sure as after {exact(weight)}"
    return f"guesses for {plural(pairs, 'pair')} of context and action, {sure}"


def _expiry(item: tuple[str, ActionCost]) -> Markup:
    name, action = item
    then = "are charged" if action.on_expiry == "charge" else "have cost nothing"
    return Markup("{} after {}, and {} then").format(isolated(name), action.expires, then)


def _listed(names: list[Markup]) -> Markup:
    listed = Markup("; ").join(names[:NAMED])
    more = plural(len(names) - NAMED, "more action")
    return listed if len(names) <= NAMED else Markup("{}; and {}").format(listed, more)
