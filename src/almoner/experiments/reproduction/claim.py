"""PaperClaim: a sentence on the experiments, with the criterion it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from almoner.experiments.reproduction.criteria import Criterion

__all__ = [
    "EXPLORE_LOG",
    "EXPLORE_PRINTED",
    "LEARNERS",
    "LESS",
    "TEN",
    "TWO",
    "UNEQUAL",
    "PaperClaim",
]

TWO, TEN = "paper-two", "paper-ten"
LEARNERS = ("ucb_alp", "ucb_ealp", "ucb_flp")
UNEQUAL = "heterogeneous"
EXPLORE_PRINTED = (
    "explore_printed_5",
    "explore_printed_20",
    "explore_printed_50",
    "explore_printed_100",
)
EXPLORE_LOG = ("explore_log_20", "explore_log_50", "explore_log_100")
LESS = "regret is lower by more than two standard errors, at every horizon"
"""Names of scenarios and policies, and a reading, that several claims use."""


@dataclass(frozen=True, kw_only=True)
class PaperClaim:
    """A sentence of the paper, or of ours, to be judged.

    Attributes
    ----------
    figure
        The figure that its rows are drawn in.
    says
        The claim, in our words.
    reading
        The rule on numbers that we read it as, or why there is none.
    criterion
        The rule as a function from results to checks.
    remark
        A sentence on it, shown after the verdict.
    """

    figure: str
    says: str
    reading: str
    criterion: Criterion | None = None
    remark: str = ""
