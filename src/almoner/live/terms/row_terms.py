"""Terms of campaigns on rows: scores or features in place of contexts.

All arrivals of such a campaign have one context, `ROWS`: the parts of a campaign that go by context
see one kind of arrival, and only the policy looks at the row of each.
"""

from __future__ import annotations

from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.terms.names import name_list
from almoner.live.terms.terms import LEARNED, ROWS, Terms
from almoner.policy.base import Policy
from almoner.policy.recipes_rows import linear, priced
from almoner.policy.rows import GivenScores, LinearModel, Priced

__all__ = [
    "parse_features",
    "refuse_row_contradictions",
    "row_contexts",
    "row_policy",
]

FEATURES_LIMIT = 500
"""Features, at most: a decision takes time and memory by their square."""


def parse_features(value: Any) -> tuple[str, ...]:
    """Return the names of features, checked."""
    names = name_list("features", value)
    if not 1 <= len(names) <= FEATURES_LIMIT:
        rule = f"name 1 to {FEATURES_LIMIT} features"
        raise checks.refuse("features", rule, [*names], error=InvalidTerms)
    return names


def row_contexts(contexts: Any) -> tuple[str, ...]:
    """Return the one context of a campaign on rows; refuse contexts beside rows."""
    if contexts is not None:
        raise InvalidTerms(
            "contexts go with neither scores nor features, which say more of each arrival; leave "
            "contexts out, or the others"
        )
    return (ROWS,)


def row_policy(*, default: str | None, scores: bool) -> Policy:
    """Return the policy of a campaign on rows that names none."""
    return priced() if scores else linear(learn_costs=default is None)


def refuse_row_contradictions(terms: Terms) -> None:
    """Refuse terms that have no meaning on rows, or rows that the policy is not for."""
    if terms.scores and terms.features:
        raise InvalidTerms(
            "scores and features exclude each other: the value of an action is given or learned; "
            "leave one of them out"
        )
    if not terms.on_rows:
        if terms.policy.on_rows:
            raise InvalidTerms(
                f"the policy decides on rows, got {terms.policy!r} and contexts; give scores=True "
                "or features in place of contexts, or choose thrifty()"
            )
        return
    _refuse_policy(terms)
    for name, (given, remedy) in _unusable(terms).items():
        if given:
            kind = "scores" if terms.scores else "features"
            raise InvalidTerms(f"{name} has no meaning in a campaign with {kind}; {remedy}")
    if any(isinstance(units, dict) for units in (*terms.costs.values(), *terms.reserves.values())):
        raise InvalidTerms(
            "costs by context have no meaning with scores or features; give one cost for each "
            "action, and what an arrival costs with decide(…, costs=…)"
        )


def _unusable(terms: Terms) -> dict[str, tuple[bool, str]]:
    """Return the terms that rows cannot have: whether each was given, and what to do instead."""
    skip = (
        "leave it out, and give what a skip brings under None in scores"
        if terms.scores
        else f"give {LEARNED!r}, and report the rewards of skips as those of actions"
    )
    past = "scores bring what was learned before" if terms.scores else "models learn from the start"
    learns_costs = bool(terms.features) and bool(terms.learned_costs)
    return {
        "new_contexts": (terms.new_contexts, "leave it out"),
        "default_rewards": (_has_unusable_defaults(terms), skip),
        "learn_cost": (learns_costs, "leave it out, as linear() learns costs from bills by itself"),
        "risk": (terms.risk > 0.0, "leave it out, and reserve what a bill can be at most"),
        "after": (terms.after is not None, f"leave it out: {past}"),
        "prior": (terms.prior is not None, f"leave it out: {past}"),
    }


def _has_unusable_defaults(terms: Terms) -> bool:
    """Return whether rewards of skips are given that scores or features replace."""
    learned = bool(terms.features) and terms.default_rewards == LEARNED
    return terms.default_rewards is not None and not learned


def _refuse_policy(terms: Terms) -> None:
    """Refuse a policy that is not for these rows."""
    policy, kind = terms.policy, GivenScores if terms.scores else LinearModel
    recipe = "priced()" if terms.scores else "linear()"
    given = "scores" if terms.scores else "features"
    if not isinstance(policy.allocation, Priced) or not isinstance(policy.rewards, kind):
        raise InvalidTerms(
            f"a campaign with {given} needs the policy {recipe}, got {policy!r}; the others are "
            "for simulations, or for other campaigns"
        )
    if terms.default is not None and getattr(policy.rewards, "learn_costs", False):
        raise InvalidTerms(
            "default goes with linear(learn_costs=False): the money that is set aside for it is "
            "that of declared costs; choose that, or leave default out"
        )
