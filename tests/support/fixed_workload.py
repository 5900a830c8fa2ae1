"""A fixed workload on one store, with the answers and the log that it must lead to.

The same steps run on a store in memory first. Seeds and clock are fixed, so any other store has to
give equal answers and an equal log, whatever interrupts it: after a crash the log is a prefix that
ends with the last acknowledged step, or with the one after it.
"""

from __future__ import annotations

import json
import logging
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import almoner.live.catch_up
from almoner import Agent, StoreError
from almoner.live.audit import audit
from almoner.store import open_store
from almoner.store.events import Event
from support.workload import CONTEXTS, NAME, TERMS

SNAPSHOT_EVERY = 25
"""Events between snapshots: few, so that faults strike those too."""

ROUNDS = 5
AGREED = {**TERMS, "horizon": 48, "budget": 32}


class Step(NamedTuple):
    """One call: a method of the agent, or open, close, checkpoint."""

    verb: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012


@dataclass(frozen=True)
class Plan:
    """Steps, the answer to each, the length of the log after each, and the log at the end."""

    steps: list[Step]
    answers: list[Any]
    lengths: list[int]
    log: list[Event]


class Session:
    """One process at work on the store: performs steps at the times that the plan has for them."""

    def __init__(self, url: Any) -> None:
        self.url, self.now = url, 0
        self.agent: Agent | None = None

    def perform(self, number: int, step: Step) -> Any:
        """Perform a step and return its answer as JSON would have it."""
        self.now = number
        if step.verb in {"open", "close", "checkpoint"}:
            getattr(self, step.verb)()
            return None
        assert self.agent is not None
        return plain(getattr(self.agent, step.verb)(*step.arguments, **step.options))

    def open(self) -> Agent:
        """Create or resume the campaign."""
        self.agent = Agent.open(self.url, name=NAME, clock=lambda: 1.7e9 + self.now, **AGREED)
        return self.agent

    def close(self) -> None:
        """Close the campaign's store."""
        if self.agent is not None:
            self.agent.close()

    def checkpoint(self) -> None:
        """Have SQLite move its log into the file, as far as it can."""
        if isinstance(self.url, str):
            path = self.url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                try:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                except sqlite3.OperationalError as reason:  # as the agent would report it
                    raise StoreError(str(reason)) from reason


def plain(answer: Any) -> Any:
    """Return an answer as values that JSON keeps unchanged."""
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    return asdict(answer) if is_dataclass(answer) and not isinstance(answer, type) else answer


def make_plan() -> Plan:
    """Draw the steps and perform them in memory."""
    logging.disable()  # bills above reserves are warned of
    almoner.live.catch_up.SNAPSHOT_EVERY = SNAPSHOT_EVERY
    session = Session(open_store("memory:"))
    plan = Plan([], [], [], [])
    for step in _steps(plan, random.Random(12)):  # noqa: S311
        plan.steps.append(step)
        plan.answers.append(session.perform(len(plan.answers), step))
        plan.lengths.append(len(list(session.url.events(NAME))))
    plan.log.extend(session.url.events(NAME))
    return plan


def _steps(plan: Plan, rng: random.Random) -> Iterator[Step]:
    """Yield steps; those that follow up a decision look for its id in the answers so far."""
    yield Step("open")
    for turn in range(ROUNDS):
        first = len(plan.answers)
        yield Step("decide", (rng.choice(CONTEXTS),), {"key": f"visit-{turn}"})
        size = rng.randint(2, 12)
        keys = [f"visit-{turn}-{number}" for number in range(size)]
        yield Step("decide_many", (rng.choices(CONTEXTS, k=size),), {"keys": keys})
        decided = [one for one in decisions(plan.answers[first:]) if one["action"] is not None]
        for kept, bill in zip(decided[:2], (0.4, 1.7), strict=False):  # below, above the reserve
            yield Step("settle", (kept["id"],), {"cost": bill * kept["reserved"]})
        yield Step("reward_many", ({one["id"]: 0.5 for one in decided[1:3]},))
        if len(decided) > 3:
            yield Step("cancel", (decided[3]["id"],))
        if turn == 1:
            yield Step("pause")
            yield Step("decide", (CONTEXTS[0],), {"key": "paused"})
            yield Step("resume")
        if turn == 2:
            yield Step("checkpoint")
        if turn == 3:
            yield Step("close")
            yield Step("open")
    yield Step("end")
    yield Step("close")


def decisions(answers: list[Any]) -> list[dict[str, Any]]:
    """Return the decisions among answers."""
    flat = [one for answer in answers for one in (answer if isinstance(answer, list) else [answer])]
    return [one for one in flat if isinstance(one, dict) and "action" in one]


class Acknowledgements:
    """A file beside the store with one line for each step that was answered."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, number: int, answer: Any) -> None:
        """Append one answer; it outlives the process."""
        with self.path.open("a") as file:
            file.write(json.dumps([number, answer]) + "\n")

    def read(self) -> list[Any]:
        """Return the answers in the order of the steps."""
        if not self.path.exists():
            return []
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        assert [number for number, _ in lines] == list(range(len(lines)))
        return [answer for _, answer in lines]


def verify(plan: Plan, url: str, answers: list[Any]) -> None:
    """Open the store after a fault: it has what was acknowledged, and goes on as planned."""
    done = len(answers)
    assert answers == json.loads(json.dumps(plan.answers[:done])), "an answer differs"
    session = Session(url)
    agent = session.open()
    log = list(agent.events())
    assert log == plan.log[: len(log)], "the log differs"
    lengths = [0, *plan.lengths]
    assert len(log) in lengths[done : done + 2], f"{len(log)} events after {done} steps"
    audit(agent.store, NAME)
    money = agent.ledger
    assert money.spent + money.reserved + money.left == money.budget
    assert 0 <= money.spent <= money.budget
    assert money.left >= 0
    known = decisions(answers)
    keyed = {event.seq: event for event in log if event.key}
    again = agent.decide_many(
        [keyed[one["id"]].context or "" for one in known],
        keys=[keyed[one["id"]].key for one in known],
    )
    assert plain(again) == known, "a key was answered with another decision"
    for number in range(done, min(done + 2, len(plan.steps))):
        if plan.steps[number].verb not in {"open", "close"}:
            answer = session.perform(number, plan.steps[number])
            assert answer == plan.answers[number], f"step {number} was answered otherwise"
            assert len(list(agent.events())) == plan.lengths[number]
    session.close()
