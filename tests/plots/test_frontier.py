"""The figure of value against budget: a line for each policy, on a logarithmic axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.rows import routing_rows

from almoner import plots


def test_every_policy_has_a_line_and_a_label(tmp_path: Path) -> None:
    frontier = routing_rows(120).frontier(
        budgets=[0, 200, 800, 3000], policies=["priced", "fixed_rate"], runs=2
    )
    figure = plots.frontier_figure(frontier.rows)
    (axes,) = figure.axes
    assert [np.size(line.get_xdata()) for line in axes.lines] == [3, 3, 3]
    assert sorted(text.get_text() for text in axes.texts) == [
        "fixed rate",
        "priced",
        "the optimum",
    ]
    assert axes.get_xscale() == "log"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("budget per row", "reward per row")
    (path,) = plots.save_figure(figure, tmp_path / "frontier", formats=["png"])
    assert path.stat().st_size > 5000
