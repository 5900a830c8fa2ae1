"""Figures: drawn from rows, readable as files, named at line ends, without overlaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from almoner import plots
from almoner.plots.panels import spread

POLICIES = ("flp", "ealp", "alp", "rounded", "pb")


def results(**more: Any) -> list[dict[str, Any]]:
    """Return rows of five policies that end close together, at three ratios."""
    return [
        {
            "method": "simulated" if policy == "ealp" else "exact",
            "problem": "paper-two",
            "policy": policy,
            "horizon": horizon,
            "ratio": ratio,
            "boundary_distance": abs(ratio - 0.4),
            "against": against,
            "regret_mean": 0.01 * index + 0.001 * horizon**0.5,
            "regret_stderr": 0.001 if policy == "ealp" else 0.0,
        }
        | more
        for ratio in (0.39, 0.4, 0.41)
        for index, policy in enumerate(POLICIES)
        for horizon in (100, 1000, 10_000)
        for against in ("oracle", "upper bound")
    ]


def quantiles() -> list[dict[str, Any]]:
    return [
        {
            "policy": policy,
            "rounds_left": left,
            "level": level,
            "simulated": 0.4 + (level - 0.5) / left,
            "law": 0.4 + (level - 0.5) / left,
            "bound": 0.4 + 2 * (level - 0.5) / left,
        }
        for policy in ("alp", "flp")
        for left in (100, 10, 5)
        for level in (0.01, 0.1, 0.5, 0.9, 0.99)
    ]


DRAWN = {
    "regret": lambda **how: plots.regret_figure(results(), against="oracle", **how),
    "log": lambda **how: plots.regret_figure(results(), against="upper bound", log=True, **how),
    "boundary": lambda **how: plots.boundary_figure(
        [*results(method="exact"), *results(method="limit")], **how
    ),
    "ratio": lambda **how: plots.ratio_figure(results(), **how),
    "concentration": lambda **how: plots.concentration_figure(quantiles(), **how),
}

shapes = pytest.mark.parametrize("stacked", [False, True], ids=["wide", "column"])
kinds = pytest.mark.parametrize("kind", DRAWN)


def texts(path: Path) -> set[str]:
    return {"".join(element.itertext()) for element in ElementTree.parse(path).iter()}  # noqa: S314


@kinds
def test_files_are_whole(tmp_path: Path, kind: str) -> None:
    svg, png = plots.save_figure(DRAWN[kind](), tmp_path / kind, formats=("svg", "png"))
    assert png.read_bytes().startswith(b"\x89PNG")
    assert {"ALP", "FLP"} <= texts(svg)
    assert svg.stat().st_size < 300_000


def test_every_policy_is_named_in_every_panel(tmp_path: Path) -> None:
    figure = plots.regret_figure(results(), against="oracle")
    names = ["FLP", "EALP", "ALP", "rounded", "PB"]
    for axes in figure.axes:
        assert sorted(text.get_text() for text in axes.texts) == sorted(names)
    (path,) = plots.save_figure(figure, tmp_path / "all", formats=("svg",))
    assert {*names, "ρ = 0.40, a boundary", "regret against the oracle"} <= texts(path)


@shapes
@kinds
def test_nothing_overlaps_or_is_clipped(kind: str, stacked: bool) -> None:
    figure: Figure = DRAWN[kind](stacked=stacked)
    figure.draw_without_rendering()
    page = figure.bbox
    for axes in figure.axes:
        names = [Text.get_window_extent(text) for text in axes.texts]  # without leader lines
        titles = [axes.title, axes.yaxis.label, axes.xaxis.label, axes._left_title]  # type: ignore[attr-defined]
        labels = [text.get_window_extent() for text in titles if text.get_text()]
        ticks = [
            tick.get_window_extent()
            for tick in [*axes.get_xticklabels(), *axes.get_yticklabels()]
            if tick.get_visible() and tick.get_text()
        ]
        for box in (*names, *labels):
            assert page.x0 <= box.x0
            assert box.x1 <= page.x1
            assert page.y0 <= box.y0
            assert box.y1 <= page.y1
        for index, box in enumerate(names):
            assert not any(box.overlaps(other) for other in names[index + 1 :])
            others = [other for other in figure.axes if other is not axes]
            assert not any(box.overlaps(other.get_window_extent()) for other in others)
        for box in labels:
            assert not any(box.overlaps(tick) for tick in ticks)


def test_the_same_rows_give_the_same_files(tmp_path: Path) -> None:
    first, second = (
        [path.read_bytes() for path in plots.save_figure(DRAWN["ratio"](), tmp_path / name)]
        for name in ("one", "two")
    )
    assert first == second
    assert first[1].startswith(b"%PDF")


def test_a_policy_without_a_look_of_its_own_is_drawn_too(tmp_path: Path) -> None:
    (path,) = plots.save_figure(
        plots.regret_figure(results(policy="my_own"), against="oracle"),
        tmp_path / "own",
        formats=("svg",),
    )
    assert "my-own" in texts(path)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], []),
        ([5.0], [5.0]),
        ([10.0, 30.0, 60.0], [10.0, 30.0, 60.0]),
        ([50.0, 50.0], [45.0, 55.0]),
        ([50.0, 52.0, 90.0], [46.0, 56.0, 90.0]),
        ([-20.0, 99.0, 100.0, 120.0], [0.0, 80.0, 90.0, 100.0]),
    ],
)
def test_names_move_apart_as_little_as_possible(wanted: list[float], expected: list[float]) -> None:
    assert spread(wanted, gap=10, high=100) == pytest.approx(expected)
