"""Long random sequences of money operations against exact fractions, in coarse and fine units."""

from __future__ import annotations

import logging
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from almoner import Action, Agent
from almoner.live.audit import audit
from almoner.live.costs.ledger import Ledger, release, reserve, settle
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle
from almoner.money import Denomination, denomination

UNITS = ["0.01", "1e-6", "1e-9", "0.25", "3"]
STEPS = 25_000
BATCHES, BATCH = 120, 40


class Bill(NamedTuple):
    """An amount as passed by a caller, and its exact value."""

    amount: Any
    exact: Fraction


def draw_bill(rng: random.Random, reserve: Fraction) -> Bill:
    """Draw a bill about a reserve: below or above, of many digits, as text, decimal or float."""
    share = rng.choice([0, 1, 1, rng.random(), 2 * rng.random(), 30 * rng.random()])
    about = reserve * Fraction(share)
    kind = rng.choice(["text", "decimal", "whole", "float"])
    if kind == "whole":
        return Bill(math.ceil(about), Fraction(math.ceil(about)))
    if kind == "float":
        amount = short_float(rng, float(about))
        return Bill(amount, Fraction(repr(amount)))
    text = f"{float(about):.{rng.randint(0, 12)}f}"
    return Bill(text if kind == "text" else Decimal(text), Fraction(text))


def short_float(rng: random.Random, about: float) -> float:
    """Return a float of at most 16 digits: more are rejected as results of arithmetic."""
    while True:
        amount = about * rng.choice([1.0, rng.random()])
        amount = float(f"{amount:.16g}")
        if len(Decimal(repr(amount)).as_tuple().digits) <= 16:
            return amount


def test_a_bill_is_never_less_than_was_asked() -> None:
    rng = random.Random(1)  # noqa: S311
    for unit in UNITS:
        money = denomination(unit)
        for _ in range(STEPS // 5):
            bill = draw_bill(rng, Fraction(unit) * rng.randrange(10 ** rng.randint(1, 14)))
            units = money.units_up("cost", bill.amount)
            assert units == math.ceil(bill.exact / Fraction(unit)), (bill, unit)


@pytest.mark.parametrize("unit", UNITS)
def test_a_ledger_adds_up_after_every_operation(unit: str) -> None:
    rng = random.Random(f"ledger {unit}")  # noqa: S311
    money, worth = denomination(unit), Fraction(unit)
    ledger = Ledger(budget=10**12)
    spent = Fraction(0)
    open_reserves: list[dict[str, int]] = []
    for _ in range(STEPS):
        what = rng.choice(
            ["reserve", "reserve", "settle", "release"] if open_reserves else ["reserve"]
        )
        if what == "reserve":
            most = min(ledger.left, rng.choice([10, 10**6, 10**11]))
            amount = rng.randint(0, most)
            open_reserves.append({"reserve": amount, "cost": rng.randint(0, amount)})
            ledger = reserve(ledger, **open_reserves[-1])
            continue
        closed = open_reserves.pop(rng.randrange(len(open_reserves)))
        if what == "release":
            ledger = release(ledger, **closed)
        else:
            bill = draw_bill(rng, closed["reserve"] * worth)
            free = (ledger.left + closed["reserve"]) * worth
            ledger, charged = settle(ledger, **closed, bill=money.units_up("cost", bill.amount))
            assert min(bill.exact, free) <= charged * worth < bill.exact + worth
            spent += charged * worth
        assert ledger.spent * worth == spent <= ledger.budget * worth
        assert ledger.reserved == sum(each["reserve"] for each in open_reserves)
        assert ledger.planned == sum(each["cost"] for each in open_reserves)
        assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
        assert ledger.left >= 0
        if ledger.left < 10:  # nearly all is spent: go on with a fresh budget, the same reserves
            ledger = ledger._replace(budget=ledger.budget + 10**12)


class ExactBalances:
    """Balances of a campaign as fractions, computed from its answers only."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.money: Denomination = agent.terms.unit
        self.worth = Fraction(self.money.top, self.money.bottom)
        self.budget = agent.terms.budget * self.worth
        self.spent = Fraction(0)
        self.open_reserves: dict[int, Fraction] = {}
        self.reserved = Fraction(0)
        self.short = 0  # bills charged in part, for lack of budget

    @property
    def left(self) -> Fraction:
        """Amount neither spent nor reserved."""
        return self.budget - self.spent - self.reserved

    def decide(self, contexts: list[str], available: list[str] | None) -> None:
        """Decide for arrivals, and add their reserves."""
        for decision in self.agent.decide_many(contexts, available):
            reserve = self.exact(decision.reserved)
            assert 0 <= reserve <= self.left
            if decision.action is not None:
                self.open_reserves[decision.id] = reserve
                self.reserved += reserve
            assert decision.budget_left == float(self.left)

    def follow_up(self, rng: random.Random, ids: list[int]) -> None:
        """Settle most of the decisions and cancel the others, in one transaction."""
        bills = {
            decision: draw_bill(rng, self.open_reserves[decision])
            for decision in ids
            if rng.random() < 0.8
        }
        commands: list[Any] = [
            [Settle(decision, bills[decision].amount), Reward(decision, rng.random())]
            if decision in bills
            else [Cancel(decision)]
            for decision in ids
        ]
        for decision, answers in zip(ids, self.agent.ask_all(commands), strict=True):
            assert isinstance(answers, list), answers
            reserve = self.open_reserves.pop(decision)
            self.reserved -= reserve
            bill = Fraction(0)
            if decision in bills:
                bill = math.ceil(bills[decision].exact / self.worth) * self.worth
            charged = min(bill, self.left)
            self.spent += charged
            self.short += charged < bill
            settlement = answers[0]
            assert (settlement.billed, settlement.charged) == (float(bill), float(charged))
            assert settlement.refunded == float(max(Fraction(0), reserve - bill))
            assert settlement.overrun == float(max(Fraction(0), bill - reserve))
            assert settlement.budget_left == float(self.left)

    def exact(self, amount: float) -> Fraction:
        """Return the nearest whole number of units."""
        return round(Fraction(amount) / self.worth) * self.worth

    def check(self) -> None:
        """Compare with the ledger."""
        ledger = self.agent.ledger
        assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
        assert ledger.spent * self.worth == self.spent <= self.budget
        assert ledger.reserved * self.worth == self.reserved
        assert ledger.left * self.worth == self.left >= 0


@pytest.mark.parametrize("unit", UNITS)
def test_a_campaign_adds_up_to_the_last_unit(unit: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "almoner")  # bills above reserves are wanted here
    rng = random.Random(f"campaign {unit}")  # noqa: S311
    small, large = (Decimal(unit) * count for count in (7, 123_457))
    agent = Agent.open(
        "memory:",
        name="spring",
        contexts=["new", "returning"],
        actions={"mail": small, "coupon": Action(cost=large, reserve=3 * large)},
        horizon=BATCHES * BATCH,
        budget=large * BATCHES * BATCH / 8,
        policy="greedy",
        unit=unit,
        seed=4,
    )
    balances = ExactBalances(agent)
    for _ in range(BATCHES):
        available = rng.choice([None, ["coupon"]])  # left to itself, the policy saves
        balances.decide(rng.choices(["new", "returning"], k=BATCH), available)
        balances.check()
        balances.follow_up(
            rng, rng.sample([*balances.open_reserves], len(balances.open_reserves) * 2 // 3)
        )
        balances.check()
    balance = audit(agent.store, "spring")
    assert balance.spent + balance.reserved + balance.left == balance.budget
    assert balance.spent * balances.worth == balances.spent
    assert balances.short > 0
