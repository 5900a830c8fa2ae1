"""Recipes that know the mean rewards: adaptive, fixed and rounded LP, procrastination.

Letters of all recipes: T and B are horizon and budget, ρ = B/T; τ the rounds left, this one
included, b the budget left; π_j the probability of context j, u_jk and c_jk mean reward and cost of
action k there; p_jk(r) the solution of the static LP with a budget of r per round (`almoner.lp`).
For equal costs, which are 1 then, contexts are numbered by falling u_j = max_k u_jk, and
q_j = π_1 + … + π_j are the boundaries.

[1] Wu, Srikant, Liu and Jiang, "Algorithms with Logarithmic or Sublinear Regret for Constrained
Contextual Bandits", NIPS 2015, with its supplement.
"""

from __future__ import annotations

from typing import Any

from almoner.policy.allocation import AdaptiveLP, FixedLP, Procrastinate, RoundedLP
from almoner.policy.base import Policy
from almoner.policy.contexts import (
    ContextKnowledge,
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.rewards import KnownRewards

__all__ = ["alp", "ealp", "ealp2", "flp", "pb", "rounded"]


def alp(*, context_probs: Any = None, reward_means: Any = None) -> Policy:
    """Adaptive LP with known statistics (ALP).

    Takes action k in context j with probability p_jk(b/τ). For equal costs that serves context j
    with probability min(1, max(0, (b/τ − q_{j−1}) / π_j)).

    The regret is O(1) if ρ is not a boundary, and O(√T) if it is: Theorem 1 and Section 3.2 of [1];
    for unequal costs, its Appendix F.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000, ratio=0.41)
    >>> round(al.optimal_value(problem) - al.exact_value(problem, alp()), 2)
    1.43
    """
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts(probs=context_probs),
        allocation=AdaptiveLP(),
    )


def flp(*, context_probs: Any = None, reward_means: Any = None, override: bool = False) -> Policy:
    """Fixed LP with known statistics (FLP).

    Takes action k in context j with probability p_jk(ρ) in every round, as long as there is budget.
    With ``override`` it serves everybody once b ≥ τ. The regret is of order √T. The paper compares
    with it in Appendix G of [1].

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000, ratio=0.41)
    >>> round(al.optimal_value(problem) - al.exact_value(problem, flp()), 2)
    3.93
    """
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts(probs=context_probs),
        allocation=FixedLP(override=override),
    )


def pb(*, reward_means: Any = None) -> Policy:
    """Procrastinate for the better of two contexts (PB), for equal costs and known rewards.

    Serves context 1 while b > 0, and context 2 only once b ≥ τ. No policy is better: Appendix D of
    [1].

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> abs(al.optimal_value(problem) - al.exact_value(problem, pb())) < 1e-9
    True
    """
    return Policy(
        rewards=KnownRewards(means=reward_means), contexts=NoContexts(), allocation=Procrastinate()
    )


def ealp(*, reward_means: Any = None) -> Policy:
    """Adaptive LP with known rewards and empirical context probabilities (EALP).

    As `alp`, with π_j replaced by the share of context j in the rounds so far, this one included:
    Appendix E of [1], without a proof.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000, ratio=0.41)
    >>> round(float(al.simulate(problem, ealp(), runs=200, seed=1).regret.mean), 1)
    4.5
    """
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=EmpiricalContexts(),
        allocation=AdaptiveLP(),
    )


def ealp2(*, reward_means: Any = None, until: int | None = None) -> Policy:
    """Adaptive LP with known rewards and context probabilities learned until round T₁ (EALP2).

    As `ealp`, with shares that stay as they are after round T₁ = ``until``, or after the round that
    the paper's rule finds (`TruncatedContexts`): Algorithm 3 of [1]. With J contexts, a distance δ
    from the nearest boundary and T large enough, T₁ = 16 J² log³T / δ² has regret O(1): Theorem 4.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000, ratio=0.41)
    >>> round(float(al.simulate(problem, ealp2(until=300), runs=200, seed=1).regret.mean), 1)
    4.3
    """
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=TruncatedContexts(until=until),
        allocation=AdaptiveLP(),
    )


def rounded(*, reward_means: Any = None, contexts: ContextKnowledge | None = None) -> Policy:
    """Adaptive LP rounded at one half, with known rewards; ours.

    For equal costs it serves context j if p_j(b/τ) ≥ ½. For unequal costs the LP is undecided
    between at most two options in each context, and the likelier one is taken. Nothing is proved;
    in everything that we computed exactly its regret stayed bounded, at boundaries too.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)  # at a boundary
    >>> best = al.optimal_value(problem)
    >>> [round(best - al.exact_value(problem, policy), 2) for policy in (alp(), rounded())]
    [1.33, 0.04]
    """
    return Policy(
        rewards=KnownRewards(means=reward_means),
        contexts=KnownContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )
