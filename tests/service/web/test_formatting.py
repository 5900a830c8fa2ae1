"""Formatting of numbers, money and shares."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from almoner.service.web import formatting


def test_money_has_the_digits_of_the_campaign() -> None:
    assert formatting.money_format([1000.0, 5.0])(1250.0) == "1,250"
    assert formatting.money_format([10.0, 0.5])(1.0) == "1.00"
    assert formatting.money_format([10.0, 0.0004])(1.0) == "1.0000"
    assert formatting.money_format([1e-9])(1.0) == "1.000000"


def test_shares_that_are_nearly_nothing_or_everything() -> None:
    assert [formatting.percent(share) for share in (0, 1e-6, 0.0049, 0.01, 0.995, 0.99999, 1)] == [
        "0 %",
        "0.1 %",
        "0.4 %",
        "1 %",
        "99.5 %",
        "99.9 %",
        "100 %",
    ]


@given(st.floats())
def test_every_number_has_a_text(value: float) -> None:
    for format_of in (
        *(formatting.count, formatting.percent, formatting.rate, formatting.figure),
        *(formatting.total, formatting.money_format([value])),
    ):
        text = format_of(value)
        assert text
        assert not {"inf", "nan"} & set(text.lower().split())


def test_numbers_that_are_not_finite_are_written_as_signs() -> None:
    assert [formatting.rate(value) for value in (math.inf, -math.inf, math.nan)] == ["∞", "-∞", "–"]
    assert formatting.percent(math.inf) == formatting.percent(1e308) == "∞ %"
    assert (formatting.total(math.inf), formatting.figure(math.inf)) == ("∞", "∞")
    assert formatting.plural(math.inf, "arrival") == "∞ arrivals"
    assert formatting.money_format([math.inf])(math.inf) == "∞"
