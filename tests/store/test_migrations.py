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
from almoner.store import MissingStore, open_store, postgres
from almoner.store.database import run
from almoner.store.migrations import MIGRATIONS, migrate
from almoner.store.postgres import PostgresDatabase
from almoner.store.sqlite import SqliteDatabase
from almoner.store.sqlite_connection import open_file

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
        ("version-4", (70_500_000, 24_000_000, 7_500_000), 66, "visit-9"),
        ("version-5", (9_750_000, 8_000_000, 8_000_000), 43, "visit-9"),
        ("version-6", (9_000_000, 24_000_000, 7_500_000), 31, "visit-9"),
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
        sealed_from = 1 if dump >= "version-3" else None
        assert audit(agent.store, "spring").sealed_from == sealed_from
        assert agent.decide("returning").id == events + 1
        balance = audit(agent.store, "spring")
        assert (balance.events, balance.sealed_from) == (events + 1, sealed_from or events + 1)
        assert agent.store.campaigns() == ["spring", "autumn"]
        autumn = al.Agent.open(agent.store, name="autumn")
        autumn.decide(autumn.terms.contexts[0])
        balance = audit(agent.store, "autumn")
        assert balance.sealed_from == (sealed_from or balance.events)


@pytest.mark.parametrize("dump", OLD_LOGS, ids=lambda path: str(path.stem))
@pytest.mark.parametrize("policy", ["thrifty", al.thrifty(), None], ids=["name", "policy", "none"])
def test_a_log_of_the_former_default_goes_on_with_its_rule(
    dump: Path, policy: Any, tmp_path: Path
) -> None:
    """A program that says ``thrifty`` resumes it, and nothing is borrowed between contexts."""
    with al.Agent.open(restored(dump, tmp_path), name="spring", policy=policy) as agent:
        assert agent.terms.policy == al.wilson_eager()
        agent.reward(agent.decide("returning", available=["coupon"]).id, 1.0)
        report = agent.report()
        assert report.policy == "wilson_eager"
        pairs = [pair for context in report.contexts for pair in context.actions]
        assert {pair.borrowed for pair in pairs} == {None}
        audit(agent.store, "spring")  # its snapshot too


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
    steps = (("CREATE TABLE one (a BIGINT)",), ("CREATE TABLE two (a BIGINT)", "NONSENSE"))
    with closing(open_file(str(tmp_path / "broken.db"))) as connection:
        connection.execute("BEGIN")
        migrate(connection, find=SqliteDatabase.find, steps=steps[:1])
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        with pytest.raises(StoreError, match=r"from version 1 .* to 2, .*NONSENSE.* as the owner"):
            migrate(connection, find=SqliteDatabase.find, steps=steps)
        connection.execute("ROLLBACK")
        assert run(connection, "SELECT version FROM almoner_schema") == [(1,)]
        assert run(connection, "SELECT name FROM sqlite_master WHERE name = 'two'") == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_database_of_others_is_left_alone(kind: str, tmp_path: Path) -> None:
    url = fresh_database(postgres_url()) if kind == "postgres" else f"sqlite:///{tmp_path / 'a.db'}"
    alter(url, "CREATE TABLE theirs (a BIGINT)")
    with pytest.raises(MissingStore, match="holds no campaigns of almoner; check the path"):
        open_store(url, create=False)
    with pytest.raises(al.UnknownCampaign, match="holds no campaigns of almoner; check the path"):
        al.Agent.open(url, name="spring")
    with pytest.raises(al.InvalidTerms, match="budget must be at least 0"):
        al.Agent.open(url, name="spring", **{**TERMS, "budget": -1})
    alter(url, "CREATE TABLE almoner_campaigns (a BIGINT)")  # no other table of that name


@pytest.fixture
def old_postgres(postgres_database: str) -> str:
    """A PostgreSQL store as version 6 left it."""
    al.Agent.open(postgres_database, name="spring", **TERMS).close()
    alter(
        postgres_database,
        "DELETE FROM almoner_schema WHERE version = 7",
        "DROP INDEX almoner_once",
        *[str(statement) for statement in MIGRATIONS[3] if "almoner_once ON" in statement],
        "ALTER TABLE almoner_events ADD FOREIGN KEY (campaign) REFERENCES almoner_campaigns (id)",
    )
    return postgres_database


def test_postgres_checks_no_campaign_for_each_event(old_postgres: str) -> None:
    """A campaign with events still cannot be deleted: the record of its last event refers to it."""
    constraints = "SELECT conname FROM pg_constraint WHERE conrelid = 'almoner_events'::regclass"
    query = f"{constraints} AND contype = 'f'"
    with closing(psycopg.connect(old_postgres)) as connection:
        assert len(connection.execute(query).fetchall()) == 1
    with al.Agent.open(old_postgres, name="spring") as agent:
        taken = agent.decide("new")
        agent.settle(taken.id, cost=1)
    with closing(psycopg.connect(old_postgres)) as connection:
        assert connection.execute(query).fetchall() == []
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute("DELETE FROM almoner_campaigns")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_event_follows_a_decision_twice(kind: str, tmp_path: Path) -> None:
    """Whoever writes it: the database refuses a second settlement, and a second event of a seq."""
    url = fresh_database(postgres_url()) if kind == "postgres" else f"sqlite:///{tmp_path / 'a.db'}"
    with al.Agent.open(url, name="spring", **TERMS) as agent:
        agent.settle(agent.decide("new").id, cost=1)
        decided, settled = agent.events()
        for event in (settled._replace(seq=3), decided):
            with pytest.raises(StoreError), agent.store.writing("spring") as writer:
                writer.append([event])
        assert [*agent.events()] == [decided, settled]
        audit(agent.store, "spring")


def test_a_migration_may_take_longer_than_other_statements(
    old_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server sends nothing while it creates an index."""
    monkeypatch.setattr(postgres, "SILENCE", 1.0)
    steps = (*MIGRATIONS[:-1], ("SELECT pg_sleep(3)", *MIGRATIONS[-1]))
    with closing(PostgresDatabase(old_postgres)) as database:
        with database.transaction() as transaction:
            assert migrate(transaction, find=database.find, steps=steps) == 7
        with (
            pytest.raises(StoreError, match="no answer from the server"),
            database.transaction() as transaction,
        ):
            run(transaction, "SELECT pg_sleep(30)")


def test_a_migration_gives_up_soon_where_others_read(
    old_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it waits for the table, nobody else can use that."""
    monkeypatch.setattr(postgres, "MIGRATION_PATIENCE", 1)
    with closing(psycopg.connect(old_postgres)) as reader:
        reader.execute("SELECT count(*) FROM almoner_campaigns")  # the transaction stays open
        with pytest.raises(StoreError, match="while no export or other long read is under way"):
            al.Agent.open(old_postgres, name="spring")
    with al.Agent.open(old_postgres, name="spring") as agent:
        assert agent.decide("new").id == 1


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
