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
from almoner.live.commands import Cancel, Reward, Settle
from almoner.live.ledger import Ledger, hold, release, settle
from almoner.money import Denomination, denomination

UNITS = ["0.01", "1e-6", "1e-9", "0.25", "3"]
STEPS = 25_000
BATCHES, BATCH = 120, 40


class Bill(NamedTuple):
    """An amount as a caller gives it, and what it means exactly."""

    given: Any
    exact: Fraction


def draw_bill(rng: random.Random, reserve: Fraction) -> Bill:
    """Draw a bill about a reserve: below or above, of many digits, as text, decimal or float."""
    share = rng.choice([0, 1, 1, rng.random(), 2 * rng.random(), 30 * rng.random()])
    about = reserve * Fraction(share)
    kind = rng.choice(["text", "decimal", "whole", "float"])
    if kind == "whole":
        return Bill(math.ceil(about), Fraction(math.ceil(about)))
    if kind == "float":
        amount = typed(rng, float(about))
        return Bill(amount, Fraction(repr(amount)))
    text = f"{float(about):.{rng.randint(0, 12)}f}"
    return Bill(text if kind == "text" else Decimal(text), Fraction(text))


def typed(rng: random.Random, about: float) -> float:
    """Return a float that prints with 16 digits at most: more come from arithmetic alone."""
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
            units = money.units_up("cost", bill.given)
            assert units == math.ceil(bill.exact / Fraction(unit)), (bill, unit)


@pytest.mark.parametrize("unit", UNITS)
def test_a_ledger_adds_up_after_every_operation(unit: str) -> None:
    rng = random.Random(f"ledger {unit}")  # noqa: S311
    money, worth = denomination(unit), Fraction(unit)
    ledger = Ledger(budget=10**12)
    spent = Fraction(0)
    held: list[dict[str, int]] = []
    for _ in range(STEPS):
        what = rng.choice(["hold", "hold", "settle", "release"] if held else ["hold"])
        if what == "hold":
            most = min(ledger.left, rng.choice([10, 10**6, 10**11]))
            reserve = rng.randint(0, most)
            held.append({"reserve": reserve, "cost": rng.randint(0, reserve)})
            ledger = hold(ledger, **held[-1])
            continue
        kept = held.pop(rng.randrange(len(held)))
        if what == "release":
            ledger = release(ledger, **kept)
        else:
            bill = draw_bill(rng, kept["reserve"] * worth)
            free = (ledger.left + kept["reserve"]) * worth
            ledger, charged = settle(ledger, **kept, bill=money.units_up("cost", bill.given))
            assert min(bill.exact, free) <= charged * worth < bill.exact + worth
            spent += charged * worth
        assert ledger.spent * worth == spent <= ledger.budget * worth
        assert ledger.reserved == sum(one["reserve"] for one in held)
        assert ledger.planned == sum(one["cost"] for one in held)
        assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
        assert ledger.left >= 0
        if ledger.left < 10:  # nearly all is spent: go on with a fresh budget, the same reserves
            ledger = ledger._replace(budget=ledger.budget + 10**12)


class Books:
    """A campaign's money in fractions, entered from its answers alone."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.money: Denomination = agent.terms.unit
        self.worth = Fraction(self.money.top, self.money.bottom)
        self.budget = agent.terms.budget * self.worth
        self.spent = Fraction(0)
        self.held: dict[int, Fraction] = {}
        self.reserved = Fraction(0)
        self.short = 0  # bills that there was not enough money for

    @property
    def left(self) -> Fraction:
        """What is neither spent nor held."""
        return self.budget - self.spent - self.reserved

    def decide(self, contexts: list[str], available: list[str] | None) -> None:
        """Have arrivals decided, and hold what each of them reserves."""
        for decision in self.agent.decide_many(contexts, available):
            reserve = self.exact(decision.reserved)
            assert 0 <= reserve <= self.left
            if decision.action is not None:
                self.held[decision.id] = reserve
                self.reserved += reserve
            assert decision.budget_left == float(self.left)

    def follow_up(self, rng: random.Random, ids: list[int]) -> None:
        """Settle most of some decisions and cancel the others, in one transaction."""
        bills = {one: draw_bill(rng, self.held[one]) for one in ids if rng.random() < 0.8}
        asked: list[Any] = [
            [Settle(one, bills[one].given), Reward(one, rng.random())]
            if one in bills
            else [Cancel(one)]
            for one in ids
        ]
        for one, answers in zip(ids, self.agent.ask_all(asked), strict=True):
            assert isinstance(answers, list), answers
            reserve = self.held.pop(one)
            self.reserved -= reserve
            bill = Fraction(0)
            if one in bills:
                bill = math.ceil(bills[one].exact / self.worth) * self.worth
            charged = min(bill, self.left)
            self.spent += charged
            self.short += charged < bill
            said = answers[0]
            assert (said.billed, said.charged) == (float(bill), float(charged))
            assert said.refunded == float(max(Fraction(0), reserve - bill))
            assert said.overrun == float(max(Fraction(0), bill - reserve))
            assert said.budget_left == float(self.left)

    def exact(self, amount: float) -> Fraction:
        """Return an amount that is a whole number of units."""
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
    books = Books(agent)
    for _ in range(BATCHES):
        available = rng.choice([None, ["coupon"]])  # left to itself, the policy saves
        books.decide(rng.choices(["new", "returning"], k=BATCH), available)
        books.check()
        books.follow_up(rng, rng.sample([*books.held], len(books.held) * 2 // 3))
        books.check()
    found = audit(agent.store, "spring")
    assert found.spent + found.reserved + found.left == found.budget
    assert found.spent * books.worth == books.spent
    assert books.short > 0
