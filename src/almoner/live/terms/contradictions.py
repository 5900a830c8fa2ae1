"""Contradictions between the terms of a campaign, each of which is valid by itself."""

from __future__ import annotations

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.terms.row_terms import refuse_row_contradictions
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.rewards import ExploreFirst, KnownRewards

__all__ = ["refuse_contradictions"]


def refuse_contradictions(terms: Terms) -> None:
    """Refuse terms of which one has no meaning beside another."""
    refuse_row_contradictions(terms)
    if terms.reward_window is not None and terms.scale.low != 0:
        low, high = terms.scale.low, terms.scale.high
        raise InvalidTerms(
            "reward_window needs a reward_range that begins at 0, as silence is a reward of 0, got "
            f"reward_range=({low:g}, {high:g}); shift the rewards, or leave the window out"
        )
    if terms.default is not None:
        _refuse_default(terms)
    if (terms.default is not None or terms.pace is not None) and isinstance(
        terms.policy.rewards, ExploreFirst
    ):
        raise InvalidTerms(
            "a policy that explores first does not plan with the money of a pace or beside a "
            "default; leave both out, or choose another policy, such as thrifty()"
        )
    if terms.memory is not None and terms.after is None:
        raise InvalidTerms(
            "memory is the weight of the campaign that after names, which is missing; give after, "
            "or leave memory out"
        )
    _refuse_rewards(terms)
    _refuse_single_contexts(terms)
    if isinstance(terms.horizon, ClosingTime) and terms.counts_rounds:
        raise InvalidTerms(
            "this policy tests its knowledge against the number of rounds, which a closing time "
            "does not tell; give horizon= a number, or choose another policy, such as thrifty()"
        )


def _refuse_default(terms: Terms) -> None:
    """Refuse a default that is no action, and terms that have no meaning beside one."""
    checks.choice("default", terms.default, terms.actions, error=InvalidTerms)
    if terms.default_rewards is not None:
        raise InvalidTerms(
            "default and default_rewards exclude each other: with a default action nobody is "
            "skipped whom it could serve, and its rewards are learned; leave one of them out"
        )
    if terms.learned_costs or terms.risk > 0.0:
        raise InvalidTerms(
            "default goes with neither learn_cost nor risk: the money that is set aside for it is "
            "that of declared costs and full reserves; leave default out, or the other two"
        )
    if terms.spreads or terms.per_person is not None:
        raise InvalidTerms(
            "default goes with none of holdout, explore and per_person: it serves every arrival, "
            "and these leave some without; leave default out, or the others"
        )


def _refuse_rewards(terms: Terms) -> None:
    """Refuse a range of rewards without what other terms need it for."""
    if terms.reward_range is None:
        return
    if isinstance(terms.policy.rewards, KnownRewards):
        raise InvalidTerms(
            "a policy with known means has them from 0 to 1, whatever reward_range says; leave "
            "reward_range out and scale rewards yourself, or give the means as a prior to a policy "
            "that learns"
        )
    if terms.default_rewards is None and not 0.0 <= terms.scale.zero <= 1.0:
        raise InvalidTerms(
            f"a skip brings 0, and rewards are {terms.scale}; give default_rewards, or a "
            "reward_range that holds 0"
        )


def _refuse_single_contexts(terms: Terms) -> None:
    """Refuse terms for single contexts where contexts that were not declared may arrive."""
    by_context = any(
        isinstance(units, dict) for units in (*terms.costs.values(), *terms.reserves.values())
    )
    if terms.new_contexts and (
        by_context
        or isinstance(terms.default_rewards, dict)
        or isinstance(terms.policy.rewards, KnownRewards)
        or not isinstance(terms.policy.contexts, EmpiricalContexts)
    ):
        raise InvalidTerms(
            "new_contexts=True needs costs and a policy that say nothing of single contexts; give "
            "one cost for each action, no default_rewards by context, and a policy that learns "
            "both rewards and context shares, such as thrifty()"
        )
