"""Figures: the only package that imports matplotlib; it reads rows and nothing else.

Every function takes rows as an experiment saved them and returns a `Figure`; nothing is global.
Lines are named at their ends, where the eye arrives, instead of in a legend.
"""

from __future__ import annotations

from almoner.plots.figures import (
    boundary_figure,
    concentration_figure,
    ratio_figure,
    regret_figure,
    save_figure,
)

__all__ = [
    "boundary_figure",
    "concentration_figure",
    "ratio_figure",
    "regret_figure",
    "save_figure",
]
