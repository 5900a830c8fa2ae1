"""Budget arithmetic: money spent, reserved and left, and overruns, in whole units. No I/O.

``spent + reserved + left == budget`` and ``left >= 0`` hold by construction: every function here
returns a ledger for which they hold, or raises. In a campaign with a risk reserves are shared, and
only ``spent <= budget`` holds (`SharedLedger`).
"""

from __future__ import annotations

from typing import NamedTuple

from almoner.errors import BrokenLedger

__all__ = [
    "Ledger",
    "SharedLedger",
    "new_ledger",
    "overrun",
    "refund",
    "release",
    "reserve",
    "settle",
]


class Ledger(NamedTuple):
    """A budget in whole units, with the parts of it that are spent and reserved.

    ``planned`` is the expected cost of the actions with a reserve, with which policies plan.
    ``reserved`` is the most they may cost, which no other action can use.
    """

    budget: int
    spent: int = 0
    reserved: int = 0
    planned: int = 0

    @property
    def left(self) -> int:
        """The money that a new action may reserve."""
        return self.budget - self.spent - self.reserved

    @property
    def payable(self) -> int:
        """The most that a bill may charge once its own reserve is released."""
        return self.left

    @property
    def committed(self) -> int:
        """The money that policies treat as spent: actual and expected costs."""
        return self.spent + self.planned


class SharedLedger(Ledger):
    """A ledger of a campaign with a risk: its reserves may add up to more than the budget.

    ``left`` is then the money neither spent nor expected to be; ``spent`` still never exceeds the
    budget, as no more is charged.
    """

    __slots__ = ()

    @property
    def left(self) -> int:
        """The money neither spent nor expected to be."""
        return max(0, self.budget - self.spent - self.planned)

    @property
    def payable(self) -> int:
        """The money that is not spent: reserves do not keep it from a bill."""
        return self.budget - self.spent


def new_ledger(budget: int, *, risk: float) -> Ledger:
    """Return the ledger of a new campaign."""
    return SharedLedger(budget) if risk > 0.0 else Ledger(budget)


def reserve(ledger: Ledger, *, reserve: int, cost: int) -> Ledger:
    """Reserve money for an action that is expected to cost ``cost``.

    Examples
    --------
    >>> ledger = reserve(Ledger(budget=10), reserve=4, cost=1)
    >>> ledger.left, ledger.committed
    (6, 1)
    """
    budget, spent, reserved, planned = ledger
    fits = reserve <= budget - spent - reserved or isinstance(ledger, SharedLedger)
    if not (0 <= cost <= reserve and fits):
        raise BrokenLedger(
            f"a reserve of {reserve} for an expected {cost} does not fit the {ledger.left} left"
        )
    # In half the time of ``type(ledger)(…)``, as this is called for every decision.
    return tuple.__new__(type(ledger), (budget, spent, reserved + reserve, planned + cost))


def release(ledger: Ledger, *, reserve: int, cost: int) -> Ledger:
    """Release the reserve of an action."""
    if not (0 <= reserve <= ledger.reserved and 0 <= cost <= ledger.planned):
        raise BrokenLedger(f"a reserve of {reserve} was never made: {ledger.reserved} is reserved")
    budget, spent, reserved, planned = ledger
    return type(ledger)(budget, spent, reserved - reserve, planned - cost)


def settle(ledger: Ledger, *, reserve: int, cost: int, bill: int) -> tuple[Ledger, int]:
    """Replace a reserve by the bill; return the ledger and the part of the bill charged.

    A bill above the reserve is charged as far as money is left, and other reserves are not touched:
    the budget is not exceeded even by an action that costs more than its reserve.

    Examples
    --------
    >>> ledger = reserve(Ledger(budget=10), reserve=4, cost=1)
    >>> settle(ledger, reserve=4, cost=1, bill=3)
    (Ledger(budget=10, spent=3, reserved=0, planned=0), 3)
    >>> settle(ledger, reserve=4, cost=1, bill=12)
    (Ledger(budget=10, spent=10, reserved=0, planned=0), 10)
    """
    if bill < 0:
        raise BrokenLedger(f"a bill of {bill} is below 0")
    freed = release(ledger, reserve=reserve, cost=cost)
    charged = min(bill, freed.payable)
    return freed._replace(spent=freed.spent + charged), charged


def refund(ledger: Ledger, *, amount: int) -> Ledger:
    """Return money that was charged for a bill that is known only now.

    Examples
    --------
    >>> refund(Ledger(budget=10, spent=4), amount=3)
    Ledger(budget=10, spent=1, reserved=0, planned=0)
    """
    if not 0 <= amount <= ledger.spent:
        raise BrokenLedger(f"{amount} cannot be refunded: {ledger.spent} is spent")
    return ledger._replace(spent=ledger.spent - amount)


def overrun(*, reserve: int, bill: int) -> int:
    """Return the part of a bill above its reserve, whether or not it could be charged."""
    return max(0, bill - reserve)
