"""Money to whole units and back: the exact grid of costs and budget, and a ledger's smallest unit.

Inside the package budgets are integers, so that three actions at 0.1 fit a budget of 0.3 exactly
and no rounding error overspends a budget.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from almoner import checks
from almoner.errors import InvalidInput
from almoner.types import Floats, Ints

__all__ = [
    "Denomination",
    "Grid",
    "Units",
    "amounts",
    "budget_left",
    "decimal_grid",
    "denomination",
    "on_grid",
    "usable_grid",
]

LARGEST = 2**53
"""Integers below this are exact as floats."""

DIGITS = 15
"""Significant digits of a decimal that a float keeps."""

TYPED = 16
"""Largest number of digits of a float that was typed or read; 17 come from arithmetic."""

NOISE = Fraction(1, 10**6)
"""Share of a unit up to which the last digits of a float count as a rounding error."""

DECIMALS = 22
"""Largest power of ten that is exact as a float."""

EXPONENTS = 400
"""Limit of decimal exponents: all floats are within, and larger ones may exhaust memory."""


class Grid(NamedTuple):
    """Costs and a budget in whole multiples of one unit, the fraction ``top / bottom``.

    ``exact`` says that no affordable cost was rounded.
    """

    top: int
    bottom: int
    budget: int
    costs: Ints
    exact: bool = True


def on_grid(budget: float, costs: Floats) -> Grid:
    """Return the coarsest grid on which every cost is whole; the budget is rounded down to it.

    A float stands for the decimal that it prints as. Where the exact grid would be too fine for
    integers, a cost above the budget, which can never be paid, counts as a unit more than the
    budget. Where the other costs alone are too fine, costs are rounded up to a decimal grid of at
    most 10**15 units, so that the budget is still never overspent.

    Examples
    --------
    >>> grid = on_grid(0.3, np.array([[0.1, 0.2]]))
    >>> grid.budget, grid.costs.tolist(), amounts(grid, np.array([1, 3])).tolist()
    (3, [[1, 2]], [0.1, 0.3])
    >>> on_grid(10.0, np.array([[2.5, 2.5]])).budget
    4
    """
    total = _fraction(budget)
    distinct, inverse = np.unique(costs, return_inverse=True)
    exact = [_fraction(cost) for cost in distinct]
    unit, most = _common_unit(exact), math.inf
    if max(total, *exact) / unit >= LARGEST and (paid := [cost for cost in exact if cost <= total]):
        unit = _common_unit(paid)
        if total / unit >= LARGEST:
            unit = _rounded_unit(total, paid)
        most = math.floor(total / unit) + 1
    elif max(exact) / unit >= LARGEST:
        unit = _rounded_unit(max(exact), exact)
    whole = np.array([min(math.ceil(cost / unit), most) for cost in exact], np.int64)
    return Grid(
        top=unit.numerator,
        bottom=unit.denominator,
        budget=math.floor(total / unit),
        costs=whole[inverse].reshape(costs.shape),
        exact=all(cost % unit == 0 for cost in exact if cost <= total),
    )


def usable_grid(horizon: int, budget: float, costs: Floats) -> Grid:
    """Return the grid of a budget, cut to the most that ``horizon`` actions can spend."""
    most = horizon * float(costs.max())  # a float, which may be a unit short
    grid = on_grid(min(budget, most * (1 + 1e-12)), costs)
    return grid._replace(budget=min(grid.budget, horizon * int(grid.costs.max())))


def decimal_grid(budget: float, costs: Floats) -> Grid:
    """Return a decimal grid of many costs; the budget is rounded down to it.

    It is the coarsest power of ten on which every cost is whole, found on the whole array at once,
    where `on_grid` computes a fraction for each. Where it would be too fine for integers, the
    budget is at most 10**15 units, and costs are rounded up to it; they count as 2**52 units at
    most.

    Examples
    --------
    >>> grid = decimal_grid(0.3, np.array([0.1, 0.05]))
    >>> grid.budget, grid.costs.tolist(), grid.bottom, grid.exact
    (30, [10, 5], 100, True)
    """
    largest = max(budget, float(costs.max()))
    for digits in range(DECIMALS + 1):
        scale = 10.0**digits
        if largest * scale >= LARGEST / 2:
            break
        whole = np.rint(costs * scale)
        if np.array_equal(whole / scale, costs):  # both are the float nearest to the decimal
            total = math.floor(_fraction(budget) * 10**digits)
            return Grid(1, 10**digits, total, whole.astype(np.int64))
    reach = budget if budget > 0.0 else largest
    unit = Fraction(10) ** (math.ceil(math.log10(reach)) - DIGITS)
    bounded = np.minimum(costs, float(unit * LARGEST))  # a larger quotient may overflow
    above = np.nextafter(bounded / float(unit), np.inf)  # one may be rounded below a unit
    whole = np.where(costs > 0.0, np.ceil(np.minimum(above, LARGEST / 2)), 0.0).astype(np.int64)
    total = math.floor(_fraction(budget) / unit)
    return Grid(unit.numerator, unit.denominator, total, whole, exact=False)


def _common_unit(costs: list[Fraction]) -> Fraction:
    """Return the largest amount of which every cost is a whole multiple; 1 if all are 0."""
    bottom = math.lcm(*(cost.denominator for cost in costs))
    return Fraction(math.gcd(*(int(cost * bottom) for cost in costs)) or bottom, bottom)


def _rounded_unit(largest: Fraction, costs: list[Fraction]) -> Fraction:
    """Return a decimal unit, times the greatest common divisor of the costs rounded up to it.

    The largest amount is at most 10**15 units, which is below ``LARGEST``.
    """
    unit = Fraction(10) ** (math.ceil(math.log10(largest)) - 15)
    return unit * (math.gcd(*(math.ceil(cost / unit) for cost in costs)) or 1)


class Units(Protocol):
    """A budget in units, and the amount of a unit, the fraction ``top / bottom``."""

    @property
    def top(self) -> int: ...  # noqa: D102
    @property
    def bottom(self) -> int: ...  # noqa: D102
    @property
    def budget(self) -> int: ...  # noqa: D102


def amounts(grid: Units, units: npt.NDArray[Any]) -> Floats:
    """Return whole units as amounts, correctly rounded, so that their order is kept."""
    if grid.top * grid.budget < LARGEST and grid.bottom < LARGEST:
        return units * float(grid.top) / float(grid.bottom)
    exact = [float(Fraction(int(count) * grid.top, grid.bottom)) for count in units.flat]
    return np.array(exact).reshape(units.shape)


def budget_left(budget: float, grid: Units, units: npt.NDArray[Any]) -> Floats:
    """Return the budget left for units left, including the unusable part that the grid cuts off."""
    return amounts(grid, units) + max(0.0, budget - float(amounts(grid, np.array(grid.budget))))


class Denomination(NamedTuple):
    """The smallest unit of a ledger, the fraction ``top / bottom``."""

    top: int
    bottom: int

    def units(
        self,
        name: str,
        amount: Any,
        *,
        above: float | None = None,
        error: type[InvalidInput] = InvalidInput,
    ) -> int:
        """Return an amount of at least 0 in whole units; amounts between two units are refused.

        For amounts accepted here `units_up` returns the same, so a bill of the declared cost equals
        it.
        """
        exact = self._exact(name, amount, above=above, error=error)
        count = math.ceil(exact)
        if exact != count and self._without_noise(amount) != count:
            raise checks.refuse(
                name,
                f"be a whole number of the smallest unit {self}",
                amount,
                "round it, or give the campaign a smaller unit",
                error,
            )
        return self._within_reach(name, count, amount, error)

    def units_up(self, name: str, amount: Any) -> int:
        """Return a bill of at least 0 in whole units, rounded up.

        A float stands for the decimal that it prints as; one that prints with 17 digits, as sums of
        floats do and typed amounts do not, is read without its rounding error.
        """
        if type(amount) is float:  # arrivals on rows have one for every action
            text = repr(amount)
            whole, _, decimals = text.partition(".")
            if len(text) <= TYPED and (whole + decimals).isdecimal():
                count = -(-int(whole + decimals) * self.bottom // (10 ** len(decimals) * self.top))
                return self._within_reach(name, count, amount, InvalidInput)
        exact = self._exact(name, amount, above=None, error=InvalidInput)
        return self._within_reach(name, math.ceil(exact), amount, InvalidInput)

    def amount(self, units: int) -> float:
        """Return whole units as an amount, correctly rounded."""
        return units * self.top / self.bottom

    def amounts(self, *units: int) -> list[float]:
        """Return several numbers of units as amounts."""
        top, bottom = self
        return [count * top / bottom for count in units]

    def __str__(self) -> str:
        return repr(self.top / self.bottom).removesuffix(".0")

    def _exact(
        self, name: str, amount: Any, *, above: float | None, error: type[InvalidInput]
    ) -> Fraction:
        """Return an amount in units, exactly."""
        exact = _amount(name, amount, above=above, error=error) * self.bottom / self.top
        noisy = isinstance(amount, float) and len(_printed(amount).as_tuple().digits) > TYPED
        rounded = self._without_noise(amount) if noisy else None
        return exact if rounded is None else rounded

    def _without_noise(self, amount: Any) -> Fraction | None:
        """Return a float of ``DIGITS`` digits in units; None if rounding to them is not negligible.

        >>> cent = Denomination(1, 100)
        >>> cent._without_noise(0.1 + 0.7), cent._without_noise(0.799999)
        (Fraction(80, 1), Fraction(799999, 10000))
        """
        if not isinstance(amount, float) or amount.is_integer():
            return None
        rounded = Fraction(Decimal(f"{amount:.{DIGITS}g}")) * self.bottom / self.top
        printed = _fraction(amount) * self.bottom / self.top
        return rounded if abs(rounded - printed) <= NOISE else None

    def _within_reach(self, name: str, units: int, amount: Any, error: type[InvalidInput]) -> int:
        if units >= LARGEST:
            rule = f"be below 2**53 of the smallest unit {self}"
            raise checks.refuse(name, rule, amount, "give the campaign a larger unit", error)
        return units


def denomination(unit: Any, *, error: type[InvalidInput] = InvalidInput) -> Denomination:
    """Return the denomination of a smallest unit.

    Examples
    --------
    >>> cent = denomination("0.01")
    >>> cent.units("cost", 0.07), cent.amount(7), cent.units_up("cost", 0.061)
    (7, 0.07, 7)
    >>> 0.1 + 0.2, cent.units("cost", 0.1 + 0.2), cent.units_up("cost", 0.1 + 0.2)
    (0.30000000000000004, 30, 30)
    """
    exact = _amount("unit", unit, above=0, error=error)
    return Denomination(exact.numerator, exact.denominator)


def _amount(name: str, amount: Any, *, above: float | None, error: type[InvalidInput]) -> Fraction:
    """Return a finite amount of at least 0 exactly; a float stands for the decimal it prints as."""
    exact = _as_fraction(name, amount, error)
    if above is not None and exact <= above:
        raise checks.refuse(name, f"be greater than {above:g}", amount, error=error)
    if exact < 0:
        raise checks.refuse(name, "be at least 0", amount, error=error)
    return exact


def _as_fraction(name: str, amount: Any, error: type[InvalidInput]) -> Fraction:
    value = amount
    if isinstance(amount, str):
        try:
            value = Decimal(amount)
        except ArithmeticError:
            raise checks.refuse(name, "be a number", amount, error=error) from None
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    if not isinstance(value, Decimal):
        return _fraction(checks.number(name, value, error=error))
    if not value.is_finite():
        raise checks.refuse(name, "be finite", amount, error=error)
    if value and abs(value.adjusted()) > EXPONENTS:
        rule = f"be 0 or between 1e-{EXPONENTS} and 1e{EXPONENTS}"
        raise checks.refuse(name, rule, amount, "round it", error)
    return Fraction(value)


def _fraction(amount: float) -> Fraction:
    return Fraction(_printed(amount))


def _printed(amount: float) -> Decimal:
    return Decimal(repr(float(amount)))  # a numpy float would print its type too
