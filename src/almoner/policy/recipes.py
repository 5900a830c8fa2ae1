"""The named policies: each is one expression over the parts.

The first ten are the paper's; the rest are ours. `thrifty` is the default of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.policy.allocation import (
    AdaptiveLP,
    EagerRounding,
    FixedLP,
    Procrastinate,
    RoundedLP,
    SkipAlways,
)
from almoner.policy.base import Policy
from almoner.policy.contexts import (
    ContextKnowledge,
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    EmpiricalMean,
    ExploreFirst,
    HorizonUCB,
    KnownRewards,
    LogPlus,
    Thompson,
    Wilson,
)

__all__ = [
    "RECIPES",
    "alp",
    "ealp",
    "ealp2",
    "epsilon_first_alp",
    "flp",
    "greedy",
    "horizon_alp",
    "kl_ucb_rounded",
    "log_plus_rounded",
    "pb",
    "recipe",
    "rounded",
    "skip_always",
    "thompson_rounded",
    "thrifty",
    "ucb_alp",
    "ucb_ealp",
    "ucb_ealp2",
    "ucb_flp",
    "ucb_pb",
    "ucb_rounded",
]


def alp(*, context_probs: Any = None, reward_means: Any = None) -> Policy:
    """Adaptive LP with known statistics: regret O(1) away from a boundary."""
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts(probs=context_probs),
        allocation=AdaptiveLP(),
    )


def flp(*, context_probs: Any = None, reward_means: Any = None, override: bool = False) -> Policy:
    """Fixed LP with known statistics: the usual √T."""
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts(probs=context_probs),
        allocation=FixedLP(override=override),
    )


def pb(*, reward_means: Any = None) -> Policy:
    """Procrastinate for the better of two contexts: optimal when the rewards are known."""
    return Policy(
        rewards=KnownRewards(means=reward_means), contexts=NoContexts(), allocation=Procrastinate()
    )


def ealp(*, reward_means: Any = None) -> Policy:
    """Adaptive LP with known rewards and the context shares seen so far."""
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=EmpiricalContexts(),
        allocation=AdaptiveLP(),
    )


def ealp2(*, reward_means: Any = None, until: int | None = None) -> Policy:
    """Adaptive LP with known rewards and the context shares seen until round T₁."""
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=TruncatedContexts(until=until),
        allocation=AdaptiveLP(),
    )


def ucb_alp(*, width: float = 0.5, context_probs: Any = None) -> Policy:
    """UCB indices in the adaptive LP, contexts known: the paper's main algorithm."""
    return Policy(
        rewards=UCB(width=width),
        contexts=KnownContexts(probs=context_probs),
        allocation=AdaptiveLP(),
    )


def ucb_flp(*, width: float = 0.5, context_probs: Any = None, override: bool = False) -> Policy:
    """UCB indices in the fixed LP."""
    return Policy(
        rewards=UCB(width=width),
        contexts=KnownContexts(probs=context_probs),
        allocation=FixedLP(override=override),
    )


def ucb_pb(*, width: float = 0.5) -> Policy:
    """Procrastinate for the context whose UCB index is higher."""
    return Policy(rewards=UCB(width=width), contexts=NoContexts(), allocation=Procrastinate())


def ucb_ealp(*, width: float = 0.5) -> Policy:
    """UCB indices in the adaptive LP, with the context shares seen so far."""
    return Policy(rewards=UCB(width=width), contexts=EmpiricalContexts(), allocation=AdaptiveLP())


def ucb_ealp2(*, width: float = 0.5, until: int | None = None) -> Policy:
    """UCB indices in the adaptive LP, with the context shares seen until round T₁."""
    return Policy(
        rewards=UCB(width=width),
        contexts=TruncatedContexts(until=until),
        allocation=AdaptiveLP(),
    )


def rounded(*, reward_means: Any = None, contexts: ContextKnowledge | None = None) -> Policy:
    """Adaptive LP rounded at one half, with known statistics: no boundary seen to cost it √T."""
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def ucb_rounded(*, width: float = 0.5, contexts: ContextKnowledge | None = None) -> Policy:
    """UCB indices in the rounded LP."""
    return Policy(
        rewards=UCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def kl_ucb_rounded(*, width: float = 1.0, contexts: ContextKnowledge | None = None) -> Policy:
    """KL-UCB indices in the rounded LP."""
    return Policy(
        rewards=KLUCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def log_plus_rounded(*, width: float = 0.25, contexts: ContextKnowledge | None = None) -> Policy:
    """log⁺ indices in the rounded LP."""
    return Policy(
        rewards=LogPlus(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def thompson_rounded(*, contexts: ContextKnowledge | None = None) -> Policy:
    """Thompson draws in the rounded LP."""
    return Policy(
        rewards=Thompson(),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def thrifty() -> Policy:
    """Our default: a Wilson index that knows the end is near, eagerly rounded; no parameter."""
    return Policy(rewards=Wilson(), contexts=EmpiricalContexts(), allocation=EagerRounding())


def horizon_alp(*, width: float = 0.25, contexts: ContextKnowledge | None = None) -> Policy:
    """The horizon index in the adaptive LP: optimism that fades with the arrivals still to come."""
    return Policy(
        rewards=HorizonUCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=AdaptiveLP(),
    )


def epsilon_first_alp(
    *,
    rounds: int | None = None,
    test: str = "none",
    update: bool = True,
    cap: float | None = None,
    contexts: ContextKnowledge | None = None,
) -> Policy:
    """Explore first, then the adaptive LP on the means: the paper's answer to unequal costs."""
    return Policy(
        rewards=ExploreFirst(rounds=rounds, test=test, update=update, cap=cap),
        contexts=KnownContexts() if contexts is None else contexts,
        allocation=AdaptiveLP(),
    )


def greedy() -> Policy:
    """The empirical means in the rounded LP: what no exploration costs."""
    return Policy(rewards=EmpiricalMean(), contexts=EmpiricalContexts(), allocation=RoundedLP())


def skip_always() -> Policy:
    """Spend nothing: the baseline of doing nothing."""
    return Policy(rewards=EmpiricalMean(), contexts=NoContexts(), allocation=SkipAlways())


RECIPES: dict[str, Callable[..., Policy]] = {
    make.__name__: make
    for make in (
        alp, flp, pb, ealp, ealp2,
        ucb_alp, ucb_flp, ucb_pb, ucb_ealp, ucb_ealp2,
        rounded, ucb_rounded, kl_ucb_rounded, log_plus_rounded, thompson_rounded,
        epsilon_first_alp, horizon_alp, thrifty, greedy, skip_always,
    )
}  # fmt: skip
"""Every recipe by name, the paper's first."""


def recipe(name: str) -> Policy:
    """Return the recipe of that name, written with underscores or dashes."""
    if remedy := checks.uncalled(name):
        rule = "be a Policy or the name of a recipe"
        raise checks.refuse("policy", rule, name, remedy, InvalidPolicy)
    if str(name).replace("-", "_") not in RECIPES:
        checks.choice("policy", str(name), RECIPES, error=InvalidPolicy)
    return RECIPES[str(name).replace("-", "_")]()
