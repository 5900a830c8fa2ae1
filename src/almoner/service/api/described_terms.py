"""Descriptions of the terms of a campaign for the OpenAPI document.

`almoner.Agent.open` explains the same terms to users of Python.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["describe_terms"]

Terms = TypeVar("Terms", bound=type)

ATTRIBUTES = """

    Attributes
    ----------
    name
        The name of the campaign.
    contexts
        The kinds of arrivals.
    actions
        What can be done for an arrival, with its cost. Skipping is always possible, and free.
    horizon
        The number of arrivals in all, or a closing time with a forecast of them.
    budget
        The amount that may be spent in all.
    policy
        The name of a policy, as in thrifty or thrifty(caution=2), or its parts.
    unit
        The smallest unit of money, 0.000001 if left out: all amounts are multiples of it.
    default_rewards
        What a skip brings: nothing if left out, known mean rewards by context, or learned.
    new_contexts
        Whether contexts that were not declared are added when they arrive.
    reward_window
        The time within which rewards come: after it, silence is a reward of 0. Left out, every 0
        must be told.
    learn_cost
        Whether the expected costs of all actions are learned from the bills.
    risk
        The probability with which bills may exceed the budget, so that reserves are admitted
        together; what is above the budget is not charged. With 0, every action is reserved in full.
    seed
        All chance follows from it, but for the hold-out of persons; drawn at random if left out.
    reward_range
        The least and the largest reward, from 0 to 1 if left out. Rewards, means and prices are
        given and shown in this unit.
    currency
        The currency of money, and of rewards in a range.
    after, memory
        An earlier campaign of the store whose rewards count here too, by the names of contexts and
        actions, and their weight, 0.75 if left out.
    prior
        Mean rewards that are expected, and the number of rewards that they count for.
    pace
        Caps by hour, day and week inside the budget, or an even spend, within a fifth of the
        straight line.
    default
        The action taken in place of skipping: it is paid for first.
    per_person
        The most actions for one person in a time; decisions then say who has arrived.
    holdout
        The share of arrivals that get nothing, for the comparison in the final report.
    explore
        The share of the others that is decided at random, for the evaluation of other policies.
    scores
        Whether arrivals come with a score for each action in place of a context.
    features
        The names of the numbers that arrivals come with in place of a context.
    context_probs
        Guessed shares of the contexts.
    reward_means, default_means
        Guessed mean rewards by context and action, and of skips by context.
"""


def describe_terms(cls: Terms) -> Terms:
    """Add the descriptions of the terms to the docstring of a type that has them as fields."""
    cls.__doc__ = (cls.__doc__ or "").rstrip() + ATTRIBUTES
    return cls
