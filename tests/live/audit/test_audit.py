"""An audit accepts what the agent writes, and finds every kind of tampering."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.clock import Clock

import almoner as al
from almoner.cli import main
from almoner.errors import BrokenLedger, UnknownCampaign
from almoner.live.audit import audit
from almoner.live.state.snapshot import VERSION
from almoner.live.transactions import catch_up
from almoner.store import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a skip, a settled, a rewarded, a cancelled, an overrun and a held action."""
    path = tmp_path / "shop.db"
    with al.Agent.open(
        f"sqlite:///{path}",
        name="spring",
        contexts=["new", "old"],
        actions={"coupon": 5, "call": al.Action(cost=2, reserve=6)},
        horizon=10,
        budget=60,
        seed=3,
    ) as agent:
        ids = [agent.decide("new", available=["call"], key="a").id]  # event 1
        ids.append(agent.decide("old", available=["coupon"]).id)  # 2
        agent.settle(ids[0], cost=9)  # 3, an overrun
        agent.reward(ids[1], 1.0)  # 4
        ids.append(agent.decide("new", available=["call"]).id)  # 5
        agent.cancel(ids[2])  # 6
        agent.decide("new", available=[], key="b")  # 7, a skip
        agent.decide("old", available=["call"])  # 8
    return path


