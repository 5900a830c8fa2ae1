"""Changes of a log without its checksums are found, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.agents import TERMS, AgentFactory, agent_factory

import almoner as al
from almoner.errors import BrokenLedger
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.store.events import Event, EventKind
from almoner.store.hash_chain import COLUMNS, GROUP, are_linked, link, marked, root, trimmed
from almoner.store.sql_logs import run

EVENT = Event(1, "decided", 1_770_000_000_000_000, 5, 1, 0, "Grüße 🌷", "mail", 1, 2, 0.1, 1e-300)


class Log:
    """A campaign with an event of every kind, each written on its own, and a way to change it."""

    def __init__(self, factory: AgentFactory) -> None:
        self.factory, self.name = factory, factory.name
        self.now = 1_770_000_000.0
        actions = {"mail": 1.0, "coupon": 5.0, "call": al.Action(cost=1, expires="1 minute")}
        self.agent = agent = factory.create(actions=actions, clock=lambda: self.now)
        bought = agent.decide("new", available=["coupon"], key="a")
        agent.settle(bought.id, cost=4)
        agent.reward(bought.id, 0.5)
        agent.cancel(agent.decide("new", available=["mail"]).id)
        agent.pause()
        agent.decide("returning", key="b")  # a skip
        agent.resume()
        agent.decide("new", available=["call"])
        agent.amend(budget=61, note="more")
        self.now += 61
        assert agent.ledger.reserved == 0  # which writes the expiry
        agent.end()
        self.last = 12

    def run(self, statement: str, *values: Any) -> list[Any]:
        with self.agent.store._database.transaction() as transaction:  # type: ignore[attr-defined]
            campaign = "(SELECT id FROM almoner_campaigns WHERE name = ?)"
            statement = statement.replace("ours", f"campaign = {campaign}")
            return [*run(transaction, statement, *values)]

    def set(self, seq: int, column: str, value: Any) -> None:
        update = f'UPDATE almoner_events SET "{column}" = ? WHERE ours AND seq = ?'  # noqa: S608
        self.run(update, value, self.name, seq)

    def fault(self) -> str | None:
        """Return the fault in the checksums, and check that an audit reports it."""
        log = self.agent.store.checked_log(self.name)
        for events in log.chunks():
            if [event.seq for event in events] != [*range(1, len(events) + 1)]:
                log.fault = "events are missing"
                break
        if log.fault is None:
            audit(self.agent.store, self.name)
        else:
            with pytest.raises(BrokenLedger, match=f"campaign '{self.name}': "):
                audit(self.agent.store, self.name)
        return log.fault


@pytest.fixture(params=["sqlite", "postgres"])
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    with agent_factory(request.param) as factory:
        yield Log(factory)


def another(column: str, value: Any) -> Any:
    """Return another value that a column may have."""
    if column in ("cost", "charged") and value is not None:
        return value - 1 if value else None
    if column in ("probability", "price", "reward"):
        return value / 2 if value else 0.25
    if column in ("kind", "context", "action", "reason", "key", "available", "detail"):
        return f"{value}x"
    return 1 if value is None else value + 1_000


def test_the_log_has_all_kinds_and_is_in_order(log: Log) -> None:
    assert {event.kind for event in log.agent.events()} == set(EventKind)
    assert log.fault() is None
    assert audit(log.agent.store, log.name).sealed_from == 1


@pytest.mark.slow
@pytest.mark.parametrize("column", Event._fields)
def test_every_column_of_every_event_is_covered(log: Log, column: str) -> None:
    for event in [*log.agent.events()]:
        value = getattr(event, column)
        if column == "seq":
            log.set(event.seq, column, 1_000)
            assert log.fault() is not None
            log.set(1_000, column, value)
            continue
        log.set(event.seq, column, another(column, value))
        assert f"event {event.seq} does not follow from" in (log.fault() or "")
        log.set(event.seq, column, value)
    assert log.fault() is None


def test_values_that_differ_by_one_bit_are_different(log: Log) -> None:
    log.set(3, "reward", 0.5 + 2**-53)
    assert "event 3 does not follow from event 2" in (log.fault() or "")


@pytest.mark.parametrize("seq", [1, 2, 5, 8, 9])
def test_a_row_that_was_removed_is_missed(log: Log, seq: int) -> None:
    log.run("DELETE FROM almoner_events WHERE ours AND seq = ?", log.name, seq)
    assert "events are missing" in (log.fault() or "")


def test_a_removed_end_is_found_after_the_campaign_went_on(log: Log) -> None:
    """The chain goes on from its head, so that to write again does not mend it."""
    log.run("DELETE FROM almoner_events WHERE ours AND seq > ?", log.name, 7)
    agent = log.factory.open()
    agent.decide("new")
    assert "event 8 does not follow from event 7" in (log.fault() or "")


def test_rows_that_changed_places_are_found(log: Log) -> None:
    for before, after in ((6, 100), (8, 6), (100, 8)):
        log.set(before, "seq", after)
    assert "event 6 does not follow from event 5" in (log.fault() or "")


def test_a_row_that_was_added_is_found(log: Log) -> None:
    """Even one that is chained as it should be, if it is not recorded as the last one."""
    (before,) = log.run(
        "SELECT campaign, checksum FROM almoner_events WHERE ours AND seq = 12", log.name
    )
    event = Event(seq=13, kind="resumed", at=1, left=1)
    for checksum, sentence in (
        (None, "event 13 has no checksum, but one before it has"),
        ("", "event 13 has no checksum, but one before it has"),
        ("x" * 32, "event 13 does not follow from event 12"),
        (link(before[1], [event]), "event 13 was added, but not recorded as the last one"),
    ):
        log.run(
            'INSERT INTO almoner_events (campaign, seq, kind, at, "left", checksum) '
            "VALUES (?, 13, 'resumed', 1, 1, ?)",
            before[0],
            checksum,
        )
        assert sentence in (log.fault() or "")
        log.run("DELETE FROM almoner_events WHERE ours AND seq = 13", log.name)


@pytest.mark.parametrize("column", ["name", "terms"])
def test_terms_and_a_name_that_were_changed_are_found(log: Log, column: str) -> None:
    if column == "name":
        log.run("UPDATE almoner_campaigns SET name = 'other' WHERE name = ?", log.name)
        log.name = "other"
    else:
        log.run(
            "UPDATE almoner_campaigns SET terms = replace(terms, ?, ?) WHERE name = ?",
            '"seed": 1',
            '"seed": 2',
            log.name,
        )
    assert "event 1 does not follow from the name and the terms" in (log.fault() or "")


def test_terms_of_a_campaign_without_events_are_covered(log: Log) -> None:
    al.Agent.open(log.agent.store, name=f"{log.name}-new", **TERMS)
    log.name = f"{log.name}-new"
    assert log.fault() is None
    log.run("UPDATE almoner_campaigns SET terms = terms || ' ' WHERE name = ?", log.name)
    assert "its name and its terms are not what was recorded" in (log.fault() or "")


@pytest.mark.parametrize("value", [None, "", "y" * 32, "y"])
@pytest.mark.parametrize("seq", [1, 4, 12])
def test_checksums_that_were_changed_or_removed_are_found(
    log: Log, seq: int, value: str | None
) -> None:
    log.set(seq, "checksum", value)
    assert log.fault() is not None


def test_a_checksum_of_another_type_is_found() -> None:
    """SQLite keeps any type in any column."""
    with agent_factory("sqlite") as factory:
        log = Log(factory)
        for value in (5, b"bytes", 0, b""):
            log.set(4, "checksum", value)
            assert log.fault() is not None


def test_checksums_that_were_removed_up_to_an_event_are_found(log: Log) -> None:
    """As if the log had been written without, up to there."""
    for seq in range(1, 6):
        log.set(seq, "checksum", None)
    assert "event 6 does not follow from the name and the terms" in (log.fault() or "")


def test_a_head_that_was_removed_or_changed_is_found(log: Log) -> None:
    log.run("UPDATE almoner_heads SET checksum = ? WHERE ours", "y" * 32, log.name)
    assert "event 12 is not what was recorded" in (log.fault() or "")
    log.run("UPDATE almoner_heads SET seq = 8 WHERE ours", log.name)
    assert "event 8 is not what was recorded" in (log.fault() or "")
    log.run("DELETE FROM almoner_heads WHERE ours", log.name)
    assert log.fault() == "the record of its last event is missing"
    log.agent.decide("new")  # it goes on, and that does not hide it
    assert log.fault() is not None


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_those_who_write_alternately_keep_one_chain(kind: str) -> None:
    with agent_factory(kind) as factory:
        agents = [factory.create(), factory.open()]
        for number in range(12):
            agents[number % 2].decide_many(["new"] * (1 + 20 * (number % 4)))
        log = factory.store().checked_log(factory.name)
        assert sum(len(events) for events in log.chunks()) == 12 + 20 * 18
        assert (log.fault, log.sealed_from) == (None, 1)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_those_who_write_at_once_keep_one_chain(kind: str) -> None:
    """Each has a connection of its own, and waits for the others between reading and writing."""
    with agent_factory(kind) as factory:
        agents = [factory.create(horizon=9_999, budget=9_999), factory.open(), factory.open()]
        with ThreadPoolExecutor(len(agents)) as pool:
            done = [pool.submit(agent.decide, "new") for agent in agents * 20]
        assert len({one.result().id for one in done}) == 60
        assert audit(factory.store(), factory.name).sealed_from == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_of_events_written_together_the_group_is_named(kind: str) -> None:
    with agent_factory(kind) as factory:
        agent = factory.create(horizon=9_999, budget=9_999)
        agent.decide_many(["new"] * (GROUP + 30))
        with agent.store._database.transaction() as transaction:  # type: ignore[attr-defined]
            run(transaction, "UPDATE almoner_events SET at = at + 1 WHERE seq = 70")
        with pytest.raises(BrokenLedger, match="events 65 to 94 do not follow from event 64"):
            audit(agent.store, factory.name)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_group_without_an_end_is_not_gathered_for_ever(kind: str) -> None:
    with agent_factory(kind) as factory:
        agent = factory.create(horizon=9_999, budget=9_999)
        agent.decide_many(["new"] * 3 * GROUP)
        with agent.store._database.transaction() as transaction:  # type: ignore[attr-defined]
            run(transaction, "UPDATE almoner_events SET checksum = ?", "")
        with pytest.raises(BrokenLedger, match="events 1 to 65 do not follow from the name"):
            audit(agent.store, factory.name)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_read_back_has_the_checksum_of_what_was_written(kind: str) -> None:
    """Values at the edge of their types have the same checksum after a round trip."""
    extreme = [
        EVENT._replace(left=2**62, price=float("inf"), available='["a\\n"]', key="k ? %s\t"),
        EVENT._replace(seq=2, decision=2, price=-0.0, probability=1.0, cost=0, reserve=2**53 + 1),
        EVENT._replace(seq=3, decision=3, price=5e-324, probability=1.0, context="\u0378\ue000'"),
        Event(seq=4, kind="rewarded", at=-1, left=0, decision=1, reward=-0.0),
    ]
    with agent_factory(kind) as factory:
        store = factory.store()
        store.create(factory.name, "the terms")
        for event in extreme:
            with store.writing(factory.name) as writer:
                writer.append([event])
        log = factory.store().checked_log(factory.name)
        assert sum(len(events) for events in log.chunks()) == 4
        assert log.fault is None


def test_checksums_stay_what_they_are() -> None:
    """Logs keep them for years: under every Python, and with columns that are added later."""
    start = root("spring", '{"budget": 5}')
    assert start == "ddcc4477cabcf91ca17ff1ad271002fe"
    assert link(start, [EVENT]) == "49bdfb47c4edd9dc6c00b04c7d5e0b6e"
    assert link(start, [EVENT, EVENT._replace(seq=2)]) == "7872f8b233306c210c6647f4eecd6796"
    assert len(Event._fields) >= COLUMNS
    wider = (*EVENT, *[None] * (COLUMNS - len(EVENT)), None, None)
    assert link(start, [wider]) == link(start, [EVENT])
    assert link(start, [(*wider[:-1], 0)]) != link(start, [EVENT])
    assert marked(start, [EVENT] * (GROUP + 2)) == [
        *[""] * (GROUP - 1),
        link(start, [EVENT] * GROUP),
        "",
        link(link(start, [EVENT] * GROUP), [EVENT] * 2),
    ]


def test_checksums_compared_at_once_are_those_of_each() -> None:
    start = root("spring", "the terms")
    events = [EVENT._replace(seq=seq, price=seq / 7) for seq in range(1, 9)]
    rows = trimmed([(*event, "its checksum") for event in events], len(Event._fields))
    checksums = [link(start, rows[:1])]
    for row in rows[1:]:
        checksums.append(link(checksums[-1], [row]))
    assert are_linked(start, rows, checksums)
    assert are_linked(start, rows[:1], checksums[:1])
    assert not are_linked("0" * 32, rows, checksums)
    for index in range(len(rows)):
        changed = [*rows]
        changed[index] = (*rows[index][:-1], 0.5)
        assert not are_linked(start, changed, checksums)
        right = checksums[index]
        for other in (right.upper(), right[:-1], right + "0", "é" * 32, "é" * 16):
            assert not are_linked(start, rows, [*checksums[:index], other, *checksums[index + 1 :]])
    longer, shorter = checksums[3] + checksums[4][0], checksums[4][1:]
    assert not are_linked(start, rows, [*checksums[:3], longer, shorter, *checksums[5:]])


def test_in_memory_there_are_no_checksums(memory: AgentFactory) -> None:
    agent = memory.create()
    agent.decide("new")
    assert audit(agent.store, memory.name).sealed_from is None
    assert agent.look(Campaign.to_dict)["seq"] == 1
