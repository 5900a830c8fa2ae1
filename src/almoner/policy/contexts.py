"""Context knowledge: the weight of each context in the LP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from almoner import checks
from almoner.errors import InvalidPolicy

__all__ = [
    "ContextKnowledge",
    "EmpiricalContexts",
    "KnownContexts",
    "NoContexts",
    "TruncatedContexts",
]


@dataclass(frozen=True, kw_only=True)
class ContextKnowledge:
    """Base class of context knowledge; ``code`` selects the branch in `almoner.kernels.ranking`."""

    code: ClassVar[int]


@dataclass(frozen=True, kw_only=True)
class KnownContexts(ContextKnowledge):
    """Known probabilities; left out, the simulator supplies the problem's own.

    Parameters
    ----------
    probs
        Probability of each context.
    """

    code: ClassVar[int] = 0
    probs: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.probs is not None:
            probs = checks.probabilities("probs", self.probs, error=InvalidPolicy)
            object.__setattr__(self, "probs", tuple(probs.tolist()))


@dataclass(frozen=True, kw_only=True)
class EmpiricalContexts(ContextKnowledge):
    """Empirical shares of the contexts so far, the present arrival included."""

    code: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class TruncatedContexts(ContextKnowledge):
    """Empirical shares of the contexts until round ``until``, frozen from then on.

    Parameters
    ----------
    until
        The last round that counts (the paper's T₁). Left out, the paper's rule decides: the first
        round t with 2δ̌²t ≥ 2 log T and t ≥ 16J²log³T/δ̌², where 2δ̌ is the distance of the ratio
        from the nearest boundary as seen so far. It may never come.
    """

    code: ClassVar[int] = 2
    until: int | None = None

    def __post_init__(self) -> None:
        if self.until is not None:
            until = checks.whole("until", self.until, error=InvalidPolicy)
            object.__setattr__(self, "until", until)


@dataclass(frozen=True, kw_only=True)
class NoContexts(ContextKnowledge):
    """No weights: for a rule that ranks contexts and does not weigh them."""

    code: ClassVar[int] = 3
