"""JSON response with the plan of a campaign: the optimum of the static LP for guesses."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["ActionPlan", "ContextPlan", "Plan"]


class ActionPlan(Struct, kw_only=True):
    """One action in one context: its guessed or estimated mean, and its planned probability."""

    action: str
    cost: float
    reserve: float
    mean: float
    planned: float


class ContextPlan(Struct, kw_only=True):
    """One context: its share of the arrivals, and the planned share of them that is served."""

    context: str
    share: float
    served: float
    actions: list[ActionPlan]


class Plan(Struct, kw_only=True):
    """The optimum of the static LP for the guesses.

    ``value`` is the expected reward of an arrival and ``total`` that of all of them; ``spend`` is
    their expected cost; the ``price`` is the gain from one more unit of money, and it jumps at the
    ``boundaries``, which are budgets per arrival like the ``ratio``. ``inherited`` is the number of
    rewards that the campaign would begin with.
    """

    budget: float
    arrivals: float
    ratio: float
    price: float
    value: float
    total: float
    spend: float
    boundaries: list[float]
    contexts: list[ContextPlan]
    inherited: float = 0.0
