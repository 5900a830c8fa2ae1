"""Claims of the paper on its experiments, in our words and in its order."""

from __future__ import annotations

from almoner.experiments.reproduction import explanations
from almoner.experiments.reproduction import special_criteria as special
from almoner.experiments.reproduction.claim import (
    EXPLORE_LOG,
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
    near,
    nearly_optimal,
    rising,
    sublinear,
)

__all__ = ["CLAIMS"]

CLAIMS = (
    PaperClaim(
        figure="two-known",
        says="Beside the boundary, ALP is close to the best that can be done.",
        reading="its regret is at most 1 % of the optimum, at every horizon",
        criterion=nearly_optimal(TWO, "alp", (0.39, 0.41), within=0.01),
    ),
    PaperClaim(
        figure="two-known",
        says="Beside the boundary, EALP is far better than FLP, though it is not told how often "
        "each context comes.",
        reading=f"its {LESS}",
        criterion=below(TWO, "ealp", "flp", (0.39, 0.41)),
    ),
    PaperClaim(
        figure="two-known",
        says="On the boundary, longer horizons cost ALP more.",
        reading="its regret rises from each horizon to the next",
        criterion=rising(TWO, "alp", (0.4,)),
    ),
    PaperClaim(
        figure="two-known",
        says="On the boundary, ALP is still better than FLP.",
        reading=f"its {LESS}",
        criterion=below(TWO, "alp", "flp", (0.4,)),
    ),
    PaperClaim(
        figure="two-known",
        says="On the boundary, EALP is worse than both ALP and FLP; its errors about the contexts "
        "are given as the reason.",
        reading=f"of the other two, {LESS}",
        criterion=all_of(below(TWO, "alp", "ealp", (0.4,)), below(TWO, "flp", "ealp", (0.4,))),
    ),
    PaperClaim(
        figure="two-unknown",
        says="Beside the boundary, UCB-ALP and UCB-EALP come very near to UCB-PB.",
        reading="their regret differs from that of UCB-PB by at most a quarter, at every horizon",
        criterion=all_of(
            near(TWO, "ucb_alp", "ucb_pb", (0.39, 0.41), within=0.25),
            near(TWO, "ucb_ealp", "ucb_pb", (0.39, 0.41), within=0.25),
        ),
    ),
    PaperClaim(
        figure="two-unknown",
        says="Beside the boundary, UCB-ALP and UCB-EALP are better than UCB-FLP.",
        reading=f"their {LESS}",
        criterion=all_of(
            below(TWO, "ucb_alp", "ucb_flp", (0.39, 0.41)),
            below(TWO, "ucb_ealp", "ucb_flp", (0.39, 0.41)),
        ),
    ),
    PaperClaim(
        figure="crossing",
        says="Just above the boundary, at ρ = 0.41, UCB-ALP even beats UCB-PB by a little.",
        reading=f"its {LESS}",
        criterion=below(TWO, "ucb_alp", "ucb_pb", (0.41,)),
        remark="With wider indices than the paper prints (a width of 1 or 2 under the root instead "
        "of ½) UCB-ALP passes UCB-PB between ten and twenty thousand rounds already: claim 31.",
    ),
    PaperClaim(
        figure="crossing",
        says="That is because UCB-PB passes over the better context whenever the other one has "
        "the higher index, where UCB-ALP may still serve it.",
        reading="UCB-PB skips the better context more often, by more than 2 %, at every horizon",
        criterion=explanations.passes_over_the_better_context,
    ),
    PaperClaim(
        figure="two-unknown",
        says="On the boundary, UCB-ALP and UCB-EALP are worse than UCB-PB.",
        reading=f"of UCB-PB, {LESS}",
        criterion=all_of(
            below(TWO, "ucb_pb", "ucb_alp", (0.4,)), below(TWO, "ucb_pb", "ucb_ealp", (0.4,))
        ),
    ),
    PaperClaim(
        figure="two-unknown",
        says="Even there, the regret of both grows more slowly than the horizon.",
        reading="an exponent below 1, by two standard errors, from about half the longest horizon",
        criterion=sublinear(TWO, ("ucb_alp", "ucb_ealp"), (0.4,)),
    ),
    PaperClaim(
        figure="ten-known",
        says="With ten contexts the optimum is hard to compute, so that the upper bound has to "
        "stand in for it.",
        reading="there is no exact optimum to set beside the results",
        criterion=special.no_oracle,
    ),
    PaperClaim(
        figure="ten-known",
        says="Beside the boundary, ALP and EALP do as they did with two contexts.",
        reading="ALP's regret is at most 1 % of the optimum, and EALP's is below FLP's, "
        "at every horizon",
        criterion=all_of(
            nearly_optimal(TEN, "alp", (0.49, 0.51), within=0.01),
            below(TEN, "ealp", "flp", (0.49, 0.51)),
        ),
    ),
    PaperClaim(
        figure="ten-known",
        says="On the boundary, unlike with two contexts, EALP is better than FLP.",
        reading=f"its {LESS}",
        criterion=below(TEN, "ealp", "flp", (0.5,), against="upper bound"),
    ),
    PaperClaim(
        figure="ten-known",
        says="That is because more of the contexts are served with the right probability.",
        reading="EALP serves a larger share of ten contexts than of two with the right "
        "probability, to within one percentage point of the LP's at this budget",
        criterion=explanations.serves_more_contexts_rightly,
    ),
    PaperClaim(
        figure="ten-unknown",
        says="The regret of every algorithm grows more slowly than the horizon.",
        reading="an exponent below 1, by two standard errors, from about half the longest horizon",
        criterion=sublinear(TEN, LEARNERS, (0.49, 0.5, 0.51), against="upper bound"),
    ),
    PaperClaim(
        figure="ten-unknown",
        says="It makes little difference whether the budget is on the boundary or beside it.",
        reading="regret at ρ = 0.5 is within 5 % of that at 0.49 and at 0.51, at every horizon",
        criterion=special.boundary_matters_little,
    ),
    PaperClaim(
        figure="ten-unknown",
        says="That is because learning costs so much more than the boundary does.",
        reading="on the boundary ALP, which has nothing to learn, loses less than a tenth of what "
        "UCB-ALP loses",
        criterion=special.learning_dominates,
    ),
    PaperClaim(
        figure="unequal",
        says="With unequal costs the paper's algorithms do much the same; its figures leave that "
        "out.",
        reading="ALP's regret is at most 1 % of the optimum, and that of exploring first, for "
        "a·log T rounds or until the paper's test ends it, grows with an exponent below 1, by two "
        "standard errors, from half the longest horizon. The a of the paper's theorem, 1.7·10¹⁰ "
        "here, would explore to the end, as its test does; we take 20, 50 and 100",
        criterion=all_of(
            nearly_optimal(UNEQUAL, "alp", (1.1, 1.2), within=0.01),
            sublinear(UNEQUAL, (*EXPLORE_LOG, "explore_literal"), (1.1, 1.2)),
        ),
    ),
)
"""The claims of the paper's section on experiments, in its order."""
