"""The conformance check of stores names the promise that a broken store breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from almoner.concurrency.process import Process
from almoner.store import Store
from almoner.store.base import ALL
from almoner.store.events import Event
from almoner.store.memory import MemoryStore
from almoner.testing import check_store, concurrent_store_checks
from almoner.testing.store_checks import CHECKS
from almoner.testing.store_opener import Opener


class Wrapped:
    """A reader or a writer some of whose methods are replaced."""

    def __init__(self, inner: Any, **replaced: Any) -> None:
        self._inner = inner
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Writing(MemoryStore):
    """A store whose writers are wrapped."""

    def wrap(self, writer: Any) -> Any:
        raise NotImplementedError

    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:  # type: ignore[override]
        with super().writing(name) as writer:
            yield self.wrap(writer)


class LosesTheLastEvent(Writing):
    def wrap(self, writer: Any) -> Any:
        return Wrapped(writer, append=lambda events: writer.append(events[:-1]))


class RoundsFloats(Writing):
    def wrap(self, writer: Any) -> Any:
        def append(events: Sequence[Event]) -> None:
            writer.append([event._replace(reward=event.reward and 0.3) for event in events])

        return Wrapped(writer, append=append)


class ForgetsKeys(Writing):
    def wrap(self, writer: Any) -> Any:
        return Wrapped(writer, keyed=lambda keys: {})


class KeepsNoSnapshot(Writing):
    def wrap(self, writer: Any) -> Any:
        return Wrapped(writer, save_snapshot=lambda text: None)


class CommitsWhatFailed(MemoryStore):
    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:  # type: ignore[override]
        error = None
        with super().writing(name) as writer:
            try:
                yield writer
            except Exception as reason:
                error = reason
        if error is not None:
            raise error


class LetsEverybodyWrite(MemoryStore):
    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:  # type: ignore[override]
        log = self._log(name)
        yield log
        log.committed = len(log.rows), log.saved, log.persons.version


class ReadersWait(MemoryStore):
    @contextmanager
    def reading(self, name: str) -> Iterator[Any]:
        with super().writing(name) as writer:
            yield writer


class ReadersSeeMore(MemoryStore):
    @contextmanager
    def reading(self, name: str) -> Iterator[Any]:
        log = self._log(name)

        def events(after: int, limit: int = ALL) -> list[Event]:
            return log.rows[after : min(after + limit, log.committed[0])]

        yield Wrapped(log, events=events)


class ReadersSeeTooEarly(MemoryStore):
    @contextmanager
    def reading(self, name: str) -> Iterator[Any]:
        yield self._log(name)


class KnowsEveryCampaign(MemoryStore):
    def last(self, name: str) -> int:
        return super().last(name) if name in self._logs else 0


class ReplacesTerms(MemoryStore):
    def create(self, name: str, terms: str) -> str:
        super().create(name, terms)
        self._logs[name].terms = terms
        return terms


class RevokesAgain(MemoryStore):
    def revoke_key(self, name: str, at: int) -> bool:
        if name in self._keys:
            self._keys[name] = self._keys[name]._replace(revoked=at)
        return name in self._keys


class WorksInAChild(MemoryStore):
    def __init__(self) -> None:
        super().__init__()

        class AnyProcess(Process):
            def check(self) -> None:
                return

        self._process = AnyProcess()


MUTANTS: dict[type[MemoryStore], str] = {
    LosesTheLastEvent: "events: the store does not show a transaction its own events",
    RoundsFloats: "events: the store does not show a transaction its own events",
    ForgetsKeys: "events: the store finds no decisions by key",
    KeepsNoSnapshot: "failed transactions: the store keeps parts of a failed transaction",
    CommitsWhatFailed: "failed transactions: the store keeps parts of a failed transaction",
    LetsEverybodyWrite: "failed transactions: the store keeps parts of a failed transaction",
    ReadersWait: "reading: the store makes a call wait for ever",
    ReadersSeeMore: "reading: the store shows a reader more than one state",
    ReadersSeeTooEarly: "reading: the store shows",
    KnowsEveryCampaign: "unknown campaigns: the store does not refuse",
    ReplacesTerms: "campaigns: the store replaces the terms",
    RevokesAgain: "API keys: the store loses or changes a key",
    WorksInAChild: "forks: the store works on in a forked child",
}


@pytest.mark.parametrize("kind", MUTANTS, ids=lambda kind: kind.__name__)
def test_a_broken_store_is_told_what_it_breaks(
    kind: type[MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind is ReadersWait:  # its check is the first one in which a thread could wait
        monkeypatch.setattr(concurrent_store_checks, "PATIENCE", 0.1)
    store: Store = kind()
    with pytest.raises(AssertionError, match=f"^{MUTANTS[kind]}"):
        check_store(lambda: store)


def check_alone(name: str, open_store: Callable[[], Store]) -> None:
    CHECKS[name](Opener(open_store))


def test_writers_that_do_not_exclude_each_other_are_caught_by_their_check() -> None:
    store = LetsEverybodyWrite()
    with pytest.raises(AssertionError, match="lets two writers write at a time"):
        check_alone("one writer at a time", lambda: store)


def test_keys_that_are_forgotten_are_charged_twice() -> None:
    store = ForgetsKeys()
    with pytest.raises(AssertionError, match="makes two decisions for one key"):
        check_alone("agents", lambda: store)


def test_a_store_that_forgets_when_it_is_closed_is_caught() -> None:
    with pytest.raises(AssertionError, match=r"^events: the store fails: UnknownCampaign"):
        check_store(MemoryStore)
