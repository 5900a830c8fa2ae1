"""Fresh stores of every kind for the tests of agents, and what can be compared of a campaign."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from almoner import Agent, AlmonerError, StoreError
from almoner.kernels.state import State
from almoner.live.campaign import Campaign
from almoner.store import Store, Writer, open_store
from support.postgres_server import fresh_database, postgres_url

STORES = ("memory", "sqlite", "postgres")

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"mail": 1.0, "coupon": 5.0},
    "horizon": 40,
    "budget": 60.0,
    "seed": 1,
}
"""So much money that the policy never saves: before any reward it always takes the cheap action."""

_NUMBERS = itertools.count()


class Place:
    """A campaign that does not exist yet, in a store of some kind, and all agents opened on it."""

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
        """Create or resume the campaign; every call gives an agent that knows only the store."""
        agent = Agent.open(self.url, **{"name": self.name, **terms})
        self._opened.append(agent)
        return agent

    def create(self, **terms: Any) -> Agent:
        """Create the campaign on `TERMS`, some of them replaced."""
        return self.open(**{**TERMS, **terms})

    def store(self) -> Store:
        """Open the store alone; in memory there is one."""
        if not isinstance(self.url, str):
            return self.url
        store = open_store(self.url)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Close all agents and stores."""
        for one in self._opened:
            one.close()


class Failures:
    """Makes the transactions of a store fail at their end, as often as ``left`` says."""

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
def fresh_place(kind: str) -> Iterator[Place]:
    """Give a place in a folder of its own, for tests that cannot ask for the fixture."""
    with TemporaryDirectory(prefix="almoner-") as folder:
        place = Place(kind, Path(folder))
        try:
            yield place
        finally:
            place.close()


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A place in each kind of store."""
    with fresh_place(request.param) as fresh:
        yield fresh


@pytest.fixture
def memory() -> Iterator[Place]:
    """A place in memory, for what does not depend on the store."""
    with fresh_place("memory") as fresh:
        yield fresh


@functools.cache
def _database() -> str:
    """Return one database for all tests: campaigns do not meet, and it takes time to create."""
    return fresh_database(postgres_url())


def rewind(place: Place, last: int) -> None:
    """Forget the events after one of them, as a server does that is restored from a copy."""
    store = place.store()
    database = getattr(store, "_database", None)
    if database is None:
        with store.writing(place.name) as writer:
            writer.undo(last, writer.saved)  # type: ignore[attr-defined]
        return
    with database.transaction() as transaction:
        transaction.run("DELETE FROM almoner_events WHERE seq > ?", last)


def state_of(state: State) -> dict[str, Any]:
    """Return a copy of all that was learned, for comparisons."""
    return {name: values.tolist() for name, values in state._asdict().items()}


def standing(agent: Agent) -> dict[str, Any]:
    """Return everything that a request could have changed: ledger, state, names and log."""
    return {**agent.look(Campaign.to_dict), "log": list(agent.events())}


def folded(agent: Agent) -> dict[str, Any]:
    """Return the same from a fresh fold of the log."""
    return {**fold(agent), "log": list(agent.events())}


def fold(agent: Agent) -> dict[str, Any]:
    """Return where a fresh campaign is after the log."""
    campaign = Campaign(agent.terms)
    campaign.apply(agent.events())
    return campaign.to_dict()


@contextmanager
def refused(agent: Agent, error: type[AlmonerError], match: str | None = None) -> Iterator[None]:
    """Expect an error of one sentence that changes nothing."""
    before = standing(agent)
    with pytest.raises(error, match=match) as raised:
        yield
    assert_sentence(raised.value)
    assert standing(agent) == before


def assert_sentence(error: BaseException) -> None:
    """Hold an error to being one sentence for a person."""
    text = str(error)
    assert isinstance(error, AlmonerError)
    assert text == text.strip() != ""
    assert "\n" not in text
    assert len(text) < 500
