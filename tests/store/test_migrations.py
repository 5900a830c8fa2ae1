"""Stores written by older versions open, and go on; a step and its record commit together."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import almoner as al
from almoner.audit import audit
from almoner.errors import StoreError
from almoner.store import open_store
from almoner.store.migrations import MIGRATIONS, migrate

LOGS = Path(__file__).parent / "logs"
OLD_LOGS = sorted(LOGS.glob("*.sql"))


def restored(dump: Path, folder: Path) -> str:
    """A store made from a dump, as the version that wrote it left it."""
    path = folder / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.close()
    return f"sqlite:///{path}"


@pytest.mark.parametrize(
    ("dump", "money", "events", "key"),
    [
        ("version-1", (29_500_000, 44_000_000, 27_500_000), 61, "visit-3"),
        ("version-2", (37_000_000, 16_000_000, 5_000_000), 57, "visit-9"),
    ],
)
def test_a_log_of_an_older_version_opens_and_goes_on(
    dump: str, money: tuple[int, int, int], events: int, key: str, tmp_path: Path
) -> None:
    url = restored(LOGS / f"{dump}.sql", tmp_path)
    with al.Agent.open(url, name="spring") as agent:
        ledger = agent.ledger
        assert (ledger.spent, ledger.reserved, ledger.planned) == money
        assert agent.look(lambda campaign: campaign.seq) == events
        (first,) = [event for event in agent.events() if event.key == key]
        again = agent.decide(first.context or "", key=key)
        assert again.id == first.seq  # the key is remembered
        assert audit(agent.store, "spring").sealed_from is None
        assert agent.decide("returning").id == events + 1
        found = audit(agent.store, "spring")
        assert (found.events, found.sealed_from) == (events + 1, events + 1)
        assert agent.store.campaigns() == ["spring", "autumn"]
        autumn = al.Agent.open(agent.store, name="autumn")
        autumn.decide(autumn.terms.contexts[0])
        found = audit(agent.store, "autumn")
        assert found.sealed_from == found.events


def test_every_version_has_a_log_kept() -> None:
    assert [dump.stem for dump in OLD_LOGS] == [
        f"version-{number + 1}" for number in range(len(OLD_LOGS))
    ]
    assert len(OLD_LOGS) == len(MIGRATIONS) - 1


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT max(version) FROM almoner_schema").fetchone()[0])
    finally:
        connection.close()


def test_a_store_is_brought_to_the_newest_version_once(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    for _ in range(2):
        open_store(f"sqlite:///{path}").close()
        assert version(path) == len(MIGRATIONS)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    open_store(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO almoner_schema VALUES (99)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"written by a newer almoner .* upgrade almoner"):
        open_store(f"sqlite:///{path}")


def test_a_step_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "broken.db", isolation_level=None)

    def run(statement: str) -> list[Any]:
        return connection.execute(statement).fetchall()

    steps = (("CREATE TABLE one (a BIGINT)",), ("CREATE TABLE two (a BIGINT)", "NONSENSE"))
    run("BEGIN")
    migrate(run, steps[:1])
    run("COMMIT")
    run("BEGIN")
    with pytest.raises(sqlite3.OperationalError):
        migrate(run, steps)
    run("ROLLBACK")
    assert run("SELECT version FROM almoner_schema") == [(1,)]
    assert run("SELECT name FROM sqlite_master WHERE name = 'two'") == []
    connection.close()
