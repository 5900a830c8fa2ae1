"""Reading changes nothing: no table, no version, no file beside the store, no permission.

The commands under ``almoner ledger`` open stores this way.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from click.testing import CliRunner
from support.agents import TERMS, assert_sentence

import almoner as al
from almoner.cli import main
from almoner.store import open_store
from almoner.store.migrations import MIGRATIONS, refuse_unreadable
from almoner.store.sqlite import SqliteDatabase
from almoner.store.sqlite_connection import open_file

LOGS = Path(__file__).parent / "logs"
NOBODY = 65534


def ledger(command: str, url: str, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["ledger", command, url, *more])
    return result.exit_code, result.output


def reading(url: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Run every command that reads."""
    yield ledger("list", url)
    yield ledger("verify", url)
    yield ledger("export", url, "spring", "--out", str(folder / "out.csv"))


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may enter."""
    with TemporaryDirectory(prefix="almoner-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def url(folder: Path) -> str:
    """A store at rest, with three decisions."""
    url = f"sqlite:///{folder / 'shop.db'}"
    with al.Agent.open(url, name="spring", **TERMS) as agent:
        agent.decide_many(["new"] * 3)
    return url


@contextmanager
def without_rights(folder: Path, files: int = 0o444) -> Iterator[None]:
    """Read the folder as somebody who may do no more, and with its files what their mode says."""
    for file in folder.iterdir():
        file.chmod(files)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    try:
        if root:  # whom no mode keeps from writing
            os.seteuid(NOBODY)
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_a_database_of_others_is_left_alone(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / "other.db")) as other:
        other.execute("CREATE TABLE guests (name TEXT)")
    (folder / "empty.db").touch()
    before = contents(folder)
    for name in ("other.db", "empty.db"):
        for code, output in reading(f"sqlite:///{folder / name}", tmp_path):
            assert code == 2
            assert f"{name}' holds no campaigns of almoner; check the path" in output
            assert output.count("\n") == 1
    assert contents(folder) == before


def test_a_store_is_read_and_left_as_it_was(folder: Path, url: str, tmp_path: Path) -> None:
    before = contents(folder)
    assert list(before) == ["shop.db"]
    for (code, output), text in zip(
        reading(url, tmp_path), ("spring", "3 events verified", "3 decisions"), strict=True
    ):
        assert code == 0, output
        assert text in output
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("dump", "events", "seal"),
    [
        ("version-1", 61, "not sealed, as it was written without checksums"),
        ("version-2", 57, "not sealed, as it was written without checksums"),
        ("version-3", 63, "63 events verified"),
    ],
)
def test_a_store_of_an_older_version_is_read_as_it_is(
    folder: Path, tmp_path: Path, dump: str, events: int, seal: str
) -> None:
    with closing(sqlite3.connect(folder / "old.db")) as old:
        old.executescript((LOGS / f"{dump}.sql").read_text(encoding="utf-8"))
    before = contents(folder)
    for code, output in reading(f"sqlite:///{folder / 'old.db'}", tmp_path):
        assert code == 0, output
    output = ledger("verify", f"sqlite:///{folder / 'old.db'}")[1]
    assert f"{events} events verified" in output
    assert seal in output
    assert contents(folder) == before


def test_versions_that_cannot_be_read_are_refused(folder: Path, url: str) -> None:
    with closing(open_file(str(folder / "shop.db"))) as shop:
        newest = len(MIGRATIONS)
        refuse_unreadable(shop, name="it", find=SqliteDatabase.find, readable=newest)
        with pytest.raises(al.StoreError, match="it was written by an older almoner") as raised:
            refuse_unreadable(shop, name="it", find=SqliteDatabase.find, readable=newest + 1)
        assert_sentence(raised.value)
        shop.execute("INSERT INTO almoner_schema VALUES (99)")
    code, output = ledger("verify", url)
    assert code == 2
    assert "written by a newer almoner" in output


@pytest.mark.parametrize("name", ["a b", "50%20?mode=rw&x#y", "Grüße 🌷"])
def test_any_path_is_read(folder: Path, url: str, name: str) -> None:
    (folder / "shop.db").rename(folder / name)
    assert "3 events" in ledger("verify", f"sqlite:///{folder / name}")[1]
    assert list(contents(folder)) == [name]


def test_who_may_only_read_can_verify(folder: Path, url: str) -> None:
    ledger("verify", url)  # all kernels are compiled by now
    with without_rights(folder):
        assert "3 events verified" in ledger("verify", url)[1]


def test_what_a_running_process_wrote_last_is_read(folder: Path, url: str) -> None:
    with al.Agent.open(url, name="spring") as agent:
        agent.decide("new")
        assert "4 events verified" in ledger("verify", url)[1]
        with without_rights(folder):
            assert "4 events verified" in ledger("verify", url)[1]
        agent.decide("new")
    assert "5 events verified" in ledger("verify", url)[1]
    assert list(contents(folder)) == ["shop.db"]


def test_a_log_that_cannot_be_read_in_its_folder_is_one_sentence(folder: Path, url: str) -> None:
    """A copy with a write-ahead log, but without its index, which SQLite has to make."""
    with al.Agent.open(url, name="spring") as agent, TemporaryDirectory() as name:
        agent.decide("new")
        copy = Path(name)
        for end in ("", "-wal"):
            shutil.copy(f"{folder / 'shop.db'}{end}", copy)
        with without_rights(copy):
            code, output = ledger("verify", f"sqlite:///{copy / 'shop.db'}")
        assert code == 2
        assert "copy both files to a folder of yours" in output
        assert output.count("\n") == 1
        assert "4 events verified" in ledger("verify", f"sqlite:///{copy / 'shop.db'}")[1]


def test_a_file_that_may_not_be_read_is_one_sentence(folder: Path, url: str) -> None:
    with without_rights(folder, files=0):
        code, output = ledger("verify", url)
    assert code == 2
    assert "unable to open database file" in output
    assert output.count("\n") == 1


def test_what_was_read_of_a_file_that_changed_meanwhile_is_refused(url: str) -> None:
    """Nobody had the store open when reading began, so that it was read without locks."""
    with closing(open_store(url, read_only=True)) as store:
        rows = store.events("spring")
        assert next(rows).seq == 1
        with al.Agent.open(url, name="spring") as agent:  # puts its log into the file at its end
            assert [event.seq for event in store.events("spring")] == [1, 2, 3]
            agent.decide("new")
        for read in (lambda: list(rows), store.campaigns, lambda: list(store.events("spring"))):
            with pytest.raises(al.StoreError, match="while it was being read; try again") as raised:
                read()
            assert_sentence(raised.value)
    assert "4 events verified" in ledger("verify", url)[1]


def test_there_is_no_writing(url: str) -> None:
    with closing(open_store(url, read_only=True)) as store:
        with pytest.raises(al.StoreError, match="readonly"):
            store.create("autumn", "{}")
        with store.writing("spring") as writer:
            assert len(writer.events(0)) == 3
        with pytest.raises(al.StoreError, match="readonly"), store.writing("spring") as writer:
            writer.save_snapshot("x")


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for code, output in reading(f"sqlite:///{tmp_path / 'none.db'}", tmp_path):
        assert code == 2
        assert "there is no store" in output
    assert list(tmp_path.iterdir()) == []


def test_on_a_server(tmp_path: Path, postgres_database: str) -> None:
    url = postgres_database
    for code, output in reading(url, tmp_path):
        assert code == 2
        assert "the database holds no campaigns of almoner; check the path" in output
    with psycopg.connect(url) as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'almoner%'"
        assert connection.execute(tables).fetchone() == (0,)
    with al.Agent.open(url, name="spring", **TERMS) as agent:
        agent.decide_many(["new"] * 3)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP TABLE almoner_api_keys, almoner_heads, almoner_persons")
            connection.execute("ALTER TABLE almoner_events DROP COLUMN checksum")
            connection.execute("DELETE FROM almoner_schema WHERE version > 1")
            campaign = "SELECT 1 FROM almoner_campaigns FOR UPDATE"
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(campaign)  # a lock that readers do not wait for
                for code, output in reading(url, tmp_path):
                    assert code == 0, output
            assert connection.execute("SELECT max(version) FROM almoner_schema").fetchone() == (1,)
    with closing(open_store(url, read_only=True)) as store:
        with pytest.raises(al.StoreError, match="read-only transaction"):
            store.create("autumn", "{}")
        with pytest.raises(al.StoreError, match="read-only"), store.writing("spring") as writer:
            writer.save_snapshot("x")
