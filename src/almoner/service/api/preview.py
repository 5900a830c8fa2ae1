"""Preview of a campaign before it starts: the static LP plan for guessed rewards."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.carry_over import expected_means
from almoner.live.estimates.estimates import Estimates
from almoner.live.estimates.plans import plan_at
from almoner.live.opening import agreed_terms, new_terms
from almoner.live.terms.reward_scale import RewardScale
from almoner.live.terms.terms import LEARNED, Terms
from almoner.service.api.campaign_terms import Guess
from almoner.service.api.opening import opening
from almoner.service.api.operation import post
from almoner.service.api.plan_view import ActionPlan, ContextPlan, Plan
from almoner.service.services import Services
from almoner.store import Store

__all__ = ["OPERATIONS", "preview", "previewed_terms"]


@post("/api/plan")
async def plan(services: Services, body: Guess) -> Plan:
    """Preview a campaign: its static LP plan, with the price and the expected reward.

    With a name, it is refused for the same reasons as the creation of the campaign. With scores or
    features there is no plan before the first arrivals.
    """
    return await asyncio.to_thread(preview, body, services.agents.store)


def preview(guess: Guess, store: Store) -> Plan:
    """Return the static LP plan of a campaign that need not exist."""
    terms = previewed_terms(guess, store)
    if terms.on_rows:
        raise InvalidTerms(
            "a plan goes by contexts, and this campaign decides by scores or features, whose price "
            "follows from the rows that arrive; simulate it on recorded rows instead"
        )
    amount, arrivals = terms.unit.amount, terms.expected_arrivals
    guesses = _guesses(guess, terms, amount(terms.budget) / arrivals)
    reserves = np.array([terms.reserves_in(context) for context in terms.contexts], np.int64)
    solution = plan_at(terms, guesses, reserves=reserves, funds=terms.budget)
    spend = guesses.context_probs @ (solution.probabilities * guesses.costs).sum(axis=1)
    return Plan(
        budget=amount(terms.budget),
        arrivals=arrivals,
        ratio=guesses.ratio,
        price=terms.scale.gain(solution.price),
        value=terms.scale.value(solution.value),
        total=terms.scale.value(solution.value) * arrivals,
        spend=float(spend) * (1.0 - terms.holdout) * arrivals,
        boundaries=solution.boundaries.tolist(),
        contexts=[
            ContextPlan(
                context=context,
                share=float(guesses.context_probs[row]),
                served=float(solution.probabilities[row].sum()),
                actions=_actions(
                    terms,
                    guesses.costs[row].tolist(),
                    reserves[row].tolist(),
                    guesses.reward_means[row].tolist(),
                    solution.probabilities[row].tolist(),
                ),
            )
            for row, context in enumerate(terms.contexts)
        ],
        inherited=terms.inheritance.rewards,
    )


def previewed_terms(guess: Guess, store: Store) -> Terms:
    """Return the terms of a campaign to preview, refused as its creation would be."""
    with opening(guess.name):
        options = guess.terms()
        if guess.name is None:
            return new_terms(options, store)
        return agreed_terms(store, guess.name, options)[0]


def _actions(
    terms: Terms,
    costs: list[float],
    reserves: list[int],
    means: list[float],
    planned: list[float],
) -> list[ActionPlan]:
    """Return the plan of one context, from a value of each kind for every action."""
    return [
        ActionPlan(
            action=action,
            cost=cost,
            reserve=terms.unit.amount(reserve),
            mean=terms.scale.value(mean),
            planned=probability,
        )
        for action, cost, reserve, mean, probability in zip(
            terms.actions, costs, reserves, means, planned, strict=True
        )
    ]


def _guesses(guess: Guess, terms: Terms, ratio: float) -> Estimates:
    contexts, amount, scale = terms.contexts, terms.unit.amount, terms.scale
    shares = terms.inheritance.arrivals(contexts)
    shares = shares / shares.sum()
    if guess.context_probs is not None:
        values = _by_name("context_probs", guess.context_probs, contexts)
        shares = np.array(checks.probabilities("context_probs", values, error=InvalidTerms))
    means, defaults = expected_means(terms)
    if guess.reward_means is not None:
        rows = _by_name("reward_means", guess.reward_means, contexts)
        named = zip(contexts, rows, strict=True)
        means = np.array(
            [_means(f"reward_means of {name!r}", row, terms.actions, scale) for name, row in named]
        )
    if guess.default_means is not None:
        if terms.default_rewards != LEARNED:
            raise InvalidTerms("default_means needs default_rewards='learned'; leave it out")
        defaults = np.array(_means("default_means", guess.default_means, contexts, scale))
    costs = [[amount(cost) for cost in terms.costs_in(name)] for name in contexts]
    return Estimates(shares, means, np.array(costs), defaults, ratio)


def _means(
    what: str, table: dict[str, Any], names: tuple[str, ...], scale: RewardScale
) -> list[float]:
    """Return means by name in [0, 1]."""
    values = zip(names, _by_name(what, table, names), strict=True)
    return [scale.to_unit(f"{what}[{name!r}]", value, error=InvalidTerms) for name, value in values]


def _by_name(what: str, table: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    checks.known_keys(what, table, required=names, error=InvalidTerms)
    return [table[name] for name in names]


OPERATIONS = [plan]
