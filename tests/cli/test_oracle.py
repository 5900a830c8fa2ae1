"""The optimum and the bound that `almoner oracle` prints, and the options of a problem."""

from __future__ import annotations

import pytest
from support.commands import TWO, printed, run
from support.problems import PAPER_TWO

import almoner


@pytest.mark.parametrize(
    ("options", "upper_bound"),
    [
        (["--horizon", "100"], 32),
        (["--horizon", "100", "--rho", "0.39"], 31.2),
        (["--horizon", "100", "--budget", "41"], 32.4),
        (["--rho", "0.41"], 3240),
        (["--budget", "3900"], 3120),
        ([], 3200),
    ],
)
def test_options_override_what_the_file_says(options: list[str], upper_bound: float) -> None:
    """The better context, 40 % of arrivals, brings 0.8 a unit of budget, the other 0.4.

    10,000 rounds with a budget of 4,000 unless told otherwise; a new horizon keeps the ratio.
    """
    figures = printed("oracle", TWO, *options)
    assert figures["upper_bound"] == pytest.approx(upper_bound)
    assert figures["optimal_value"] < figures["upper_bound"]


def test_oracle_shows_the_optimum_and_the_bound() -> None:
    result = run("oracle", TWO)
    optimum = almoner.optimal_value(PAPER_TWO(10_000, 0.4))
    assert result.exit_code == 0
    assert f"{optimum:,.3f}" in result.stdout
    assert "3,200.000" in result.stdout
