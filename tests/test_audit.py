"""An audit accepts what the agent writes, and finds every kind of tampering."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import almoner as al
from almoner import agent as agent_module
from almoner.audit import audit
from almoner.cli import main
from almoner.errors import BrokenLedger, UnknownCampaign


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
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_what_the_agent_writes_is_in_order(path: Path) -> None:
    with al.Agent.open(f"sqlite:///{path}", name="spring") as agent:
        found = audit(agent.store, "spring")
        ledger = agent.ledger
    assert (found.events, found.decisions) == (8, 5)
    assert (found.spent, found.reserved, found.left) == (ledger.spent, ledger.reserved, ledger.left)
    assert found.spent + found.reserved + found.left == found.budget == 60_000_000
    assert found.overrun == 3_000_000


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM almoner_events WHERE seq = 4", "event 5 (decided) follows event 3"),
        ("DELETE FROM almoner_events WHERE seq = 1", "event 2 (decided) follows event 0"),
        ("UPDATE almoner_events SET kind = 'gone' WHERE seq = 4", "unknown kind 'gone'"),
        ("UPDATE almoner_events SET decision = 9 WHERE seq = 2", "calls itself decision 9"),
        ("UPDATE almoner_events SET round = 7 WHERE seq = 2", "is arrival 7, where 1 was due"),
        ("UPDATE almoner_events SET key = 'a' WHERE seq = 7", "uses the key 'a' again"),
        ("UPDATE almoner_events SET probability = 0 WHERE seq = 2", "has the probability 0"),
        ("UPDATE almoner_events SET reserve = 1, cost = 1 WHERE seq = 7", "money for a skip"),
        ("UPDATE almoner_events SET action = 'gift' WHERE seq = 2", "unknown action 'gift'"),
        ("UPDATE almoner_events SET reserve = 1 WHERE seq = 1", "holds 1 for an expected cost"),
        ("UPDATE almoner_events SET reserve = 6500000 WHERE seq = 1", "says that 54000000 is left"),
        ("UPDATE almoner_events SET \"left\" = 1 WHERE seq = 4", "says that 1 is left"),
        ("UPDATE almoner_events SET decision = 6 WHERE seq = 4", "decision 6, which does not"),
        ("UPDATE almoner_events SET decision = 5 WHERE seq = 3", "decision 5, which does not"),
        ("UPDATE almoner_events SET kind = 'cancelled', decision = 1, reserve = 6000000, "
         "cost = 2000000 WHERE seq = 4", "comes after decision 1 was settled or cancelled"),
        ("UPDATE almoner_events SET kind = 'settled', decision = 1, bill = 1 WHERE seq = 4",
         "is the second of its kind for decision 1"),
        ("UPDATE almoner_events SET reward = 1.5 WHERE seq = 4", "has the reward 1.5"),
        ("UPDATE almoner_events SET reserve = 1 WHERE seq = 6", "gives back 1, where 6000000 was"),
        ("UPDATE almoner_events SET charged = 8000000 WHERE seq = 3", "charges 8000000 for a bill"),
        ("UPDATE almoner_events SET bill = 99000000, charged = 55000000, \"left\" = 0 "
         "WHERE seq = 3", "event 4 (rewarded) says that"),
    ],
)  # fmt: skip
def test_tampering_is_found(path: Path, statement: str, sentence: str) -> None:
    tamper(path, statement)
    result = CliRunner().invoke(main, ["ledger", "verify", f"sqlite:///{path}"])
    assert result.exit_code == 2
    assert "campaign 'spring': event" in result.output
    assert sentence in " ".join(result.output.split())
    assert result.output.count("\n") == 1


def test_a_snapshot_that_disagrees_with_the_log_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "SNAPSHOT_EVERY", 2)
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


def test_a_campaign_that_does_not_exist_is_refused() -> None:
    store = al.Agent.open(
        "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=60
    ).store
    with pytest.raises(UnknownCampaign, match="there is no campaign 'autumn'"):
        audit(store, "autumn")
