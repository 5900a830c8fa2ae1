"""Shifts: what a worker does on a campaign until it is told to stop, or killed.

What becomes of a decision follows from its id, so any worker may take it up where another one died,
and say the same of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from threading import Thread
from typing import Any

from almoner import Action, Agent
from almoner.live.commands import Cancel, Reward, Settle
from almoner.live.transaction import Command
from almoner.store.events import CANCELLED, REWARDED, SETTLED
from support.acknowledgements import Journal, Note

NAME = "spring"
CONTEXTS = ("new", "returning", "loyal")
TERMS: dict[str, Any] = {
    "contexts": CONTEXTS,
    "actions": {"mail": 1.0, "coupon": Action(cost=2.5, reserve=4.0)},
    "unit": "0.01",
    "seed": 5,
}
RESERVES = {"mail": 1.0, "coupon": 4.0}

LARGEST_BATCH = 60
KEYS = 200_000
"""Keys to choose from: few enough that workers ask for the same one now and then."""


class Shift:
    """One thread of a worker: decides, and says what became of earlier decisions."""

    def __init__(
        self, agent: Agent, journal: Journal, *, seed: str, count: Callable[[int], bool]
    ) -> None:
        self.agent, self.journal, self.count = agent, journal, count
        self.rng = random.Random(seed)  # noqa: S311
        self.pending: list[Note] = []

    def run(self) -> None:
        """Work until ``count``, told how many decisions were made, says to stop."""
        made = 0
        while self.count(made):
            fresh = self.decide()
            made = len(fresh)
            self.pending += fresh
            self.rng.shuffle(self.pending)
            due = self.rng.randrange(2 * LARGEST_BATCH)
            self.follow_up(self.pending[:due])
            del self.pending[:due]

    def decide(self) -> list[Note]:
        size = self.rng.choice((1, self.rng.randint(1, LARGEST_BATCH)))
        numbers = [self.rng.randrange(KEYS) for _ in range(size)]
        contexts = [CONTEXTS[number % len(CONTEXTS)] for number in numbers]
        keys = [f"visit-{number}" if number % 2 else None for number in numbers]
        if size == 1:
            decisions = [self.agent.decide(contexts[0], key=keys[0])]
        else:
            decisions = self.agent.decide_many(contexts, keys=keys)
        notes = [Note.of(*pair) for pair in zip(decisions, keys, strict=True)]
        self.journal.write(notes)
        return notes

    def follow_up(self, decided: Iterable[Note]) -> None:
        """Settle, reward or cancel, mostly many in a transaction; note what was answered."""
        asked = [pair for note in decided for pair in fate(note)]
        if len(asked) == 1 and isinstance(asked[0][1], Reward):
            self.agent.reward(asked[0][1].id, asked[0][1].value)
        else:
            for answer in self.agent.ask_all([(request,) for _, request in asked]):
                if isinstance(answer, BaseException):
                    raise answer
        self.journal.write(note for note, _ in asked)


def fate(decided: Note) -> list[tuple[Note, Command]]:
    """Return what is to be said of a decision, as the note of it and the request."""
    number = decided.id
    if number % 3 != 0:  # never heard of again
        return []
    if decided.action is not None and number % 5 == 0:
        return [(Note(CANCELLED, number), Cancel(number))]
    said: list[tuple[Note, Command]] = []
    if decided.action is not None:
        bill = RESERVES[decided.action] * (1 + number % 7) / 5  # two in seven exceed the reserve
        said.append((Note(SETTLED, number, amount=bill), Settle(number, bill)))
    value = number % 11 / 10
    return [*said, (Note(REWARDED, number, amount=value), Reward(number, value))]


def in_threads(shifts: list[Shift]) -> None:
    """Run shifts side by side; raise what one of them met."""
    errors: list[BaseException] = []

    def run(shift: Shift) -> None:
        try:
            shift.run()
        except BaseException as error:
            errors.append(error)
            raise

    threads = [Thread(target=run, args=(shift,)) for shift in shifts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
