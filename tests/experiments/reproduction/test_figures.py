"""The reproduction saves rows first, draws figures from rows only, and runs no task twice."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import almoner as al
from almoner.experiments import read_rows
from almoner.experiments.reproduction.figures import FIGURES, draw, reproduce
from almoner.experiments.rows import BUDGETS, write_rows


def test_every_figure_has_its_rows_files_and_a_page(tmp_path: Path) -> None:
    names = ["two-known", "ten-unknown", "boundary"]
    how = {"out": tmp_path, "runs": 3, "quick": True, "jobs": 1, "formats": ("svg",)}
    written = reproduce(names, **how)  # type: ignore[arg-type]
    assert [path.name for path in written] == [
        "two-known.csv",
        "ten-unknown.csv",
        "boundary.csv",
        "two-known.svg",
        "ten-unknown.svg",
        "ten-unknown-oracle.svg",
        "boundary.svg",
        "reproduction.md",
    ]
    assert all(path.stat().st_size > 0 for path in written)
    rows = read_rows(tmp_path / "two-known.csv")
    assert len(rows) == 5 * 3 * 4 * 2  # policies, ratios, horizons, benchmarks
    assert {row["policy"] for row in rows if row["method"] == "simulated"} == {"ealp"}
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "`almoner reproduce two-known ten-unknown boundary --quick --runs 3`" in page
    calls: list[tuple[int, int]] = []
    before = {path: path.read_bytes() for path in written}
    reproduce(names, progress=lambda *call: calls.append(call), **how)  # type: ignore[arg-type]
    assert len(calls) == 1  # everything was there
    assert {path: path.read_bytes() for path in written} == before


def test_a_figure_is_drawn_from_its_rows_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "made"
    reproduce(["crossing"], out=out, runs=3, quick=True, jobs=1, formats=())
    rows = read_rows(out / "crossing.csv")
    write_rows([row | {"policy": "renamed_one"} for row in rows], tmp_path / "crossing.csv")
    (path,) = draw("crossing", tmp_path, formats=("svg",))
    texts = {"".join(element.itertext()) for element in ElementTree.parse(path).iter()}  # noqa: S314
    assert "renamed-one" in texts
    assert "UCB-ALP" not in texts


def test_budgets_left_have_rows_of_their_own(tmp_path: Path) -> None:
    written = reproduce(["concentration"], out=tmp_path, quick=True, jobs=1, formats=("png",))
    rows = read_rows(tmp_path / "concentration.csv", columns=BUDGETS)
    assert {row["policy"] for row in rows} == {"alp", "ucb_alp", "flp"}
    assert written[1].read_bytes().startswith(b"\x89PNG")


def test_unknown_figures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(al.InvalidInput, match="did you mean 'two-known'"):
        reproduce(["two-know"], out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_figure_has_a_subject() -> None:
    assert all(spec.about for spec in FIGURES.values())
    assert list(FIGURES)[:4] == ["two-known", "two-unknown", "ten-known", "ten-unknown"]
