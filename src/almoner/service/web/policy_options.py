"""Policies of the create form: the recipes that learn everything they need."""

from __future__ import annotations

from typing import NamedTuple

from almoner.policy.allocation import Procrastinate, SkipAlways
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts
from almoner.policy.recipes import RECIPES
from almoner.policy.rewards import KnownRewards

__all__ = ["PolicyOption", "learning_policies"]

SENTENCES = {
    "thrifty": "The default: contexts and actions learn from each other’s rewards.",
    "wilson_eager": "The default before: each context and action learns from its own rewards only.",
}
"""Descriptions of the policies that most campaigns have; of the others, the first line of the
documentation."""

PAIRS_ONLY = "For two contexts, actions of the same cost, and skips that bring nothing."


class PolicyOption(NamedTuple):
    """Policy of the create form; ``contexts`` is the number it requires, None for any."""

    name: str
    sentence: str
    contexts: int | None = None


def learning_policies() -> list[PolicyOption]:
    """Return the recipes that need not be told anything, the default first."""
    policies = {name: make() for name, make in RECIPES.items()}
    learning = [
        name
        for name, policy in policies.items()
        if not isinstance(policy.rewards, KnownRewards)
        and not isinstance(policy.contexts, KnownContexts)
        and not isinstance(policy.allocation, SkipAlways)
    ]
    learning.sort(key=lambda name: name != "thrifty")
    return [_policy_option(name, policies[name]) for name in learning]


def _policy_option(name: str, policy: Policy) -> PolicyOption:
    sentence = SENTENCES.get(name) or (RECIPES[name].__doc__ or "").partition("\n")[0]
    if isinstance(policy.allocation, Procrastinate):
        return PolicyOption(name, f"{sentence} {PAIRS_ONLY}", 2)
    return PolicyOption(name, sentence)
