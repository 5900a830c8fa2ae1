"""Stores written by older versions open, and go on; a step and its record commit together."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from support.agents import TERMS, assert_sentence
from support.postgres_server import fresh_database, postgres_url

import almoner as al
from almoner.errors import BrokenLedger, StoreError
from almoner.live.audit import audit
from almoner.store import open_store
from almoner.store.migrations import MIGRATIONS, migrate
from almoner.store.sqlite import SqliteDatabase

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
        ("version-3", (25_250_000, 48_000_000, 15_000_000), 63, "visit-9"),
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
        sealed_from = 1 if dump == "version-3" else None
        assert audit(agent.store, "spring").sealed_from == sealed_from
        assert agent.decide("returning").id == events + 1
        balance = audit(agent.store, "spring")
        assert (balance.events, balance.sealed_from) == (events + 1, sealed_from or events + 1)
        assert agent.store.campaigns() == ["spring", "autumn"]
        autumn = al.Agent.open(agent.store, name="autumn")
        autumn.decide(autumn.terms.contexts[0])
        balance = audit(agent.store, "autumn")
        assert balance.sealed_from == (sealed_from or balance.events)


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

    def run(statement: str, *values: Any) -> list[Any]:
        return connection.execute(statement, values).fetchall()

    steps = (("CREATE TABLE one (a BIGINT)",), ("CREATE TABLE two (a BIGINT)", "NONSENSE"))
    run("BEGIN")
    migrate(run, find=SqliteDatabase.find, steps=steps[:1])
    run("COMMIT")
    run("BEGIN")
    with pytest.raises(sqlite3.OperationalError):
        migrate(run, find=SqliteDatabase.find, steps=steps)
    run("ROLLBACK")
    assert run("SELECT version FROM almoner_schema") == [(1,)]
    assert run("SELECT name FROM sqlite_master WHERE name = 'two'") == []
    connection.close()


def alter(url: Any, *statements: str) -> None:
    """Run statements on a store, as somebody does who means no good."""
    with closing(
        psycopg.connect(url)
        if url.startswith("postgresql")
        else sqlite3.connect(url.removeprefix("sqlite:///"))
    ) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM almoner_schema WHERE version > 2",
        "UPDATE almoner_schema SET version = -version WHERE version > 1",
        "DELETE FROM almoner_schema",
        "DROP TABLE almoner_schema",
    ],
)
def test_a_store_that_looks_older_than_its_tables_is_refused(
    kind: str, change: str, tmp_path: Path
) -> None:
    """Read as an older one, its checksums would not be checked."""
    url = fresh_database(postgres_url()) if kind == "postgres" else f"sqlite:///{tmp_path / 'a.db'}"
    with al.Agent.open(url, name="spring", **TERMS) as agent:
        agent.decide("new")
    alter(url, change)
    for read_only in (True, False):
        with pytest.raises(BrokenLedger, match="almoner_schema was changed") as raised:
            open_store(url, read_only=read_only)
        assert_sentence(raised.value)


def test_rights_to_the_tables_are_enough_for_a_store_that_is_there(postgres_database: str) -> None:
    """Only the role that makes a store, or brings it up to date, must be able to make tables."""
    url = postgres_database
    al.Agent.open(url, name="spring", **TERMS).close()
    role = f"reader_{uuid4().hex}"
    alter(
        url,
        f"CREATE ROLE {role} LOGIN PASSWORD 'x'",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    )
    theirs = f"{url}{'&' if '?' in url else '?'}user={role}&password=x"
    with al.Agent.open(theirs, name="spring") as agent:
        assert agent.decide("new").id == 1
        assert audit(agent.store, "spring").decisions == 1
