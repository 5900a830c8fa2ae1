"""Terms as a person writes them: the arguments that `make_terms` takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from almoner.live.terms.action import Action, PerContext
from almoner.live.terms.pace import written_pace
from almoner.live.terms.per_person import written_per_person
from almoner.live.terms.terms import CHARGE, ROWS, Terms
from almoner.live.times.durations import in_words

__all__ = ["written_terms"]


def written_terms(terms: Terms) -> dict[str, Any]:
    """Return the terms as the arguments of `make_terms`."""

    def amount(units: PerContext) -> Any:
        if isinstance(units, dict):
            return {context: amount(value) for context, value in units.items()}
        return Decimal(units * terms.unit.top) / terms.unit.bottom

    return {
        "contexts": None if terms.on_rows and terms.contexts == (ROWS,) else terms.contexts,
        "actions": {
            name: Action(
                cost=amount(cost),
                reserve=amount(terms.reserves[name]),
                expires=in_words(terms.expires[name]) if name in terms.expires else None,
                on_expiry=CHARGE if name in terms.charged else None,
                learn_cost=True if name in terms.learns else None,
            )
            for name, cost in terms.costs.items()
        },
        "horizon": terms.horizon,
        "budget": amount(terms.budget),
        "policy": terms.policy,
        "unit": Decimal(terms.unit.top) / terms.unit.bottom,
        "default_rewards": terms.shown_defaults,
        "new_contexts": terms.new_contexts,
        "seed": terms.seed,
        "per_person": written_per_person(terms.per_person),
        "holdout": terms.holdout,
        "explore": terms.explore,
        "reward_window": terms.window_in_words,
        "learn_cost": terms.learn_cost,
        "risk": terms.risk,
        "reward_range": terms.reward_range,
        "currency": terms.currency,
        "after": terms.after,
        "memory": terms.memory,
        "prior": terms.prior,
        "pace": written_pace(terms.pace, terms.unit),
        "default": terms.default,
        "scores": terms.scores,
        "features": terms.features or None,
    }
