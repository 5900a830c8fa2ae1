"""Settings of the paper's figures."""

from __future__ import annotations

from almoner.experiments.reproduction import paper


def test_the_papers_figures_are_twelve_panels() -> None:
    panels = {
        (name, cell.ratio)
        for name in paper.PANELS
        for cell in paper.panels(name, runs=1, quick=True).cells()
    }
    assert panels == {
        (f"{contexts}-{knowledge}", ratio)
        for contexts, ratios in {"two": (0.39, 0.4, 0.41), "ten": (0.49, 0.5, 0.51)}.items()
        for knowledge in ("known", "unknown")
        for ratio in ratios
    }
