"""Sweeps behind the paper's figures: regret against the horizon, at and beside a boundary.

Two problems, rewards known or not, three budgets each; the paper's policies, and ours for
comparison.
"""

from __future__ import annotations

from almoner.experiments.sweep import Sweep
from almoner.policy.recipes import ucb_alp, ucb_pb
from almoner.scenarios import scenario

__all__ = ["CROSSING", "PANELS", "crossing", "panels", "wider"]

RATIOS = {"two": (0.39, 0.40, 0.41), "ten": (0.49, 0.50, 0.51)}
"""The middle one is a boundary: all of the better contexts can be served, and no other."""

POLICIES = {
    "two-known": ("flp", "alp", "ealp", "rounded", "pb"),
    "two-unknown": ("ucb_flp", "ucb_alp", "ucb_ealp", "ucb_pb", "wilson_eager", "thrifty"),
    "ten-known": ("flp", "alp", "ealp", "rounded"),
    "ten-unknown": ("ucb_flp", "ucb_alp", "ucb_ealp", "wilson_eager", "thrifty"),
}
"""The policies of each figure: the paper's, and ours. Procrastinating needs two contexts."""

PANELS = tuple(POLICIES)
CROSSING = "crossing"

HORIZONS = (1000, 2000, 3000, 5000, 7000, 10_000)
QUICK_HORIZONS = (1000, 2000, 5000, 10_000)

LONG_HORIZONS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
QUICK_LONG_HORIZONS = LONG_HORIZONS[:5]


def panels(name: str, *, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep of a figure of the paper: two or ten contexts, rewards known or not.

    Examples
    --------
    >>> [cell.policy_name for cell in panels("ten-known", runs=10).cells()[::6]][:4]
    ['flp', 'alp', 'ealp', 'rounded']
    """
    contexts = name.split("-", maxsplit=1)[0]
    return Sweep.from_dict(
        {
            "problems": [f"scenario:paper-{contexts}"],
            "policies": POLICIES[name],
            "horizons": QUICK_HORIZONS if quick else HORIZONS,
            "ratios": RATIOS[contexts],
            "runs": runs,
            "seed": seed,
        }
    )


def crossing(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep of UCB-ALP and UCB-PB above the boundary, over long horizons.

    The paper says that UCB-ALP is better; up to ten thousand rounds it is not.
    """
    return Sweep.from_dict(
        {
            "problems": ["scenario:paper-two"],
            "policies": ["ucb_alp", "ucb_pb"],
            "horizons": QUICK_LONG_HORIZONS if quick else LONG_HORIZONS,
            "ratios": [0.41],
            "runs": runs,
            "seed": seed,
        }
    )


def wider(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep of `crossing` with wider indices, which the paper does not have."""
    policies = {f"ucb_alp_{width}": ucb_alp(width=width) for width in (1, 2)}
    policies |= {f"ucb_pb_{width}": ucb_pb(width=width) for width in (1, 2)}
    return Sweep(
        problems={"paper-two": scenario("paper-two")},
        policies=policies,
        horizons=QUICK_LONG_HORIZONS if quick else LONG_HORIZONS[:-1],
        ratios=(0.41,),
        runs=max(1, runs // 5),
        seed=seed,
    )
