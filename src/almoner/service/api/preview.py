"""Plans: what a campaign would do, before it starts."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from litestar import Request, post
from litestar.params import JSONBody

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.closing_time import ClosingTime
from almoner.live.estimates import UNSEEN, Estimates, optimum
from almoner.live.opening import agreed_terms, new_terms
from almoner.live.terms import LEARNED, Terms
from almoner.service.api.decoding import Strict
from almoner.service.api.openapi import ERRORS
from almoner.service.api.opening import opening
from almoner.service.api.requests import Guess
from almoner.service.api.responses import ActionPlan, ContextPlan, Plan
from almoner.store import Store

__all__ = ["ROUTES", "preview"]


@post("/api/plan", dto=Strict[Guess], return_dto=None, status_code=200, responses=ERRORS)
async def plan(request: Request[Any, Any, Any], data: JSONBody[Guess]) -> Plan:
    """Preview a campaign: who would be served, at what price, and what it would bring.

    With a name, whatever creating it would be refused for is refused here.
    """
    store: Store = request.app.state.desks.store
    return await asyncio.to_thread(preview, data, store)


def preview(guess: Guess, store: Store) -> Plan:
    """Return the plan of a campaign that is only thought of."""
    with opening(guess.name):
        given = guess.terms()
        name = guess.name
        terms = new_terms(given) if name is None else agreed_terms(store, name, given)[0]
    horizon, amount = terms.horizon, terms.unit.amount
    arrivals = horizon.arrivals if isinstance(horizon, ClosingTime) else float(horizon)
    guesses = _guesses(guess, terms, amount(terms.budget) / arrivals)
    reserves = np.array([terms.reserves_in(context) for context in terms.contexts], np.int64)
    solution = optimum(guesses, reserves=reserves, funds=terms.budget)
    spend = guesses.context_probs @ (solution.probabilities * guesses.costs).sum(axis=1)
    return Plan(
        budget=amount(terms.budget),
        arrivals=arrivals,
        ratio=guesses.ratio,
        price=solution.price,
        value=solution.value,
        total=solution.value * arrivals,
        spend=float(spend) * arrivals,
        boundaries=solution.boundaries.tolist(),
        contexts=[
            ContextPlan(
                context=context,
                share=float(guesses.context_probs[place]),
                served=float(solution.probabilities[place].sum()),
                actions=[
                    ActionPlan(
                        action=action,
                        cost=amount(terms.costs_in(context)[column]),
                        reserve=amount(terms.reserves_in(context)[column]),
                        mean=float(guesses.reward_means[place, column]),
                        planned=float(solution.probabilities[place, column]),
                    )
                    for column, action in enumerate(terms.actions)
                ],
            )
            for place, context in enumerate(terms.contexts)
        ],
    )


def _guesses(guess: Guess, terms: Terms, ratio: float) -> Estimates:
    contexts, amount = terms.contexts, terms.unit.amount
    shares = np.full(len(contexts), 1 / len(contexts))
    if guess.context_probs is not None:
        known = _by_name("context_probs", guess.context_probs, contexts)
        shares = np.array(checks.probabilities("context_probs", known, error=InvalidTerms))
    means = np.full((len(contexts), len(terms.actions)), UNSEEN)
    if guess.reward_means is not None:
        rows = _by_name("reward_means", guess.reward_means, contexts)
        named = zip(contexts, rows, strict=True)
        means = np.array(
            [_by_name(f"reward_means of {name!r}", row, terms.actions) for name, row in named]
        )
    defaults = np.zeros(len(contexts))
    if isinstance(terms.default_rewards, dict):
        defaults = np.array([terms.default_rewards[name] for name in contexts])
    if guess.default_means is not None:
        if terms.default_rewards != LEARNED:
            raise InvalidTerms("default_means needs default_rewards='learned'; leave it out")
        defaults = np.array(_by_name("default_means", guess.default_means, contexts))
    costs = [[amount(cost) for cost in terms.costs_in(name)] for name in contexts]
    return Estimates(shares, means, np.array(costs), defaults, ratio)


def _by_name(what: str, table: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    checks.known_keys(what, table, required=names, error=InvalidTerms)
    return [table[name] for name in names]


ROUTES = [plan]
