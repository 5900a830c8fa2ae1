"""Recipes that learn, of the paper: UCB with the LP, UCB with procrastination, ε-first.

They replace the mean u_jk of each pair by an index (letters and reference [1] in
`almoner.policy.recipes_known`). S and C are the sum and the number of rewards seen of a pair,
ū = S/C, t is the round. UCB is the index ū + √(width · log t / C), and 1 if C = 0; the paper has a
width of ½ (Section 4.1).
"""

from __future__ import annotations

from typing import Any

from almoner.policy.allocation import AdaptiveLP, FixedLP, Procrastinate
from almoner.policy.base import Policy
from almoner.policy.contexts import (
    ContextKnowledge,
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.rewards import UCB, ExploreFirst

__all__ = [
    "epsilon_first_alp",
    "epsilon_first_printed",
    "ucb_alp",
    "ucb_ealp",
    "ucb_ealp2",
    "ucb_flp",
    "ucb_pb",
]


def ucb_alp(*, width: float = 0.5, context_probs: Any = None) -> Policy:
    """UCB indices in the adaptive LP, with known context probabilities (UCB-ALP).

    Takes the action with the highest index in context j with probability p_j(b/τ), the contexts
    ranked by that index: Algorithm 1 of [1]. With J contexts and K actions the regret is
    O(JK log T) if ρ is not a boundary, and O(√T + JK log T) if it is: Theorem 2.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_alp(), runs=200, seed=1).regret.mean), 1)
    28.0
    """
    return Policy(
        rewards=UCB(width=width),
        contexts=KnownContexts(probs=context_probs),
        allocation=AdaptiveLP(),
    )


def ucb_flp(*, width: float = 0.5, context_probs: Any = None, override: bool = False) -> Policy:
    """UCB indices in the fixed LP, with known context probabilities (UCB-FLP).

    As `ucb_alp` with p_j(ρ) in every round, as long as there is budget; ``override`` as in `flp`.
    The paper compares with it in Appendix G of [1].

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_flp(), runs=200, seed=1).regret.mean), 1)
    28.7
    """
    return Policy(
        rewards=UCB(width=width),
        contexts=KnownContexts(probs=context_probs),
        allocation=FixedLP(override=override),
    )


def ucb_pb(*, width: float = 0.5) -> Policy:
    """UCB indices and procrastination for the better of two contexts (UCB-PB), at equal costs.

    Serves the context with the higher index while b > 0, and the other one only once b ≥ τ:
    Algorithm 2 of [1]. The regret is O(log T), at boundaries too: Theorem 3.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_pb(), runs=200, seed=1).regret.mean), 1)
    25.8
    """
    return Policy(rewards=UCB(width=width), contexts=NoContexts(), allocation=Procrastinate())


def ucb_ealp(*, width: float = 0.5) -> Policy:
    """UCB indices in the adaptive LP, with empirical context probabilities (UCB-EALP).

    As `ucb_alp`, with π_j replaced by the share of context j in the rounds so far, this one
    included: Appendix E of [1], without a proof.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_ealp(), runs=200, seed=1).regret.mean), 1)
    29.4
    """
    return Policy(rewards=UCB(width=width), contexts=EmpiricalContexts(), allocation=AdaptiveLP())


def ucb_ealp2(*, width: float = 0.5, until: int | None = None) -> Policy:
    """UCB indices in the adaptive LP, with context probabilities learned until T₁ (UCB-EALP2).

    As `ucb_ealp`, with shares that stay as they are after round T₁ = ``until``, or after the round
    that the paper's rule finds (`TruncatedContexts`): Appendix E of [1].

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_ealp2(until=300), runs=200, seed=1).regret.mean), 1)
    29.2
    """
    return Policy(
        rewards=UCB(width=width),
        contexts=TruncatedContexts(until=until),
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
    """Exploration first, then the adaptive LP on the means (ε-First ALP), for unequal costs.

    Takes the action of the context tried least for the first ε(T) rounds, then action k in context
    j with probability p_jk(b/τ) with ū_jk for u_jk: Algorithm 5 of [1]. The arguments are those of
    `ExploreFirst`; the paper has ``update=False``. After ε(T) = O(log T) rounds (Lemma 13), or with
    ``test="literal"`` (Algorithm 6), the regret is O(log T) if ρ is not a boundary, and O(√T) if it
    is: Theorem 5.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("heterogeneous").scaled(1000)
    >>> policy = epsilon_first_alp(rounds=200)
    >>> round(float(al.simulate(problem, policy, runs=200, seed=1).regret.mean), 1)
    38.2
    """
    return Policy(
        rewards=ExploreFirst(rounds=rounds, test=test, update=update, cap=cap),
        contexts=KnownContexts() if contexts is None else contexts,
        allocation=AdaptiveLP(),
    )


def epsilon_first_printed(*, factor: float = 50.0, context_probs: Any = None) -> Policy:
    """ε-First ALP exactly as the paper prints it: Algorithm 5 of [1], for unequal costs.

    Explores for ε(T) = ⌈factor · log T⌉ rounds, learns nothing afterwards, and takes the mean of a
    pair that was never tried for 0. The paper gives ε(T) by constants that nobody knows beforehand
    (`almoner.bounds.exploration_length`), so that ``factor`` is a choice. `epsilon_first_alp` goes
    on learning, and takes an untried pair for 1.

    Parameters
    ----------
    factor
        Rounds of exploration per unit of log T.
    context_probs
        Context probabilities of a live campaign; a simulation takes those of its problem.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("heterogeneous").scaled(1000)
    >>> policy = epsilon_first_printed(factor=30)
    >>> round(float(al.simulate(problem, policy, runs=200, seed=1).regret.mean), 1)
    41.7
    """
    return Policy(
        rewards=ExploreFirst(factor=factor, update=False, untried=0.0),
        contexts=KnownContexts(probs=context_probs),
        allocation=AdaptiveLP(),
    )
