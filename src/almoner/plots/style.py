"""Style of the figures: colours, labels of policies, and fonts.

The colours are those of Okabe and Ito, which stay distinct for the colour-blind.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BLACK", "GREY", "STYLE", "ink", "look"]

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#666666"

LOOKS = {
    "alp": ("ALP", BLUE, "-"),
    "flp": ("FLP", VERMILION, "-"),
    "ealp": ("EALP", ORANGE, (0, (6, 1.5))),
    "pb": ("PB", BLACK, (0, (4, 2))),
    "rounded": ("rounded", GREEN, "-"),
    "ucb_alp": ("UCB-ALP", BLUE, "-"),
    "ucb_flp": ("UCB-FLP", VERMILION, "-"),
    "ucb_ealp": ("UCB-EALP", ORANGE, (0, (6, 1.5))),
    "ucb_pb": ("UCB-PB", BLACK, (0, (4, 2))),
    "thrifty": ("thrifty", GREEN, "-"),
    "wilson_eager": ("Wilson, eager", GREEN, (0, (4, 2))),
    "thompson_rounded": ("Thompson", PURPLE, "-"),
    "horizon_alp": ("horizon index", SKY, "-"),
    "explore_2": ("explore 2 %", ORANGE, (0, (1, 1))),
    "explore_5": ("explore 5 %", ORANGE, (0, (3, 1.5))),
    "explore_10": ("explore 10 %", ORANGE, (0, (6, 1.5))),
    "explore_log_20": ("explore 20 log T", ORANGE, (0, (1, 1))),
    "explore_log_50": ("explore 50 log T", ORANGE, (0, (3, 1.5))),
    "explore_log_100": ("explore 100 log T", ORANGE, (0, (6, 1.5))),
    "explore_test": ("explore, tested", PURPLE, "-"),
    "explore_literal": ("the paper's test", BLACK, (0, (4, 2))),
    "oracle": ("the optimum", GREY, (0, (3, 2))),
    "hindsight": ("the optimum", GREY, (0, (3, 2))),
    "priced": ("priced", GREEN, "-"),
    "linear": ("linear", BLUE, "-"),
    "dual_descent": ("dual descent", ORANGE, (0, (6, 1.5))),
    "pid_pacing": ("PID pacing", VERMILION, (0, (3, 1.5))),
    "ema_pacing": ("EMA pacing", PURPLE, (0, (1, 1))),
    "greedy_scores": ("greedy", BLACK, (0, (4, 2))),
    "fixed_rate": ("fixed rate", SKY, "-"),
    "doubly robust": ("doubly robust", GREEN, "-"),
    "SNIPS": ("SNIPS", BLACK, (0, (1, 1))),
}
"""Label, colour and dashes; an allocation rule has the same colour in every figure."""

SPARE = (PURPLE, SKY, GREY)
"""Colours of policies without an entry."""

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 2.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "svg.fonttype": "none",  # keeps text as text: searchable and small
    "svg.hashsalt": "almoner",  # the same rows give the same file
    "pdf.fonttype": 42,
}


def look(policy: str) -> tuple[str, str, Any]:
    """Return the label, colour and dashes of a policy."""
    if policy in LOOKS:
        return LOOKS[policy]
    return policy.replace("_", "-"), SPARE[sum(policy.encode()) % len(SPARE)], "-"


def ink(colour: str) -> str:
    """Return a colour darkened until small type is legible in it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    light = (0.3 * red + 0.59 * green + 0.11 * blue) / 255
    factor = min(1.0, 0.45 / light) if light else 1.0
    return "#" + "".join(f"{round(part * factor):02x}" for part in (red, green, blue))
