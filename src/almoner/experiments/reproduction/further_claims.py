"""Claims that the paper proves but does not show, and claims of ours."""

from __future__ import annotations

from almoner.experiments.reproduction import special_criteria as special
from almoner.experiments.reproduction.claim import (
    EXPLORE_LOG,
    EXPLORE_PRINTED,
    LEARNERS,
    LESS,
    TEN,
    TWO,
    UNEQUAL,
    PaperClaim,
)
from almoner.experiments.reproduction.criteria import (
    all_of,
    below,
    sublinear,
)

__all__ = ["FURTHER_CLAIMS"]

EXPLORE_SHARE = ("explore_2", "explore_5", "explore_10")

FURTHER_CLAIMS = (
    PaperClaim(
        figure="concentration",
        says="Under ALP, and under UCB-ALP when the context probabilities are known, the budget "
        "left is hypergeometric.",
        reading="simulated quantiles (1, 10, 50, 90 and 99 %) are where the law puts them, within "
        "four standard errors of their level",
        criterion=special.follows_the_law,
    ),
    PaperClaim(
        figure="concentration",
        says="Its tails obey exp(−2δ²τ).",
        reading="the quantiles of the law lie within what the bound allows",
        criterion=special.keeps_the_tail_bound,
    ),
    PaperClaim(
        figure="boundary",
        says="On the boundary, ALP's regret is of order √T.",
        reading="against the optimum it stays below (u₁ − u₂)·√(ρ(1−ρ)T)·(√(π/8) − 1/√(2π)), and "
        "from T = 1,000 on within a tenth of it",
        criterion=special.alp_grows_like_root,
    ),
    PaperClaim(
        figure="boundary",
        says="Ours: against the upper bound no policy can do better than √T there.",
        reading="the optimum itself is below the upper bound by (u₁ − u₂)·√(ρ(1−ρ)T/2π), from "
        "T = 1,000 on within a tenth of it",
        criterion=special.optimum_grows_like_root,
    ),
    PaperClaim(
        figure="boundary",
        says="Ours, on what the paper leaves open: against the optimum, a policy can do better "
        "than √T there. Rounding does.",
        reading="its regret is below 0.1 at every horizon",
        criterion=special.rounded_is_bounded,
    ),
    PaperClaim(
        figure="ratio",
        says="Ours: rounding loses less than ALP at every budget.",
        reading="exact regret against the optimum, over the whole range of budgets",
        criterion=special.rounded_below_everywhere,
    ),
    PaperClaim(
        figure="two-unknown",
        says="Ours: with two contexts, thrifty loses less than every learner of the paper.",
        reading=f"its {LESS}",
        criterion=all_of(
            *(below(TWO, "thrifty", name, (0.39, 0.4, 0.41)) for name in ("ucb_pb", *LEARNERS))
        ),
    ),
    PaperClaim(
        figure="ten-unknown",
        says="Ours: with ten contexts, thrifty loses less than every learner of the paper.",
        reading=f"its {LESS}",
        criterion=all_of(*(below(TEN, "thrifty", name, (0.49, 0.5, 0.51)) for name in LEARNERS)),
    ),
    PaperClaim(
        figure="unequal",
        says="Ours: with unequal costs, thrifty loses less than exploring first, and than UCB-ALP.",
        reading=f"its {LESS}",
        criterion=all_of(
            *(
                below(UNEQUAL, "thrifty", name, (1.1, 1.2))
                for name in (
                    *EXPLORE_LOG,
                    *EXPLORE_SHARE,
                    "explore_literal",
                    "explore_test",
                    "ucb_alp",
                )
            )
        ),
    ),
    PaperClaim(
        figure="email",
        says="Ours: so it does on e-mails to customers who visit without one too.",
        reading=f"against the upper bound, its {LESS}",
        criterion=all_of(
            *(
                below("hillstrom-email", "thrifty", name, (0.25,), against="upper bound")
                for name in ("explore_test", "ucb_alp")
            )
        ),
    ),
    PaperClaim(
        figure="routing",
        says="Ours: and on prompts for a cheap or a strong model, at real prices.",
        reading=f"against the upper bound, its {LESS}",
        criterion=all_of(
            *(
                below("llm-routing", "thrifty", name, (2.0, 3.0), against="upper bound")
                for name in ("explore_test", "ucb_alp")
            )
        ),
    ),
    PaperClaim(
        figure="wider",
        says="Ours, on claim 8: with wider indices UCB-ALP beats UCB-PB just above the boundary.",
        reading=f"with a width of 1 and of 2 instead of ½, its {LESS}",
        criterion=all_of(
            *(below(TWO, f"ucb_alp_{width}", f"ucb_pb_{width}", (0.41,)) for width in (1, 2))
        ),
    ),
    PaperClaim(
        figure="printed",
        says="Ours: ε-First ALP exactly as the paper prints it loses more slowly than the horizon "
        "grows, whatever the factor of log T.",
        reading="with 5, 20, 50 and 100 times log T rounds of exploration, frozen means, and "
        "untried pairs at 0: an exponent below 1, by two standard errors, from half the longest "
        "horizon",
        criterion=sublinear(UNEQUAL, EXPLORE_PRINTED, (1.1, 1.2)),
    ),
)
