"""Plots of experiments with matplotlib, which no other package imports.

Every function takes rows as an experiment saved them and returns a `Figure`; there is no global
state. Lines are labelled at their ends instead of in a legend.
"""

from __future__ import annotations

from almoner.plots.figures import (
    boundary_figure,
    concentration_figure,
    ratio_figure,
    regret_figure,
    save_figure,
)
from almoner.plots.frontier import frontier_figure

__all__ = [
    "boundary_figure",
    "concentration_figure",
    "frontier_figure",
    "ratio_figure",
    "regret_figure",
    "save_figure",
]
