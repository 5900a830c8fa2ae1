"""Types of JSON request bodies for decisions and persons; terms are in `campaign_terms`.

Unknown fields and strings in place of numbers are rejected. The OpenAPI document is made from them
too.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from almoner.service.api.fields import Amount, Name, Whole

__all__ = [
    "Batch",
    "Bill",
    "BillOf",
    "CancellationOf",
    "PersonName",
    "RewardOf",
    "Rewards",
    "Value",
    "Visit",
]

BATCH_LIMIT = 10_000
"""Arrivals or rewards in a batch: less than a second of work, for which other requests wait."""

Costs = Annotated[dict[Name, Amount], Meta(max_length=1_000, examples=[{"strong": 0.0041}])]
"""What actions cost for one arrival, by name; those left out cost what is expected."""
Scores = Annotated[dict[Name, float], Meta(max_length=1_000, examples=[{"strong": 0.83}])]
"""What actions are worth for one arrival, by name, and under ``skip`` what a skip is."""
Features = Annotated[dict[Name, float], Meta(max_length=1_000, examples=[{"chars": 312}])]
"""The features of one arrival, by name."""


class Visit(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One arrival; a second request with the same key returns the same decision.

    Attributes
    ----------
    context
        The kind of the arrival.
    available
        The actions that can be taken for it; all of them if left out.
    key
        A name of the arrival, for retries, rewards and bills.
    person
        Who has arrived, for a limit and a hold-out by person; it is not logged.
    costs
        What actions cost for this very arrival, by name; others have their expected cost.
    scores
        In a campaign by scores, in place of a context: what each action is worth for this arrival,
        and under ``skip`` what it brings without one.
    features
        In a campaign by features, in place of a context: the number of each of them.
    """

    context: Name | None = None
    available: Annotated[list[Name], Meta(max_length=1_000)] | None = None
    key: Name | None = None
    person: Name | None = None
    costs: Costs | None = None
    scores: Scores | None = None
    features: Features | None = None


class Batch(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Several arrivals in their order, decided all or none; keys, persons and costs: one each."""

    contexts: Annotated[list[Name], Meta(max_length=BATCH_LIMIT)] | None = None
    available: Annotated[list[Name], Meta(max_length=1_000)] | None = None
    keys: Annotated[list[Name | None], Meta(max_length=BATCH_LIMIT)] | None = None
    persons: Annotated[list[Name | None], Meta(max_length=BATCH_LIMIT)] | None = None
    costs: Annotated[list[Costs | None], Meta(max_length=BATCH_LIMIT)] | None = None
    scores: Annotated[list[Scores], Meta(max_length=BATCH_LIMIT)] | None = None
    features: Annotated[list[Features], Meta(max_length=BATCH_LIMIT)] | None = None


class PersonName(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A person, as decisions name them."""

    person: Name


class Bill(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The actual cost of an action."""

    cost: Amount


class Value(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The reward of an action or a skip, from 0 to 1 or in the campaign's range."""

    value: float


class RewardOf(Value, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The reward of one decision, an action or a skip, given by its id or its key."""

    id: Whole | None = None
    key: Name | None = None


class BillOf(Bill, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The actual cost of an action, given by the id or the key of its decision."""

    id: Whole | None = None
    key: Name | None = None


class CancellationOf(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """An action that never happened, given by the id or the key of its decision."""

    id: Whole | None = None
    key: Name | None = None


class Rewards(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The rewards of several decisions, each at most once; learned all or none."""

    rewards: Annotated[list[RewardOf], Meta(max_length=BATCH_LIMIT)]
