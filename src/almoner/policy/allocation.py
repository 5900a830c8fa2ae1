"""How a policy turns knowledge into a decision: who is served now, with what probability.

Every rule first finds the best action of the present context and how the context ranks among
the others; it then answers with the probability of taking that action rather than skipping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from almoner import checks
from almoner.errors import InvalidPolicy

__all__ = [
    "AdaptiveLP",
    "AllocationRule",
    "EagerRounding",
    "FixedLP",
    "Procrastinate",
    "RoundedLP",
    "SkipAlways",
]


@dataclass(frozen=True, kw_only=True)
class AllocationRule:
    """One way to allocate; ``code`` is its branch in the compiled ladder."""

    code: ClassVar[int]


@dataclass(frozen=True, kw_only=True)
class AdaptiveLP(AllocationRule):
    """Solve the allocation LP at the ratio that is left now, b/τ, and sample from it (ALP)."""

    code: ClassVar[int] = 0


@dataclass(frozen=True, kw_only=True)
class FixedLP(AllocationRule):
    """Solve the allocation LP at the ratio of the start, B/T, and sample from it (FLP).

    Parameters
    ----------
    override
        Serve everybody once the budget suffices for all rounds left. The paper does not; it
        removes the regret at a boundary of two contexts.
    """

    code: ClassVar[int] = 1
    override: bool = False

    def __post_init__(self) -> None:
        checks.flag("override", self.override, error=InvalidPolicy)


@dataclass(frozen=True, kw_only=True)
class Procrastinate(AllocationRule):
    """Serve the better of two contexts only, until the budget suffices for all rounds left (PB)."""

    code: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class RoundedLP(AllocationRule):
    """Round the adaptive LP at one half, where sampling has a regret of order √T at a boundary.

    Nothing is proved of it. With known statistics its regret against the optimum stayed bounded in
    everything that we computed.
    """

    code: ClassVar[int] = 3


@dataclass(frozen=True, kw_only=True)
class EagerRounding(AllocationRule):
    """Rounding that does not wait for a context which ranks high by optimism alone.

    While more than a fifth of the rewards of an action are still to come, its context is served at
    the rate that the budget lasts for, as by `AdaptiveLP`. In a simulation they come at once.

    Where costs differ, or skipping has a reward, it samples from the LP instead: there rounding may
    skip a good context that looks marginal outright, and learn nothing of it.
    """

    code: ClassVar[int] = 4


@dataclass(frozen=True, kw_only=True)
class SkipAlways(AllocationRule):
    """Never spend anything: the baseline of doing nothing."""

    code: ClassVar[int] = 5