def tamper(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("DROP INDEX IF EXISTS almoner_once")
    connection.execute("DROP INDEX IF EXISTS almoner_keys")
    connection.executescript(statement)
    connection.close()


def change(seq: int, what: str) -> str:
    return f"UPDATE almoner_events SET {what} WHERE seq = {seq};"  # noqa: S608


EMPTY = ", ".join(
    f"{name} = NULL" for name in ("probability", "price", "reason", "key", "available")
)


def verify(url: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["ledger", "verify", url])
    assert result.exit_code == code, result.output
    return result.output


def switched(kind: str) -> str:
    """Event 7, the skip, becomes one about the campaign, and event 8 is not counted."""
    nothing = f"kind = '{kind}', decision = NULL, round = NULL, context = NULL, {EMPTY}"
    return change(7, nothing) + change(8, "round = NULL")


def followed(seq: int, kind: str, decision: int) -> str:
    """An event becomes one about another decision, and repeats all that it should."""
    repeated = "decision, round, context, action, cost, reserve"
    row = f"(SELECT {repeated} FROM almoner_events WHERE seq = {decision})"  # noqa: S608
    return change(seq, f"kind = '{kind}', ({repeated}) = {row}, {EMPTY}")


def test_what_the_agent_writes_is_in_order(path: Path) -> None:
    with al.Agent.open(f"sqlite:///{path}", name="spring") as agent:
        balance = audit(agent.store, "spring")
        ledger = agent.ledger
    assert (balance.events, balance.decisions) == (8, 5)
    assert (balance.spent, balance.reserved, balance.left) == (
        ledger.spent,
        ledger.reserved,
        ledger.left,
    )
    assert balance.spent + balance.reserved + balance.left == balance.budget == 60_000_000
    assert balance.overrun == 3_000_000


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM almoner_events WHERE seq = 4", "event 5 (decided) follows event 3"),
        ("DELETE FROM almoner_events WHERE seq = 1", "event 2 (decided) follows event 0"),
        (change(4, "kind = 'gone'"), "event 4 (gone) is of the unknown kind 'gone'"),
        (change(8, "kind = 'gone'"), "event 8 (gone) is of the unknown kind 'gone'"),
        # decisions
        (change(2, "decision = 9"), "calls itself decision 9"),
        (change(2, "round = 7"), "is arrival 7, where 1 was due"),
        (change(8, "round = NULL"), "is arrival None, where 4 was due"),
        (change(7, "key = 'a'"), "uses the key 'a' again"),
        (change(2, "probability = 0"), "has the probability 0"),
        (change(2, "probability = 'often'"), "cannot be booked on these terms"),
        (change(7, "context = 'lost'"), "is for the undeclared context 'lost'"),
        (change(8, "context = 'lost'"), "is for the undeclared context 'lost'"),
        (change(7, "context = NULL"), "is for the undeclared context None"),
        (change(7, "reserve = 1, cost = 1"), "reserves money for a skip"),
        (change(2, "action = 'gift'"), "takes the unknown action 'gift'"),
        (change(8, "available = '[\"coupon\"]'"), "takes 'call', which was not available"),
        (change(8, "available = '\"call\"'"), '"call" is no list of actions'),
        (change(7, "available = '['"), "event 7 (decided) cannot be booked on these terms"),
        # money that is not what the terms say
        (change(1, "reserve = 1"), "reserves 1 for an expected cost of 2000000, where"),
        (change(8, "reserve = 1, cost = 1, \"left\" = \"left\" + 5999999"),
         "reserves 1 for an expected cost of 1, where the terms say 6000000 for 2000000"),
        (change(8, "reserve = 6500000, \"left\" = \"left\" - 500000"),
         "reserves 6500000 for an expected cost of 2000000, where the terms say 6000000 for"),
        (change(8, "cost = 1"), "reserves 6000000 for an expected cost of 1, where the terms say"),
        (change(4, "\"left\" = 1"), "says that 1 is left"),
        # actions out of time
        (switched("closed"), "event 8 (decided) takes an action while the campaign is closed"),
        (switched("paused"), "event 8 (decided) takes an action while the campaign is paused"),
        (switched("paused") + change(8, "round = 3, action = NULL, cost = NULL, reserve = NULL, "
         "\"left\" = \"left\" + 6000000"), "counts an arrival while the campaign is paused"),
        (switched("closed") + change(8, "kind = 'resumed', decision = NULL"),
         "event 8 (resumed) comes after the campaign was closed for good"),
        ("UPDATE almoner_campaigns SET terms = replace(terms, '\"horizon\": 10', "
         "'\"horizon\": 4')", "event 8 (decided) takes an action in arrival 4, beyond the 4"),
        # outcomes of decisions
        (change(4, "decision = 6"), "speaks of decision 6, which does not exist"),
        (change(3, "decision = 5"), "speaks of decision 5, which does not exist"),
        (change(4, "kind = 'settled', decision = 1, bill = 1"), "second of its kind for decision"),
        (change(4, "kind = 'cancelled', decision = 1"), "comes after decision 1 was settled"),
        (followed(6, "cancelled", 2)
         + "".join(change(seq, "\"left\" = \"left\" - 1000000") for seq in (6, 7, 8)),
         "event 6 (cancelled) comes after decision 2 was rewarded"),
        (followed(7, "rewarded", 5) + change(7, "reward = 1"),
         "event 7 (rewarded) comes after decision 5 was cancelled"),
        (followed(7, "settled", 5) + change(7, "bill = 0, charged = 0"),
         "event 7 (settled) comes after decision 5 was cancelled"),
        (followed(8, "settled", 7)
         + change(8, "bill = 0, charged = 0, \"left\" = \"left\" + 6000000"),
         "speaks of decision 7, a skip, which has no reserve"),
        (change(4, "reward = 1.5"), "has the reward 1.5"),
        (change(3, "charged = 8000000"), "charges 8000000 for a bill"),
        (change(3, "bill = NULL, charged = 0"), "has the bill None"),
        (change(3, "bill = 99000000, charged = 55000000, \"left\" = 0"),
         "event 4 (rewarded) says that"),
        # rows that do not repeat their decision, or say more than they should
        (change(4, "context = 'new'"), "has context 'new', where its decision has 'old'"),
        (change(4, "action = 'call'"), "has action 'call', where its decision has 'coupon'"),
        (change(4, "action = NULL"), "has action None, where its decision has 'coupon'"),
        (change(4, "round = 0"), "has round 0, where its decision has 1"),
        (change(4, "cost = 1"), "has cost 1, where its decision has 5000000"),
        (change(4, "reserve = 9"), "has reserve 9, where its decision has 5000000"),
        (change(3, "context = 'old'"), "event 3 (settled) has context 'old', where its decision"),
        (change(3, "round = 1"), "event 3 (settled) has round 1, where its decision has 0"),
        (change(6, "action = 'coupon'"), "event 6 (cancelled) has action 'coupon', where its"),
        (change(6, "reserve = 1"), "event 6 (cancelled) has reserve 1, where its decision"),
        (change(4, "key = 'z'"), "event 4 (rewarded) must have no key, has 'z'"),
        (change(2, "reward = 1"), "event 2 (decided) must have no reward, has 1.0"),
    ],
)  # fmt: skip
def test_tampering_is_found(path: Path, statement: str, sentence: str) -> None:
    tamper(path, statement)
    result = CliRunner().invoke(main, ["ledger", "verify", f"sqlite:///{path}"])
    assert result.exit_code == 1
    assert "campaign 'spring': event" in result.output
    assert sentence in " ".join(result.output.split())
    assert result.output.count("\n") == 1


def test_how_much_is_sealed_is_said(path: Path) -> None:
    url = f"sqlite:///{path}"
    assert "8 events verified" in verify(url)
    assert "sealed from event 1 on" in verify(url)
    tamper(
        path, "UPDATE almoner_events SET checksum = NULL; UPDATE almoner_heads SET checksum = NULL"
    )
    assert "not sealed, as it was written without checksums" in verify(url)
    with al.Agent.open(url, name="spring") as agent:
        agent.decide("new", available=[])
    assert "sealed from event 9 on, as those before were written without" in verify(url)


@pytest.mark.parametrize(
    "what",
    [
        "reward = 0.5", "price = 0.5", "probability = 0.5", "at = at + 1", "key = 'z'",
        "reason = 'horizon'",
    ],
)  # fmt: skip
def test_what_books_cannot_know_is_found_by_checksums(path: Path, what: str) -> None:
    seq = 4 if "reward" in what else 7
    tamper(path, change(seq, what))
    output = verify(f"sqlite:///{path}", code=1)
    assert f"event {seq} does not follow from event {seq - 1}: something in them was" in output
    assert output.count("\n") == 1


