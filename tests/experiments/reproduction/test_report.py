"""Verdicts follow from rows alone, and the page in docs/ is the report on its rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from almoner.experiments.reproduction.claims import CLAIMS
from almoner.experiments.reproduction.figures import FIGURES, draw, report
from almoner.experiments.reproduction.further_claims import FURTHER_CLAIMS
from almoner.experiments.reproduction.report import write_report
from almoner.experiments.reproduction.results import Results
from almoner.experiments.reproduction.verdicts import Verdict, judge
from almoner.experiments.rows import Row

DOCS = Path(__file__).parents[3] / "docs"
TEXT = "{http://www.w3.org/2000/svg}text"


def row(policy: str, ratio: float, regret: float, **more: Any) -> Row:
    return {
        "version": "0",
        "method": "simulated",
        "problem": "paper-two",
        "policy": policy,
        "horizon": 1000,
        "ratio": ratio,
        "budget": 1000 * ratio,
        "boundary_distance": abs(ratio - 0.4),
        "runs": 100,
        "seed": 0,
        "against": "oracle",
        "benchmark": 300.0,
        "regret_mean": regret,
        "regret_stderr": 0.1,
        "regret_q99": 3 * regret,
        "regret_max": 4 * regret,
    } | more


def verdict(words: str, rows: list[Row], budgets: list[Row] | None = None) -> str:
    """Return the verdict on the one claim that has these words."""
    (only,) = [
        verdict for claim, _, verdict in judge(Results(rows, budgets or [])) if words in claim.says
    ]
    return only


@pytest.mark.parametrize(
    ("ealp_39", "ealp_41", "expected"),
    [
        (3.0, 3.0, Verdict.HOLDS),
        (3.0, 5.0, Verdict.PARTLY),
        (3.0, 3.9, Verdict.PARTLY),  # within two errors: a tie does not agree
        (5.0, 5.0, Verdict.FAILS),
        (3.9, 4.1, Verdict.FAILS),
    ],
)
def test_below(ealp_39: float, ealp_41: float, expected: str) -> None:
    rows = [
        row("flp", 0.39, 4.0),
        row("flp", 0.41, 4.0),
        row("ealp", 0.39, ealp_39),
        row("ealp", 0.41, ealp_41),
    ]
    assert verdict("EALP is far better than FLP", rows) == expected


def test_exact_numbers_have_no_error() -> None:
    rows = [row("alp", 0.4, 2.0, regret_stderr=0.0), row("flp", 0.4, 2.01, regret_stderr=0.0)]
    assert verdict("ALP is still better than FLP", rows) == Verdict.HOLDS
    assert (
        verdict("ALP is still better than FLP", [rows[0], rows[1] | {"regret_mean": 1.9}])
        == Verdict.FAILS
    )


@pytest.mark.parametrize(("late", "expected"), [(9.0, Verdict.FAILS), (7.0, Verdict.PARTLY)])
def test_the_crossing_is_found_where_it_is(late: float, expected: str) -> None:
    rows = [
        row("ucb_alp", 0.41, 5.0),
        row("ucb_pb", 0.41, 4.0),
        row("ucb_alp", 0.41, late, horizon=50_000),
        row("ucb_pb", 0.41, 8.0, horizon=50_000),
    ]
    assert verdict("UCB-ALP even beats UCB-PB", rows) == expected


@pytest.mark.parametrize(("regret", "expected"), [(2.9, Verdict.HOLDS), (3.1, Verdict.FAILS)])
def test_nearly_optimal(regret: float, expected: str) -> None:
    assert verdict("ALP is close to the best", [row("alp", 0.39, regret)]) == expected


@pytest.mark.parametrize(
    ("excess", "expected"), [(1.2, Verdict.HOLDS), (0.8, Verdict.HOLDS), (1.3, Verdict.FAILS)]
)
def test_near(excess: float, expected: str) -> None:
    rows = [row("ucb_pb", 0.39, 10.0), row("ucb_alp", 0.39, 10 * excess)]
    assert verdict("come very near to UCB-PB", rows) == expected


@pytest.mark.parametrize(
    ("later", "expected"), [(2.5, Verdict.HOLDS), (1.5, Verdict.FAILS), (2.1, Verdict.FAILS)]
)
def test_rising(later: float, expected: str) -> None:
    rows = [row("alp", 0.4, 2.0), row("alp", 0.4, later, horizon=2000)]
    assert verdict("longer horizons cost ALP more", rows) == expected


@pytest.mark.parametrize(
    ("later", "expected"), [(14.0, Verdict.HOLDS), (20.0, Verdict.FAILS), (19.8, Verdict.FAILS)]
)
def test_sublinear(later: float, expected: str) -> None:
    rows = [row("ucb_alp", 0.4, 10.0), row("ucb_alp", 0.4, later, horizon=2000)]
    assert verdict("regret of both grows more slowly", rows) == expected


@pytest.mark.parametrize(("later", "expected"), [(14.0, Verdict.HOLDS), (20.0, Verdict.FAILS)])
def test_unequal_costs_are_judged_by_lengths_of_log_t(later: float, expected: str) -> None:
    """A share of the rounds is no length of the paper's, and says nothing of its claim."""
    rows = [
        row(policy, 1.1, regret, problem="heterogeneous", horizon=horizon)
        for policy, growth in {"explore_log_50": later, "explore_5": 30.0}.items()
        for horizon, regret in {1000: 10.0, 2000: growth}.items()
    ]
    assert verdict("With unequal costs the paper's algorithms", rows) == expected


