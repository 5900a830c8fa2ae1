"""Budget arithmetic: what is spent, what is held, what is left. Whole units, no I/O.

``spent + reserved + left == budget`` and ``left >= 0`` hold by construction: every function here
returns a ledger for which they do, or raises.
"""

from __future__ import annotations

from typing import NamedTuple

from almoner.errors import BrokenLedger

__all__ = ["Ledger", "hold", "release", "settle"]


class Ledger(NamedTuple):
    """A budget in whole units, and what has become of it.

    ``planned`` is what the held actions are expected to cost: policies plan with that, while
    ``reserved``, the most they were said to cost, is what new actions must leave untouched.
    """

    budget: int
    spent: int = 0
    reserved: int = 0
    planned: int = 0

    @property
    def left(self) -> int:
        """What a new action may reserve."""
        return self.budget - self.spent - self.reserved

    @property
    def committed(self) -> int:
        """What is gone, as far as a plan for the rest is concerned."""
        return self.spent + self.planned


def hold(ledger: Ledger, *, reserve: int, cost: int) -> Ledger:
    """Set a reserve aside for an action that is expected to cost ``cost``.

    Examples
    --------
    >>> ledger = hold(Ledger(budget=10), reserve=4, cost=1)
    >>> ledger.left, ledger.committed
    (6, 1)
    """
    budget, spent, reserved, planned = ledger
    if not 0 <= cost <= reserve <= budget - spent - reserved:
        raise BrokenLedger(
            f"a reserve of {reserve} for an expected {cost} does not fit the {ledger.left} left"
        )
    return Ledger(budget, spent, reserved + reserve, planned + cost)


def release(ledger: Ledger, *, reserve: int, cost: int) -> Ledger:
    """Give back what was held for an action."""
    if not (0 <= reserve <= ledger.reserved and 0 <= cost <= ledger.planned):
        raise BrokenLedger(f"a reserve of {reserve} was never held: {ledger.reserved} is")
    budget, spent, reserved, planned = ledger
    return Ledger(budget, spent, reserved - reserve, planned - cost)


def settle(ledger: Ledger, *, reserve: int, cost: int, bill: int) -> tuple[Ledger, int]:
    """Replace a reserve by the bill; return what of the bill was charged too.

    A bill above the reserve is charged as far as money is left, and what others hold is not
    touched: the budget holds even when an action costs more than it was said to.

    Examples
    --------
    >>> ledger = hold(Ledger(budget=10), reserve=4, cost=1)
    >>> settle(ledger, reserve=4, cost=1, bill=3)
    (Ledger(budget=10, spent=3, reserved=0, planned=0), 3)
    >>> settle(ledger, reserve=4, cost=1, bill=12)
    (Ledger(budget=10, spent=10, reserved=0, planned=0), 10)
    """
    if bill < 0:
        raise BrokenLedger(f"a bill of {bill} is below 0")
    freed = release(ledger, reserve=reserve, cost=cost)
    charged = min(bill, freed.left)
    return freed._replace(spent=freed.spent + charged), charged
