"""Random workload on one campaign, for workers that may be killed at any moment.

The follow-ups of a decision are a function of its id, so a worker can send those that a killed one
left out, with the same values.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from threading import Thread
from typing import Any

from almoner import Action, Agent, Conflict
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle
from almoner.live.transactions.transaction import Command
from almoner.store.events import AMENDED, CANCELLED, REWARDED, SETTLED
from support.acknowledgements import Acknowledgement, AcknowledgementFile
from support.waiting import wait_until

NAME = "spring"
CONTEXTS = ("new", "returning", "loyal")
TERMS: dict[str, Any] = {
    "contexts": CONTEXTS,
    "actions": {"mail": 1.0, "coupon": Action(cost=2.5, reserve=4.0)},
    "unit": "0.01",
    "seed": 5,
}
ROW_TERMS: dict[str, Any] = {
    **{term: value for term, value in TERMS.items() if term != "contexts"},
    "features": ("age", "visits"),
}
"""The same on rows, with features."""
MAIL_EXPIRES = 2
"""Seconds after which the reserve of a mail is charged."""
WEEK_TERMS: dict[str, Any] = {
    **TERMS,
    "actions": {
        "mail": Action(cost=1.0, expires=f"{MAIL_EXPIRES} seconds", on_expiry="charge"),
        "coupon": Action(cost=2.5, reserve=4.0, expires="1 second"),
    },
    "reward_window": "3 seconds",
}
"""The same with deadlines that pass while workers run, which then amend the campaign too."""
RESERVES = {"mail": 1.0, "coupon": 4.0}

LARGEST_BATCH = 60
KEYS = 200_000
"""Number of keys to draw from: few enough that some are used twice."""


class Workload:
    """One thread of a worker: decides, and follows up earlier decisions."""

    def __init__(
        self, agent: Agent, file: AcknowledgementFile, *, seed: str, count: Callable[[int], bool]
    ) -> None:
        self.agent, self.file, self.count = agent, file, count
        self.rng = random.Random(seed)  # noqa: S311
        self.pending: list[Acknowledgement] = []

    def run(self) -> None:
        """Work until ``count``, called with the number of new decisions, returns false."""
        made = 0
        while self.count(made):
            if self.has_deadlines and self.rng.randrange(10) == 0:
                self.amend()
            fresh = self.decide()
            made = len(fresh)
            self.pending += fresh
            self.rng.shuffle(self.pending)
            due = self.rng.randrange(2 * LARGEST_BATCH)
            self.follow_up(self.pending[:due])
            del self.pending[:due]
        if self.has_deadlines:
            self.follow_up_late()

    def follow_up_late(self) -> None:
        """Follow up the other decisions, all of whose reserves have expired by then."""
        expired = time.monotonic() + MAIL_EXPIRES
        wait_until(lambda: time.monotonic() > expired, "the reserves expire")
        self.follow_up(self.pending)

    def decide(self) -> list[Acknowledgement]:
        """Decide for one arrival or a batch, and record the acknowledgements."""
        size = self.rng.choice((1, self.rng.randint(1, LARGEST_BATCH)))
        numbers = [self.rng.randrange(KEYS) for _ in range(size)]
        keys = [f"visit-{number}" if number % 2 else None for number in numbers]
        arrivals = [arrival(number, on_rows=self.agent.opening_terms.on_rows) for number in numbers]
        if size == 1:
            decisions = [self.agent.decide(**arrivals[0], key=keys[0])]
        else:
            names = {"context": "contexts"}  # of several arrivals; the others keep theirs
            several = {names.get(p, p): [row[p] for row in arrivals] for p in arrivals[0]}
            decisions = self.agent.decide_many(**several, keys=keys)
        acknowledged = [Acknowledgement.of(*pair) for pair in zip(decisions, keys, strict=True)]
        self.file.write(acknowledged)
        return acknowledged

    @property
    def has_deadlines(self) -> bool:
        """Whether reserves expire and windows end."""
        return self.agent.opening_terms.reward_window is not None

    def amend(self) -> None:
        """Set another budget, stop mails or take them again, and record the acknowledgement."""
        number = self.rng.randrange(10**9)
        note, budget = f"change {number}", 50_000 + number % 10**6 / 100
        if number % 2:
            self.agent.amend(budget=budget, stop=["mail"], note=note)
        else:
            self.agent.amend(budget=budget, restart=["mail"], note=note)
        self.file.write([Acknowledgement(AMENDED, number, key=note)])

    def follow_up(self, decided: Iterable[Acknowledgement]) -> None:
        """Settle, reward or cancel, mostly in one transaction, and record the acknowledgements."""
        expected = [pair for decision in decided for pair in follow_ups(decision)]
        if len(expected) == 1 and isinstance(expected[0][1], Reward) and not self.has_deadlines:
            self.agent.reward(expected[0][1].id, expected[0][1].value)
        else:
            answers = self.agent.ask_all([(command,) for _, command in expected])
            expected = [
                pair
                for pair, answer in zip(expected, answers, strict=True)
                if not self.came_too_late(answer)
            ]
        self.file.write(acknowledgement for acknowledgement, _ in expected)

    def came_too_late(self, answer: Any) -> bool:
        """Return whether a follow-up was refused as its deadline had passed; raise other errors."""
        late = isinstance(answer, Conflict) and (
            "window" in str(answer) or "expired" in str(answer)
        )
        if isinstance(answer, BaseException) and not (late and self.has_deadlines):
            raise answer
        return late


def arrival(number: int, *, on_rows: bool) -> dict[str, Any]:
    """Return the arguments of `decide` for an arrival; one in seven has costs of its own."""
    costs = {"mail": number % 50 / 10, "coupon": number % 90 / 10} if number % 7 == 0 else None
    if on_rows:
        features = {"age": float(number % 13), "visits": number % 101 / 10}
        return {"features": features, "costs": costs}
    return {"context": CONTEXTS[number % len(CONTEXTS)], "costs": costs}


def follow_ups(decided: Acknowledgement) -> list[tuple[Acknowledgement, Command]]:
    """Return the commands that follow up a decision, each with its expected acknowledgement."""
    number = decided.id
    if number % 3 != 0:  # two in three are never followed up
        return []
    if decided.action is not None and number % 5 == 0:
        return [(Acknowledgement(CANCELLED, number), Cancel(number))]
    settled: list[tuple[Acknowledgement, Command]] = []
    if decided.action is not None:
        bill = RESERVES[decided.action] * (1 + number % 7) / 5  # two in seven exceed the reserve
        settled.append((Acknowledgement(SETTLED, number, amount=bill), Settle(number, bill)))
    value = number % 11 / 10
    return [*settled, (Acknowledgement(REWARDED, number, amount=value), Reward(number, value))]


def run_in_threads(workloads: list[Workload]) -> None:
    """Run workloads in parallel threads, and raise the first error."""
    errors: list[BaseException] = []

    def run(workload: Workload) -> None:
        try:
            workload.run()
        except BaseException as error:
            errors.append(error)
            raise

    threads = [Thread(target=run, args=(workload,)) for workload in workloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
