"""Fixed sequence of steps on one store, with the expected answers and the expected log.

The steps run on a memory store first. Seeds and clock are fixed, so any other store must give equal
answers and an equal log: after a crash the log is a prefix that ends with the last acknowledged
step, or with the one after it.
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

import almoner.live.transactions.catch_up
from almoner import Action, Agent, StoreError
from almoner.live.audit import audit
from almoner.store import open_store
from almoner.store.events import Event
from support.workload import CONTEXTS, NAME, TERMS

SNAPSHOT_EVERY = 25
"""Events between snapshots: few, so that faults strike snapshots too."""

ROUNDS = 5
CAMPAIGN_TERMS = {
    **TERMS,
    "actions": {"mail": 1.0, "coupon": Action(cost=2.5, reserve=4.0, expires="9 seconds")},
    "reward_window": "15 seconds",
    "horizon": 48,
    "budget": 32,
}
"""A step takes a second: reserves expire and windows end among the steps."""


class Step(NamedTuple):
    """One call: a method of the agent, or open, close, checkpoint."""

    verb: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012


@dataclass(frozen=True)
class Script:
    """Steps, the answer to each, the length of the log after each, and the log at the end."""

    steps: list[Step]
    answers: list[Any]
    lengths: list[int]
    log: list[Event]


class Session:
    """One process on the store, which performs steps at the times of the script."""

    def __init__(self, url: Any) -> None:
        self.url, self.now = url, 0
        self.agent: Agent | None = None

    def perform(self, number: int, step: Step) -> Any:
        """Perform a step and return its answer as JSON values."""
        self.now = number
        if step.verb in {"open", "close", "checkpoint"}:
            getattr(self, step.verb)()
            return None
        assert self.agent is not None
        return to_json(getattr(self.agent, step.verb)(*step.arguments, **step.options))

    def open(self) -> Agent:
        """Create or resume the campaign."""
        self.agent = Agent.open(
            self.url, name=NAME, clock=lambda: 1.7e9 + self.now, **CAMPAIGN_TERMS
        )
        return self.agent

    def close(self) -> None:
        """Close the campaign's store."""
        if self.agent is not None:
            self.agent.close()

    def checkpoint(self) -> None:
        """Checkpoint SQLite's write-ahead log."""
        if isinstance(self.url, str):
            path = self.url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                try:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                except sqlite3.OperationalError as reason:  # as the agent would report it
                    raise StoreError(str(reason)) from reason


def to_json(answer: Any) -> Any:
    """Return an answer as JSON values."""
    if isinstance(answer, list):
        return [to_json(item) for item in answer]
    return asdict(answer) if is_dataclass(answer) and not isinstance(answer, type) else answer


def make_script() -> Script:
    """Draw the steps and perform them in memory."""
    logging.disable()  # bills above reserves cause warnings
    almoner.live.transactions.catch_up.SNAPSHOT_EVERY = SNAPSHOT_EVERY
    session = Session(open_store("memory:"))
    script = Script([], [], [], [])
    for step in _steps(script, random.Random(12)):  # noqa: S311
        script.steps.append(step)
        script.answers.append(session.perform(len(script.answers), step))
        script.lengths.append(len(list(session.url.events(NAME))))
    script.log.extend(session.url.events(NAME))
    return script


def _steps(script: Script, rng: random.Random) -> Iterator[Step]:
    """Yield steps; follow-ups take the ids of decisions from the answers so far."""
    yield Step("open")
    for number in range(ROUNDS):
        first = len(script.answers)
        yield Step("decide", (rng.choice(CONTEXTS),), {"key": f"visit-{number}"})
        size = rng.randint(2, 12)
        keys = [f"visit-{number}-{i}" for i in range(size)]
        yield Step("decide_many", (rng.choices(CONTEXTS, k=size),), {"keys": keys})
        taken = [each for each in decisions(script.answers[first:]) if each["action"] is not None]
        for decision, bill in zip(taken[:2], (0.4, 1.7), strict=False):  # below, above the reserve
            yield Step("settle", (decision["id"],), {"cost": bill * decision["reserved"]})
        yield Step("reward_many", ({decision["id"]: 0.5 for decision in taken[1:3]},))
        if len(taken) > 3:
            yield Step("cancel", (taken[3]["id"],))
        if number == 0:
            yield Step("amend", (), {"budget": 36, "note": "more"})
        if number == 2:
            yield Step("amend", (), {"add": {"gift": 3.0}, "stop": ["mail"], "horizon": 50})
        if number == 3:
            yield Step("amend", (), {"restart": ["mail"], "costs": {"gift": 2.0}})
        if number == 1:
            yield Step("pause")
            yield Step("decide", (CONTEXTS[0],), {"key": "paused"})
            yield Step("resume")
        if number == 2:
            yield Step("checkpoint")
        if number == 3:
            yield Step("close")
            yield Step("open")
    yield Step("end")
    yield Step("close")


def decisions(answers: list[Any]) -> list[dict[str, Any]]:
    """Return the decisions among answers."""
    values = [v for answer in answers for v in (answer if isinstance(answer, list) else [answer])]
    return [value for value in values if isinstance(value, dict) and "action" in value]


class AnswerFile:
    """File beside the store with one line for each answered step."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, number: int, answer: Any) -> None:
        """Append one answer; it survives a kill of the process."""
        with self.path.open("a") as file:
            file.write(json.dumps([number, answer]) + "\n")

    def read(self) -> list[Any]:
        """Return the answers in the order of the steps."""
        if not self.path.exists():
            return []
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        assert [number for number, _ in lines] == list(range(len(lines)))
        return [answer for _, answer in lines]


def verify(script: Script, url: str, answers: list[Any]) -> None:
    """Open the store after a fault; check its log, keys and next answers against the script."""
    done = len(answers)
    assert answers == json.loads(json.dumps(script.answers[:done])), "an answer differs"
    session = Session(url)
    agent = session.open()
    log = list(agent.events())
    assert log == script.log[: len(log)], "the log differs"
    lengths = [0, *script.lengths]
    assert len(log) in lengths[done : done + 2], f"{len(log)} events after {done} steps"
    audit(agent.store, NAME)
    money = agent.ledger
    assert money.spent + money.reserved + money.left == money.budget
    assert 0 <= money.spent <= money.budget
    assert money.left >= 0
    acknowledged = decisions(answers)
    keyed = {event.seq: event for event in log if event.key}
    again = agent.decide_many(
        [keyed[decision["id"]].context or "" for decision in acknowledged],
        keys=[keyed[decision["id"]].key for decision in acknowledged],
    )
    assert to_json(again) == acknowledged, "a key was answered with another decision"
    for number in range(done, min(done + 2, len(script.steps))):
        if script.steps[number].verb not in {"open", "close"}:
            answer = session.perform(number, script.steps[number])
            assert answer == script.answers[number], f"step {number} was answered otherwise"
            assert len(list(agent.events())) == script.lengths[number]
    session.close()
