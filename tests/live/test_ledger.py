"""Budget arithmetic: what is spent, held and left always adds up, or it is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almoner import BrokenLedger
from almoner.live.ledger import Ledger, hold, release, settle

MONEY = st.integers(0, 20)


def test_holding_leaves_the_reserve_untouched_and_plans_with_the_cost() -> None:
    ledger = hold(Ledger(budget=10), reserve=4, cost=1)
    assert ledger == Ledger(budget=10, spent=0, reserved=4, planned=1)
    assert (ledger.left, ledger.committed) == (6, 1)
    ledger = hold(ledger, reserve=6, cost=6)
    assert (ledger.left, ledger.committed) == (0, 7)
    assert hold(ledger, reserve=0, cost=0) == ledger  # a skip


@pytest.mark.parametrize(
    ("bill", "charged", "left"), [(0, 0, 7), (3, 3, 4), (4, 4, 3), (7, 7, 0), (8, 7, 0), (99, 7, 0)]
)
def test_a_bill_takes_its_reserve_and_what_is_left_and_no_more(
    bill: int, charged: int, left: int
) -> None:
    """10 with 4 and 3 held: the first bill may take 4 + 3, the other 3 are not its to take."""
    ledger = hold(hold(Ledger(budget=10), reserve=4, cost=2), reserve=3, cost=3)
    after, bore = settle(ledger, reserve=4, cost=2, bill=bill)
    assert (bore, after.spent, after.reserved, after.planned) == (charged, charged, 3, 3)
    assert after.left == left


@pytest.mark.parametrize(("reserve", "cost"), [(11, 1), (5, 6), (-1, -1), (5, -1), (-5, 0)])
def test_what_does_not_fit_is_not_held(reserve: int, cost: int) -> None:
    with pytest.raises(BrokenLedger, match="does not fit the 10 left"):
        hold(Ledger(budget=10), reserve=reserve, cost=cost)


@pytest.mark.parametrize(("reserve", "cost"), [(5, 1), (4, 2), (-1, 0), (3, -1)])
def test_what_was_never_held_is_not_released(reserve: int, cost: int) -> None:
    ledger = hold(Ledger(budget=10), reserve=4, cost=1)
    with pytest.raises(BrokenLedger, match="was never held"):
        release(ledger, reserve=reserve, cost=cost)
    with pytest.raises(BrokenLedger, match="was never held"):
        settle(ledger, reserve=reserve, cost=cost, bill=1)


def test_a_bill_below_nothing_is_an_error() -> None:
    with pytest.raises(BrokenLedger, match="a bill of -1 is below 0"):
        settle(hold(Ledger(budget=10), reserve=4, cost=1), reserve=4, cost=1, bill=-1)


@given(
    budget=st.integers(0, 50),
    steps=st.lists(st.tuples(st.sampled_from(["hold", "settle", "release"]), MONEY, MONEY)),
)
def test_it_adds_up_on_every_path(budget: int, steps: list[tuple[str, int, int]]) -> None:
    ledger, held = Ledger(budget=budget), []
    for what, amount, other in steps:
        if what == "hold" and max(amount, other) <= ledger.left:
            held.append({"reserve": max(amount, other), "cost": min(amount, other)})
            ledger = hold(ledger, **held[-1])
        elif what == "settle" and held:
            ledger, charged = settle(ledger, **held.pop(amount % len(held)), bill=3 * other)
            assert charged <= 3 * other
        elif what == "release" and held:
            ledger = release(ledger, **held.pop(amount % len(held)))
        assert ledger.spent + ledger.reserved + ledger.left == budget
        assert min(ledger.spent, ledger.reserved, ledger.left, ledger.planned) >= 0
        assert ledger.reserved == sum(one["reserve"] for one in held)
        assert ledger.planned == sum(one["cost"] for one in held)
