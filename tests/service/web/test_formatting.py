"""Formatting of money and shares."""

from __future__ import annotations

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
