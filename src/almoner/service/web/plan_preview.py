"""Plan preview on the create page: figures, notices and bars for the template ``plan.html``."""

from __future__ import annotations

from typing import Any, NamedTuple

from markupsafe import Markup

from almoner.live.terms.terms import LEARNED, SKIP_NAME
from almoner.service.api.campaign_terms import Guess
from almoner.service.api.plan_view import ContextPlan, Plan
from almoner.service.web import svg
from almoner.service.web.action_colours import action_colours
from almoner.service.web.formatting import figure, isolated, money_format, percent, plural
from almoner.service.web.notices import never_affordable
from almoner.service.web.reward_format import RewardFormat

__all__ = ["plan_view"]

NAMED = 8
"""Number of contexts or boundaries up to which a sentence lists them all."""

NEVER_COMES = "never comes, as you guess"


class Fact(NamedTuple):
    """One headline figure of a plan."""

    title: str
    value: str
    note: str


def plan_view(plan: Plan, guess: Guess) -> dict[str, Any]:
    """Return the context of the template ``plan.html``."""
    amounts = [plan.budget, *(reserve for _, reserve in _reserves(plan))]
    money = money_format(amounts, guess.currency)
    rewards = RewardFormat(guess.reward_range, guess.currency)
    unit = f" {guess.currency}" if guess.currency else ""
    colours = action_colours(plan.contexts)
    return {
        "sentence": _sentence(plan, _default_means(guess)),
        "notices": never_affordable(_reserves(plan), plan.budget, money),
        "guessed_defaults": guess.default_rewards == LEARNED and bool(_default_means(guess)),
        "inherited": _inherited(plan, guess),
        "facts": [
            Fact(
                "Expected reward",
                f"{figure(plan.total)}{' ' * bool(rewards.unit)}{rewards.unit}",
                f"from {figure(plan.arrivals)} arrivals",
            ),
            Fact(
                "Expected spend", f"{figure(plan.spend)}{unit}", f"of {figure(plan.budget)}{unit}"
            ),
            Fact("Budget per arrival", f"{figure(plan.ratio)}{unit}", _boundaries(plan)),
            Fact("Price", figure(plan.price), rewards.price_note),
        ],
        "colours": colours,
        "rows": [
            svg.ServedRow(
                context=context.context,
                note=f"{percent(context.share)} of arrivals" if context.share else NEVER_COMES,
                value=_probabilities(context),
                bar=svg.served_bar(context.actions, colours),
            )
            for context in plan.contexts
        ],
    }


def _sentence(plan: Plan, defaults: dict[str, float]) -> str:
    """Return whom the budget reaches, in one sentence."""
    if _nothing_affordable(plan):
        return "Nobody would be served: the budget is less than any action reserves."
    if not plan.boundaries:
        return "Nobody would be served: by your guesses, no action is worth its cost."
    if plan.price == 0:
        if any(reserve > plan.budget for _, reserve in _reserves(plan)):
            return "The budget is enough for everything worth doing that it can ever pay for."
        return "The budget is enough for everything worth doing; more of it would bring nothing."
    coming = [context for context in plan.contexts if context.share > 0]
    worthwhile = [
        context
        for context in coming
        if any(action.mean > defaults.get(context.context, 0.0) for action in context.actions)
    ]
    everybody = "everybody worth serving" if len(worthwhile) < len(coming) else "everybody"
    partly = [isolated(context.context) for context in worthwhile if context.served < 1]
    if not partly:
        return f"The budget reaches {everybody}, though not always with what brings most."
    return Markup("The budget does not reach {}: {} would be served in part or not at all.").format(
        everybody, _listed(partly)
    )


def _inherited(plan: Plan, guess: Guess) -> Markup:
    """Return how much the campaign will know at its start; empty if that is nothing."""
    if not plan.inherited:
        return Markup()
    begin = plural(round(plan.inherited), "reward")
    if guess.after is None:
        return Markup("The campaign begins with your guesses, as sure as {} make it.").format(begin)
    return Markup("The campaign begins with {}, after “{}”.").format(begin, isolated(guess.after))


def _default_means(guess: Guess) -> dict[str, float]:
    """Return the mean reward of skipping by context: guessed or known, else empty."""
    if guess.default_means is not None:
        return guess.default_means
    if guess.prior is not None and guess.default_rewards == LEARNED:
        means = guess.prior.means.items()
        return {context: row[SKIP_NAME] for context, row in means if SKIP_NAME in row}
    return guess.default_rewards if isinstance(guess.default_rewards, dict) else {}


def _boundaries(plan: Plan) -> str:
    if _nothing_affordable(plan):
        return "no action can be paid for"
    if not plan.boundaries:
        return "nothing is worth its cost"
    values = [figure(boundary) for boundary in plan.boundaries]
    if len(values) > NAMED:
        return f"the plan changes at {len(values)} boundaries, from {values[0]} to {values[-1]}"
    return f"the plan changes at {', '.join(values)}"


def _listed(names: list[Markup]) -> Markup:
    listed = Markup(", ").join(names[:NAMED])
    more = plural(len(names) - NAMED, "more context")
    return listed if len(names) <= NAMED else Markup("{} and {}").format(listed, more)


def _probabilities(context: ContextPlan) -> str:
    planned = [
        Markup("{} {}").format(isolated(action.action), percent(action.planned))
        for action in context.actions
        if action.planned > 0
    ]
    return Markup(", ").join(planned) or "skipped"


def _nothing_affordable(plan: Plan) -> bool:
    return all(reserve > plan.budget for _, reserve in _reserves(plan))


def _reserves(plan: Plan) -> list[tuple[str, float]]:
    return [
        (action.action, action.reserve) for context in plan.contexts for action in context.actions
    ]
