"""Allocation rules: the probability of serving an arrival, given the indices and the budget.

For equal costs a rule gives the probability of taking the best action of the context, rather than
skipping, from the rank of the context among the others; for unequal costs, from the LP's solution.
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
    """Base class of allocation rules; ``code`` selects the branch in `almoner.kernels.steps`."""

    code: ClassVar[int]


@dataclass(frozen=True, kw_only=True)
class AdaptiveLP(AllocationRule):
    """Solve the allocation LP at the present ratio b/τ, and sample from the solution (ALP)."""

    code: ClassVar[int] = 0


@dataclass(frozen=True, kw_only=True)
class FixedLP(AllocationRule):
    """Solve the allocation LP at the initial ratio B/T, and sample from the solution (FLP).

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
    """Round the adaptive LP, but do not save for contexts that rank high by optimism alone.

    While more than a fifth of the rewards of an action are still to come, its context is served at
    the rate that the budget lasts for, as by `AdaptiveLP`. In a simulation they come at once.

    Where costs differ, or skipping has a reward, it samples from the LP instead: there rounding may
    skip a good context that looks marginal outright, and learn nothing of it.
    """

    code: ClassVar[int] = 4


@dataclass(frozen=True, kw_only=True)
class SkipAlways(AllocationRule):
    """Skip in every round: the baseline that spends nothing."""

    code: ClassVar[int] = 5