def ten(policy: str, ratio: float, regret: float) -> Row:
    return row(policy, ratio, regret, problem="paper-ten", against="upper bound")


def test_ten_contexts() -> None:
    rows = [ten("ucb_alp", 0.49, 100), ten("ucb_alp", 0.5, 104), ten("alp", 0.5, 9)]
    assert verdict("on the boundary or beside it", rows) == Verdict.HOLDS
    assert verdict("learning costs so much more", rows) == Verdict.HOLDS
    rows = [ten("ucb_alp", 0.49, 100), ten("ucb_alp", 0.5, 106), ten("alp", 0.5, 11)]
    assert verdict("on the boundary or beside it", rows) == Verdict.FAILS
    assert verdict("learning costs so much more", rows) == Verdict.FAILS
    assert verdict("optimum is hard to compute", rows) == Verdict.MISSING
    assert (
        verdict("optimum is hard to compute", [ten("alp", 0.5, 1) | {"against": "oracle"}])
        == Verdict.FAILS
    )


@pytest.mark.parametrize(("simulated", "expected"), [(0.3, Verdict.HOLDS), (0.36, Verdict.FAILS)])
def test_the_hypergeometric_law(simulated: float, expected: str) -> None:
    quantile = {"policy": "alp", "ratio": 0.4, "level": 0.1, "simulated": simulated, "law": 0.31,
                "law_low": 0.28, "law_high": 0.34, "bound": 0.25}  # fmt: skip
    assert verdict("is hypergeometric", [], [quantile]) == expected
    assert verdict("tails obey", [], [quantile]) == Verdict.HOLDS
    assert verdict("tails obey", [], [quantile | {"bound": 0.32}]) == Verdict.FAILS
    mixed = [quantile | {"simulated": 0.3}, quantile | {"simulated": 0.9}]
    assert verdict("is hypergeometric", [], mixed) == Verdict.PARTLY


@pytest.mark.parametrize(
    ("regret", "expected"),
    [(3.9, Verdict.HOLDS), (4.1, Verdict.FAILS), (3.5, Verdict.FAILS)],  # the limit is 4
)
def test_the_square_root(regret: float, expected: str) -> None:
    exact = row("alp", 0.4, regret, method="exact")
    limit = exact | {"method": "limit", "regret_mean": 4.0}
    assert verdict("regret is of order √T", [exact, limit]) == expected


def test_rounding_over_all_budgets() -> None:
    ratios = [n / 20 for n in range(1, 20)]
    rows = [
        row(policy, ratio, regret, runs=0)
        for ratio in ratios
        for policy, regret in {"alp": ratio, "rounded": 0.12}.items()
    ]
    assert verdict("rounding loses less than ALP", rows) == Verdict.PARTLY
    (text,) = [
        checks[0].numbers
        for claim, checks, _ in judge(Results(rows))
        if "loses less than ALP" in claim.says
    ]
    assert text == "less at 17 of 19 budgets, not at ρ = 0.05 to 0.1"
    assert (
        verdict("rounding loses less than ALP", [each for each in rows if each["ratio"] > 0.1])
        == Verdict.HOLDS
    )
    assert verdict("rounding loses less than ALP", rows[:6]) == Verdict.MISSING


def test_without_rows_no_claim_is_judged() -> None:
    verdicts = {verdict for *_, verdict in judge(Results([]))}
    assert verdicts == {Verdict.MISSING}


def test_the_page_names_its_version_and_command(tmp_path: Path) -> None:
    (tmp_path / "two-known.svg").write_text("<svg/>")
    path = write_report(
        [row("flp", 0.39, 4.0), row("ealp", 0.39, 3.0)],
        tmp_path / "page.md",
        command="almoner reproduce --runs 100",
    )
    page = path.read_text(encoding="utf-8")
    assert "almoner 0, seed 0, 100 runs (fewer where a table says)" in page
    assert "`almoner reproduce --runs 100`" in page
    assert "![Two contexts, rewards known](./two-known.svg)" in page
    assert "two-unknown.svg" not in page  # not drawn
    assert "| EALP against FLP, ρ = 0.39 | 3.00 ± 0.10 against 4.00 ± 0.10 ✓ |" in page
    for claim in (*CLAIMS, *FURTHER_CLAIMS):
        assert page.count(f". {claim.says}**") == 1


def test_the_page_in_the_docs_is_the_report_on_its_rows(tmp_path: Path) -> None:
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    (command,) = [line.split("`")[1] for line in page.splitlines() if line.startswith("- made by")]
    (tmp_path / "figures").symlink_to(DOCS / "figures")
    again = report(
        list(FIGURES), tmp_path / "figures", path=tmp_path / "reproduction.md", command=command
    )
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_in_the_docs_are_drawn_from_their_rows(tmp_path: Path, name: str) -> None:
    """Compare their texts: coordinates may differ in a last digit on other machines."""
    shutil.copy(DOCS / "figures" / f"{name}.csv", tmp_path)
    for path in draw(name, tmp_path, formats=("svg",)):
        again, shipped = (
            ["".join(element.itertext()) for element in ElementTree.parse(file).iter(TEXT)]  # noqa: S314
            for file in (path, DOCS / "figures" / path.name)
        )
        assert again == shipped
        assert (DOCS / "figures" / path.name).stat().st_size < 300_000