def test_a_last_event_that_was_removed_is_found(path: Path) -> None:
    tamper(path, "DELETE FROM almoner_events WHERE seq = 8")
    output = verify(f"sqlite:///{path}", code=1)
    assert "the last one written was event 8, but the log ends after event 7" in output


@pytest.mark.slow
def test_memory_does_not_grow_with_the_objects_of_a_log(tmp_path: Path) -> None:
    """Of every event a few bytes are kept, in arrays."""
    with al.Agent.open(
        f"sqlite:///{tmp_path / 'shop.db'}",
        name="spring",
        contexts=["new"],
        actions={"coupon": 5},
        horizon=99_999,
        budget=60,
        seed=1,
    ) as agent:
        peaks = []
        for count in (4_000, 40_000):
            agent.decide_many(["new"] * count, keys=[f"{count} {key}" for key in range(count)])
            tracemalloc.start()
            audit(agent.store, "spring")
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < 40_000 * 60  # an Event with its values takes some 400


def test_a_snapshot_that_disagrees_with_the_log_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "SNAPSHOT_EVERY", 2)
    terms: dict[str, Any] = {
        "contexts": ["new"],
        "actions": {"coupon": 5},
        "horizon": 9,
        "budget": 60,
        "seed": 1,
    }
    with al.Agent.open(f"sqlite:///{tmp_path / 'one.db'}", name="spring", **terms) as agent:
        agent.reward(agent.decide("new").id, 1.0)
        audit(agent.store, "spring")
        with agent.store.writing("spring") as writer:
            honest = writer.snapshot()
    with al.Agent.open(f"sqlite:///{tmp_path / 'two.db'}", name="spring", **terms) as agent:
        agent.reward(agent.decide("new").id, 0.0)
        with agent.store.writing("spring") as writer:
            writer.save_snapshot(honest)
        with pytest.raises(BrokenLedger, match="snapshot after event 2 is not what the log says"):
            audit(agent.store, "spring")


@pytest.mark.parametrize("left", [5, 0])
@pytest.mark.parametrize("version", [VERSION, VERSION + 1])
def test_a_log_that_ends_before_its_snapshot_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int, version: int
) -> None:
    """A snapshot of another version cannot be restored, but says how far the log had come."""
    monkeypatch.setattr(catch_up, "SNAPSHOT_EVERY", 30)
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with al.Agent.open(
        url, name="spring", contexts=["new"], actions={"coupon": 5}, horizon=99, budget=60, seed=1
    ) as agent:
        agent.decide_many(["new"] * 30)
        assert audit(agent.store, "spring").events == 30
        with agent.store.writing("spring") as writer:
            snapshot = json.loads(writer.snapshot() or "")
            writer.save_snapshot(json.dumps({**snapshot, "version": version}))
    tamper(tmp_path / "shop.db", f"DELETE FROM almoner_events WHERE seq > {left}")  # noqa: S608
    result = CliRunner().invoke(main, ["ledger", "verify", url])
    assert result.exit_code == 1
    assert "events are missing: a snapshot was taken after event 30" in result.output
    assert f"the log ends after event {left}" in result.output


def test_an_action_after_the_closing_time_is_found() -> None:
    clock = Clock(0.0)
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=["new"],
        actions={"coupon": 5},
        horizon=al.ClosingTime(at=datetime(1970, 1, 1, 0, 1, tzinfo=UTC), arrivals=9),
        budget=60,
        seed=1,
        clock=clock,
    )
    decisions = []
    for clock.now in (1.0, 59.0, 60.0):
        decisions.append(agent.decide("new"))
    assert [decision.action for decision in decisions] == ["coupon", "coupon", None]
    assert audit(agent.store, "spring").decisions == 3
    late = [event._replace(at=60_000_000) for event in agent.events()]
    copy = open_store("memory:")
    copy.create("spring", agent.store.terms("spring") or "")
    with copy.writing("spring") as writer:
        writer.append(late)
    with pytest.raises(BrokenLedger, match=r"event 1 .* takes an action after 1970-01-01T00:01"):
        audit(copy, "spring")


def test_contexts_that_were_not_declared_are_in_order_where_the_terms_allow_them() -> None:
    with al.Agent.open(
        "memory:",
        name="spring",
        contexts=["new"],
        actions={"coupon": 5},
        horizon=9,
        budget=60,
        new_contexts=True,
        seed=1,
    ) as agent:
        agent.reward(agent.decide("other").id, 1.0)
        assert audit(agent.store, "spring").events == 2


def test_what_is_done_of_a_campaign_that_is_paused_and_closed_is_in_order(path: Path) -> None:
    with al.Agent.open(f"sqlite:///{path}", name="spring") as agent:
        agent.pause()
        agent.decide("new")
        agent.resume()
        held = agent.decide("old", available=["coupon"])
        agent.end()
        agent.settle(held.id, cost=1)
        agent.reward(held.id, 1.0)
        agent.decide("new")
        assert audit(agent.store, "spring").events == 16


def test_a_campaign_that_does_not_exist_is_refused() -> None:
    store = al.Agent.open(
        "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=60
    ).store
    with pytest.raises(UnknownCampaign, match="there is no campaign 'autumn'"):
        audit(store, "autumn")
