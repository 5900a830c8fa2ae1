"""Named policies, each one expression over the parts: our own learners, and the table of all.

Learners replace the mean of each pair by an index; letters are explained in
`almoner.policy.recipes_known`, indices in `almoner.policy.rewards`. They learn the context
probabilities unless ``contexts`` is given, and nothing is proved of their regret. `thrifty` is the
default of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.policy.allocation import AdaptiveLP, EagerRounding, RoundedLP, SkipAlways
from almoner.policy.base import Policy
from almoner.policy.contexts import ContextKnowledge, EmpiricalContexts, NoContexts
from almoner.policy.priors import Pooled
from almoner.policy.recipe_names import parse_call, plain_name, write_call
from almoner.policy.recipes_known import alp, ealp, ealp2, flp, pb, rounded
from almoner.policy.recipes_paper import (
    epsilon_first_alp,
    epsilon_first_printed,
    ucb_alp,
    ucb_ealp,
    ucb_ealp2,
    ucb_flp,
    ucb_pb,
)
from almoner.policy.recipes_rows import ROW_RECIPES
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    EmpiricalMean,
    HorizonUCB,
    InsuredWilson,
    LogPlus,
    Thompson,
    Wilson,
)

__all__ = [
    "RECIPES",
    "alp",
    "described",
    "ealp",
    "ealp2",
    "epsilon_first_alp",
    "epsilon_first_printed",
    "flp",
    "greedy",
    "horizon_alp",
    "kl_ucb_rounded",
    "log_plus_rounded",
    "pb",
    "recipe",
    "recipe_name",
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
    "wilson_eager",
]


def ucb_rounded(*, width: float = 0.5, contexts: ContextKnowledge | None = None) -> Policy:
    """UCB indices, ū + √(width · log t / C), in the rounded LP.

    Serves the context of the round if p_j(b/τ) ≥ ½, the contexts ranked by their best indices.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, ucb_rounded(), runs=200, seed=1).regret.mean), 1)
    26.3
    """
    return Policy(
        rewards=UCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def kl_ucb_rounded(*, width: float = 1.0, contexts: ContextKnowledge | None = None) -> Policy:
    """KL-UCB indices in the rounded LP.

    The index is the largest q with C · kl(ū, q) ≤ width · log t, where
    kl(p, q) = p log(p/q) + (1 − p) log((1 − p)/(1 − q)): Garivier and Cappé, COLT 2011.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, kl_ucb_rounded(), runs=200, seed=1).regret.mean), 1)
    21.9
    """
    return Policy(
        rewards=KLUCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def log_plus_rounded(*, width: float = 0.25, contexts: ContextKnowledge | None = None) -> Policy:
    """Indices ū + √(width · log⁺(t/C) / C) in the rounded LP, where log⁺ x = max(0, log x).

    The bonus vanishes for a pair that was seen in most rounds.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, log_plus_rounded(), runs=200, seed=1).regret.mean), 1)
    15.9
    """
    return Policy(
        rewards=LogPlus(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def thompson_rounded(*, contexts: ContextKnowledge | None = None) -> Policy:
    """Thompson sampling in the rounded LP.

    The index of a pair is a draw from Beta(1 + S, 1 + C − S), anew in each round; S counts rewards
    binarised at random (Agrawal and Goyal, COLT 2012).

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, thompson_rounded(), runs=200, seed=1).regret.mean), 1)
    18.1
    """
    return Policy(
        rewards=Thompson(),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=RoundedLP(),
    )


def thrifty(*, caution: float = 1.0) -> Policy:
    """Pooled Wilson bounds, insured against bad campaigns, eagerly rounded.

    The log-odds of the mean of each pair are predicted by the rewards of all other pairs, as
    μ + α_j + β_k (`Pooled`); once the predictions have proved better than none, they act like
    rewards that came before the first. The index of a pair is the bound of `wilson_eager`, at 0.8
    of its level while another context is decided, and always while nothing is borrowed. While its
    own context is decided, a pair is tried until its own rewards say that to leave it alone cannot
    lose more than 15 % of the campaign's reward (`InsuredWilson`). It allocates by `EagerRounding`.

    Parameters
    ----------
    caution
        How much insurance is bought: 0 for none. More of it costs reward on average, and makes
        campaigns that settle on a wrong action rarer.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-ten").scaled(1000)
    >>> round(float(al.simulate(problem, thrifty(), runs=200, seed=1).regret.mean), 1)
    34.3
    """
    return Policy(
        rewards=InsuredWilson(caution=caution, evidence="graded"),
        contexts=EmpiricalContexts(),
        allocation=EagerRounding(),
        prior=Pooled(proof=4.0),
    )


def wilson_eager() -> Policy:
    """Wilson score bounds whose width falls with the plays left, eagerly rounded; no parameter.

    With n = max(1, min(w τ, b)) uses left in a context of share w, x = n/C,
    g = log(1 + x / (5 + 1.5 log(1 + x))) and d = g/C, the index is
    (ū + d + √(d² + 2dū(1 − ū))) / (1 + 2d). It allocates by `EagerRounding`. g is a fit to the
    optimal stopping boundary of a Gaussian bandit with n plays left (Lai, Annals of Statistics 15,
    1987). Every pair is learned from its own rewards alone. Campaigns that were opened with
    `thrifty` before it pooled contexts go on with this rule.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, wilson_eager(), runs=200, seed=1).regret.mean), 1)
    9.7
    """
    return Policy(rewards=Wilson(), contexts=EmpiricalContexts(), allocation=EagerRounding())


def horizon_alp(*, width: float = 0.25, contexts: ContextKnowledge | None = None) -> Policy:
    """Indices ū + √(width · log(1 + w τ/C) / C) in the adaptive LP, for a context of share w.

    The bonus fades with the w τ arrivals of the context that are still expected.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, horizon_alp(), runs=200, seed=1).regret.mean), 1)
    17.6
    """
    return Policy(
        rewards=HorizonUCB(width=width),
        contexts=EmpiricalContexts() if contexts is None else contexts,
        allocation=AdaptiveLP(),
    )


def greedy() -> Policy:
    """Empirical means ū, and 1 for pairs never tried, in the rounded LP: no further exploration.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> round(float(al.simulate(problem, greedy(), runs=200, seed=1).regret.mean), 1)
    37.8
    """
    return Policy(rewards=EmpiricalMean(), contexts=EmpiricalContexts(), allocation=RoundedLP())


def skip_always() -> Policy:
    """Skip in every round: the baseline that spends nothing.

    Examples
    --------
    >>> import almoner as al
    >>> from almoner.scenarios import scenario
    >>> problem = scenario("paper-two").scaled(1000)
    >>> float(al.simulate(problem, skip_always(), runs=10, seed=1).spend.max())
    0.0
    """
    return Policy(rewards=EmpiricalMean(), contexts=NoContexts(), allocation=SkipAlways())


RECIPES: dict[str, Callable[..., Policy]] = {
    make.__name__: make
    for make in (
        alp, flp, pb, ealp, ealp2,
        ucb_alp, ucb_flp, ucb_pb, ucb_ealp, ucb_ealp2,
        rounded, ucb_rounded, kl_ucb_rounded, log_plus_rounded, thompson_rounded,
        epsilon_first_alp, epsilon_first_printed,
        horizon_alp, wilson_eager, thrifty, greedy, skip_always,
    )
}  # fmt: skip
"""Every recipe on contexts by name."""


def recipe_name(name: str) -> str:
    """Return the name of a recipe, one of `RECIPES` or `ROW_RECIPES`, from any way to write it.

    Case does not matter, nor dashes, spaces or underscores; names of the field are understood.
    Arguments, if any, are kept.

    Examples
    --------
    >>> [recipe_name(name) for name in ("UCB-ALP", "Thompson", "KL-UCB", "Thrifty(caution = 2)")]
    ['ucb_alp', 'thompson_rounded', 'kl_ucb_rounded', 'thrifty(caution=2)']
    """
    return write_call(*_read(name))


def recipe(name: str) -> Policy:
    """Return the recipe of that name, one of `RECIPES`, or one of `ROW_RECIPES` on rows.

    The name may have arguments: ``"thrifty(caution=2)"`` is ``thrifty(caution=2)``. `recipe_name`
    says how it may be written.
    """
    known, arguments = _read(name)
    make = {**RECIPES, **ROW_RECIPES}[known]
    for argument in arguments:
        if argument not in (accepted := list(signature(make).parameters)):
            taken = " and ".join(accepted) or "no arguments"
            raise InvalidPolicy(
                f"policy {known} takes {taken}, got {argument!r} in {name!r}; leave it out"
            )
    return make(**arguments)


def described(policy: Policy) -> str:
    """Return a policy as the name of a recipe, with a caution that is not 1; or else in full.

    Examples
    --------
    >>> described(thrifty()), described(thrifty(caution=2))
    ('thrifty', 'thrifty(caution=2)')
    """
    for name, make in {**RECIPES, **ROW_RECIPES}.items():
        if make() == policy:
            return name
    caution = getattr(policy.rewards, "caution", None)
    if caution is not None and policy == thrifty(caution=caution):
        whole = caution.is_integer()
        return write_call("thrifty", {"caution": int(caution) if whole else caution})
    return repr(policy)


def _read(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a recipe in plain form, and its arguments."""
    if remedy := checks.uncalled(name):
        rule = "be a Policy or the name of a recipe"
        raise checks.refuse("policy", rule, name, remedy, InvalidPolicy)
    recipes = [*RECIPES, *ROW_RECIPES]
    written, arguments = parse_call(name)
    if (known := plain_name(written, recipes)) not in recipes:
        rule = f"be one of {', '.join(RECIPES)}, or on rows {', '.join(ROW_RECIPES)}"
        raise checks.refuse(
            "policy", rule, str(name), checks.nearest(known, recipes), InvalidPolicy
        )
    return known, arguments
