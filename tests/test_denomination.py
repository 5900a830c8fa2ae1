"""Amounts in whole units of a denomination, against exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almoner.client.encoding import no_less
from almoner.errors import InvalidInput
from almoner.money import NOISE, Denomination, denomination

UNITS = ["0.000001", "0.01", "0.05", "1", "0.000000001", "1000"]
REACH = 2**53


def printed(amount: float) -> Decimal:
    return Decimal(repr(amount))


def digits(amount: float) -> int:
    return len(printed(amount).as_tuple().digits)


def exact(amount: Any, unit: Denomination) -> Fraction:
    value = printed(amount) if isinstance(amount, float) else amount
    return Fraction(value) * unit.bottom / unit.top


units = st.sampled_from(UNITS).map(denomination)
long_floats = st.builds(
    lambda digits, places: float(Decimal(digits).scaleb(-places)),
    st.integers(10**15, 10**16 - 1),
    st.integers(0, 18),
)
"""Floats that are typed with 16 digits."""


@given(amount=long_floats, unit=units)
@example(amount=1234567890.123454, unit=denomination("0.000001"))  # was 4 units less
@example(amount=1.000000000000001, unit=denomination("0.01"))
@example(amount=4.000000000000001, unit=denomination("0.01"))  # one ulp above 4
@example(amount=123456789.1234561, unit=denomination("0.000001"))
def test_a_bill_of_16_digits_is_never_less_than_was_asked(
    amount: float, unit: Denomination
) -> None:
    asked = exact(amount, unit)
    if asked >= REACH - 1:
        return
    count = unit.units_up("cost", amount)
    if digits(amount) <= 16:
        assert count == math.ceil(asked)
    assert count >= asked - NOISE


@given(amount=st.floats(0, 1e12, allow_subnormal=True), unit=units)
@example(amount=5e-324, unit=denomination("0.01"))
@example(amount=1e-320, unit=denomination("0.01"))
def test_a_bill_of_any_float_is_the_next_unit_but_for_noise(
    amount: float, unit: Denomination
) -> None:
    asked = exact(amount, unit)
    if asked >= REACH - 1:
        return
    count = unit.units_up("cost", amount)
    assert asked - NOISE <= count < asked + 1 + NOISE
    assert count >= asked or digits(amount) == 17


@given(amount=st.decimals(0, 10**8, places=12) | st.fractions(0, 10**8), unit=units)
@example(amount=Decimal("30.0000000000000001"), unit=denomination("0.01"))
@example(amount=Fraction(3 * 10**17 + 1, 10**17), unit=denomination("0.01"))  # a float of it is 3.0
def test_a_bill_that_is_no_float_is_rounded_up_exactly(
    amount: Decimal | Fraction, unit: Denomination
) -> None:
    asked = exact(amount, unit)
    if asked < REACH - 1:
        assert unit.units_up("cost", amount) == math.ceil(asked)


@given(count=st.integers(0, 10**15), unit=units)
def test_units_as_an_amount_and_back(count: int, unit: Denomination) -> None:
    """Up to 15 digits; beyond, one float may be nearest to several counts."""
    amount = unit.amount(count)
    assert unit.units("cost", amount) == unit.units_up("cost", amount) == count
    assert exact(amount, unit) - count <= NOISE


@given(parts=st.lists(st.integers(1, 10**7), min_size=1, max_size=12), unit=units)
def test_what_can_be_declared_is_billed_as_declared(parts: list[int], unit: Denomination) -> None:
    total = sum(unit.amount(part) for part in parts)  # floats, with the noise of their sum
    try:
        declared = unit.units("cost", total)
    except InvalidInput:
        assert exact(total, unit) != sum(parts)
        assert unit.units_up("cost", total) >= sum(parts)
    else:
        assert declared == unit.units_up("cost", total) == sum(parts)


@pytest.mark.parametrize(
    ("amount", "count"),
    [(0.1 + 0.2, 30), (0.1 + 0.7, 80), (1.1 + 2.2, 330), (sum([0.1] * 30), 300), (0.07, 7)],
)
def test_the_noise_of_a_sum_is_no_money(amount: float, count: int) -> None:
    cent = denomination("0.01")
    assert cent.units("cost", amount) == cent.units_up("cost", amount) == count
    assert cent.units("cost", np.float64(amount)) == count


@pytest.mark.parametrize("amount", [0.799999, 0.7999999999, 512.3000000000001, 1e-320, "1e-320"])
def test_a_declared_amount_is_a_whole_number_of_units(amount: Any) -> None:
    sentence = r"cost must be a whole number of the smallest unit 0\.01, got cost=.*; round it, or"
    with pytest.raises(InvalidInput, match=sentence):
        denomination("0.01").units("cost", amount)


@pytest.mark.parametrize(
    ("amount", "sentence"),
    [
        (Decimal("1e30"), "be below 2**53 of the smallest unit 0.01, got cost=Decimal('1E+30'); "),
        ("1e30", "be below 2**53 of the smallest unit 0.01, got cost='1e30'; give the campaign a "),
        (1e30, "be below 2**53 of the smallest unit 0.01, got cost=1e+30; give the campaign a "),
        (10**400, "be below 2**53 of the smallest unit 0.01, got cost=1000000000"),
        ("1e999999999", "be 0 or between 1e-400 and 1e400, got cost='1e999999999'; round it"),
        ("1e-999999999", "be 0 or between 1e-400 and 1e400, got cost='1e-999999999'; round it"),
        (Decimal("-1e-320"), "be at least 0, got cost=Decimal('-1E-320')"),
        (-1e-320, "be at least 0, got cost=-1e-320"),
        ("nan", "be finite, got cost='nan'"),
        (Decimal("-Infinity"), "be finite, got cost=Decimal('-Infinity')"),
        (math.inf, "be finite, got cost=inf"),
        ("five", "be a number, got cost='five'"),
        (True, "be a number, got cost=True"),
        (None, "be a number, got cost=None"),
    ],
)
def test_what_is_wrong_with_an_amount_is_said_as_it_was_given(amount: Any, sentence: str) -> None:
    cent = denomination("0.01")
    for read in (cent.units, cent.units_up):
        with pytest.raises(InvalidInput) as raised:
            read("cost", amount)
        assert str(raised.value).startswith(f"cost must {sentence}")


@pytest.mark.parametrize("unit", ["1", "0.01", "1e-06", "0.123456789", "1e-320"])
def test_a_unit_is_shown_with_all_its_digits(unit: str) -> None:
    assert str(denomination(unit)) == unit


@given(cost=st.decimals(0, 10**9, places=14))
@example(cost=Decimal("1234567890.12345649999"))
def test_the_client_sendsno_less_than_a_decimal(cost: Decimal) -> None:
    sent = no_less(cost)
    assert printed(sent) >= cost
    assert printed(math.nextafter(sent, -math.inf)) < cost or sent == 0
