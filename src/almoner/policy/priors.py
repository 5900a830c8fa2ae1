"""Prior knowledge of rewards: what the rewards of other pairs say about a pair.

A prior has a mean m and a count n for each pair of context and action. Under every index it acts
like n rewards of mean m that came before the first one. The compiled formulas are in
`almoner.kernels.pooling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from almoner import checks
from almoner.errors import InvalidPolicy

__all__ = ["NoPrior", "Pooled", "PriorKnowledge"]


@dataclass(frozen=True, kw_only=True)
class PriorKnowledge:
    """Base class of prior knowledge; ``code`` says whether the kernels fit a prior."""

    code: ClassVar[int]


@dataclass(frozen=True, kw_only=True)
class NoPrior(PriorKnowledge):
    """No prior: every pair is learned from its own rewards alone."""

    code: ClassVar[int] = 0


@dataclass(frozen=True, kw_only=True)
class Pooled(PriorKnowledge):
    """Pooled prior: the mean reward of a pair is predicted by its context and by its action.

    The log-odds of the mean of pair (j, k) are taken to be μ + α_j + β_k + ε_jk. The effects, and
    the variances of α, β and ε, are estimated from all rewards; in the prediction of a pair its own
    have a part in μ only. The larger the variance of ε, the fewer rewards the prior is worth: where
    contexts share nothing, a pair is learned from its own rewards.

    The prior is fitted again whenever the number of rewards has grown by 8 %.

    Parameters
    ----------
    proof
        Log-likelihood ratio by which the predictions must be better than none before they are
        used: over all pairs, each predicted without its own rewards, against a uniform mean. Left
        out, they are used from the first fit on.
    """

    code: ClassVar[int] = 1
    proof: float | None = None

    def __post_init__(self) -> None:
        if self.proof is not None:
            proof = checks.number("proof", self.proof, low=0, high=1000, error=InvalidPolicy)
            object.__setattr__(self, "proof", proof)
