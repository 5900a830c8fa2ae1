"""Agents on fresh campaigns in every kind of store, and comparisons of their state."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest

from almoner import Agent, AlmonerError, StoreError
from almoner.kernels.state import State
from almoner.live.reports.reporter import Reporter
from almoner.live.state.campaign_state import Campaign
from almoner.store import Store, Writer, open_store
from almoner.store.sql_logs import run
from support.postgres_server import fresh_database, postgres_url

STORES = ("memory", "sqlite", "postgres")

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"mail": 1.0, "coupon": 5.0},
    "horizon": 40,
    "budget": 60.0,
    "seed": 1,
}
"""A budget so large that, before any reward, the policy always takes the cheap action."""

_NUMBERS = itertools.count()


class AgentFactory:
    """Opens agents on one new campaign in a store of some kind, and closes them all at the end."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.name = kind, f"campaign-{next(_NUMBERS)}"
        self.url: str | Store
        if kind == "memory":
            self.url = open_store("memory:")
        elif kind == "sqlite":
            self.url = f"sqlite:///{folder / 'campaigns.db'}"
        else:
            self.url = _database()
        self._opened: list[Agent | Store] = []

    def open(self, **terms: Any) -> Agent:
        """Create or resume the campaign; agents share nothing but the store."""
        agent = Agent.open(self.url, **{"name": self.name, **terms})
        self._opened.append(agent)
        return agent

    def create(self, **terms: Any) -> Agent:
        """Create the campaign on `TERMS`, some of them replaced."""
        return self.open(**{**TERMS, **terms})

    def store(self) -> Store:
        """Open the store without an agent; a memory store exists once."""
        if not isinstance(self.url, str):
            return self.url
        store = open_store(self.url)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Close all agents and stores."""
        for opened in self._opened:
            opened.close()


class FailingTransactions:
    """Makes the next ``left`` transactions of a store fail just before their commit."""

    def __init__(self, store: Store) -> None:
        self.left = 0
        begin = store.writing

        @contextmanager
        def writing(name: str) -> Iterator[Writer]:
            with begin(name) as writer:
                yield writer
                if self.left > 0:
                    self.left -= 1
                    raise StoreError("the disk is full")

        store.writing = writing  # type: ignore[method-assign]


@contextmanager
def agent_factory(kind: str) -> Iterator[AgentFactory]:
    """Yield a factory in a temporary folder, for tests that cannot take the fixture."""
    with TemporaryDirectory(prefix="almoner-") as folder:
        factory = AgentFactory(kind, Path(folder))
        try:
            yield factory
        finally:
            factory.close()


@pytest.fixture(params=STORES)
def factory(request: pytest.FixtureRequest) -> Iterator[AgentFactory]:
    """Yield a factory for each kind of store."""
    with agent_factory(request.param) as fresh:
        yield fresh


@pytest.fixture
def memory() -> Iterator[AgentFactory]:
    """Yield a factory in memory, for behaviour that does not depend on the store."""
    with agent_factory("memory") as fresh:
        yield fresh


@pytest.fixture
def postgres_database() -> str:
    """Return the URL of an empty PostgreSQL database of its own."""
    return fresh_database(postgres_url())


@functools.cache
def _database() -> str:
    """Return one database for all tests: campaigns have unique names, and creation is slow.

    Ids of decisions begin at 1 in each of them, as if it were the first of its store.
    """
    url = fresh_database(postgres_url())
    open_store(url).close()
    with psycopg.connect(url) as connection:
        connection.execute(
            """
            CREATE FUNCTION number_from_one() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN NEW.first_id := 0; RETURN NEW; END $$
            """
        )
        connection.execute(
            "CREATE TRIGGER number_from_one BEFORE INSERT ON almoner_campaigns "
            "FOR EACH ROW EXECUTE FUNCTION number_from_one()"
        )
    return url


def use(agent: Agent, seed: int) -> None:
    """Decide for forty arrivals, and settle, reward or cancel the actions."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(40):
        taken = agent.decide(draw.choice(["new", "returning"]))
        if taken.action is None:
            continue
        if draw.random() < 0.3:
            agent.cancel(taken.id)
            continue
        agent.settle(taken.id, cost=draw.choice([0.5, 2.0]))
        agent.reward(taken.id, draw.random())


def rewind(factory: AgentFactory, last: int) -> None:
    """Delete the events after ``last``, as restoring an old copy of the store would."""
    store = factory.store()
    database = getattr(store, "_database", None)
    if database is None:
        with store.writing(factory.name) as writer:
            writer.undo(last, writer.saved, writer.committed[2])  # type: ignore[attr-defined]
        return
    with database.transaction() as transaction:
        run(transaction, "DELETE FROM almoner_events WHERE seq > ?", last)


def state_values(state: State) -> dict[str, Any]:
    """Return the learned arrays as lists, for comparisons."""
    return {name: values.tolist() for name, values in state._asdict().items()}


def observable_state(agent: Agent) -> dict[str, Any]:
    """Return everything that a request can change: ledger, learned state, names and log."""
    return {**agent.look(Campaign.to_dict), "log": list(agent.events())}


def replayed_state(agent: Agent) -> dict[str, Any]:
    """Return the same as `observable_state`, from a fold of the log into a new campaign."""
    return {**replay(agent), "log": list(agent.events())}


def replay(agent: Agent) -> dict[str, Any]:
    """Fold an agent's log into a new campaign, and return it as a dictionary."""
    campaign = Campaign(agent.opening_terms)
    campaign.apply(agent.events())
    return campaign.to_dict()


def assert_reports_are_of_the_log(agent: Agent) -> None:
    """Assert that a new process reports the same from the snapshot and from the whole log."""
    now = agent.now()

    def results() -> list[Any]:
        reporter = Reporter(agent.store, agent.name, agent.opening_terms, lambda: now)
        return [reporter.report(), reporter.curve(), reporter.final_report()]

    from_snapshot = results()
    with agent.store.writing(agent.name) as writer:
        saved = writer.snapshot()
        writer.save_snapshot(None)
    assert repr(results()) == repr(from_snapshot)
    with agent.store.writing(agent.name) as writer:
        writer.save_snapshot(saved)


@contextmanager
def refused(agent: Agent, error: type[AlmonerError], match: str | None = None) -> Iterator[None]:
    """Expect an error with a one-sentence message, and no change of state."""
    before = observable_state(agent)
    with pytest.raises(error, match=match) as raised:
        yield
    assert_sentence(raised.value)
    assert observable_state(agent) == before


def assert_sentence(error: BaseException) -> None:
    """Assert that an error is the package's own, with a message of one sentence."""
    text = str(error)
    assert isinstance(error, AlmonerError)
    assert text == text.strip() != ""
    assert "\n" not in text
    assert len(text) < 500
