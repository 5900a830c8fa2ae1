"""Budget arithmetic: money spent, reserved and left always adds up, or it is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almoner import BrokenLedger
from almoner.live.costs.ledger import Ledger, overrun, release, reserve, settle

MONEY = st.integers(0, 20)


def test_a_reserve_is_not_left_and_its_cost_is_planned() -> None:
    ledger = reserve(Ledger(budget=10), reserve=4, cost=1)
    assert ledger == Ledger(budget=10, spent=0, reserved=4, planned=1)
    assert (ledger.left, ledger.committed) == (6, 1)
    ledger = reserve(ledger, reserve=6, cost=6)
    assert (ledger.left, ledger.committed) == (0, 7)
    assert reserve(ledger, reserve=0, cost=0) == ledger  # a skip


@pytest.mark.parametrize(
    ("bill", "charged", "left"), [(0, 0, 7), (3, 3, 4), (4, 4, 3), (7, 7, 0), (8, 7, 0), (99, 7, 0)]
)
def test_a_bill_is_charged_up_to_its_reserve_and_the_money_left(
    bill: int, charged: int, left: int
) -> None:
    """Of 10, 4 and 3 are reserved: the first bill may use its own 4 and the 3 left."""
    ledger = reserve(reserve(Ledger(budget=10), reserve=4, cost=2), reserve=3, cost=3)
    after, bore = settle(ledger, reserve=4, cost=2, bill=bill)
    assert (bore, after.spent, after.reserved, after.planned) == (charged, charged, 3, 3)
    assert after.left == left
    assert overrun(reserve=4, bill=bill) == max(0, bill - 4), "also the part that is not charged"


@pytest.mark.parametrize(("amount", "cost"), [(11, 1), (5, 6), (-1, -1), (5, -1), (-5, 0)])
def test_a_reserve_that_does_not_fit_is_refused(amount: int, cost: int) -> None:
    with pytest.raises(BrokenLedger, match="does not fit the 10 left"):
        reserve(Ledger(budget=10), reserve=amount, cost=cost)


@pytest.mark.parametrize(("amount", "cost"), [(5, 1), (4, 2), (-1, 0), (3, -1)])
def test_a_reserve_that_was_never_made_is_not_released(amount: int, cost: int) -> None:
    ledger = reserve(Ledger(budget=10), reserve=4, cost=1)
    with pytest.raises(BrokenLedger, match="was never made"):
        release(ledger, reserve=amount, cost=cost)
    with pytest.raises(BrokenLedger, match="was never made"):
        settle(ledger, reserve=amount, cost=cost, bill=1)


def test_a_bill_below_nothing_is_an_error() -> None:
    with pytest.raises(BrokenLedger, match="a bill of -1 is below 0"):
        settle(reserve(Ledger(budget=10), reserve=4, cost=1), reserve=4, cost=1, bill=-1)


@given(
    budget=st.integers(0, 50),
    steps=st.lists(st.tuples(st.sampled_from(["reserve", "settle", "release"]), MONEY, MONEY)),
)
def test_it_adds_up_on_every_path(budget: int, steps: list[tuple[str, int, int]]) -> None:
    ledger, reserves = Ledger(budget=budget), []
    for operation, amount, other in steps:
        if operation == "reserve" and max(amount, other) <= ledger.left:
            reserves.append({"reserve": max(amount, other), "cost": min(amount, other)})
            ledger = reserve(ledger, **reserves[-1])
        elif operation == "settle" and reserves:
            ledger, charged = settle(ledger, **reserves.pop(amount % len(reserves)), bill=3 * other)
            assert charged <= 3 * other
        elif operation == "release" and reserves:
            ledger = release(ledger, **reserves.pop(amount % len(reserves)))
        assert ledger.spent + ledger.reserved + ledger.left == budget
        assert min(ledger.spent, ledger.reserved, ledger.left, ledger.planned) >= 0
        assert ledger.reserved == sum(each["reserve"] for each in reserves)
        assert ledger.planned == sum(each["cost"] for each in reserves)
