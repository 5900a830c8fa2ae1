"""The server behind the PostgreSQL tests: where it comes from, and that it goes away."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from support import TESTS, postgres_server
from support.postgres_server import fresh_database, postgres_url


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_a_server_answers_and_is_started_once() -> None:
    assert value(postgres_url(), "select 1") == 1
    assert postgres_url() is postgres_url()


def test_fresh_databases_do_not_meet() -> None:
    first, second = fresh_database(postgres_url()), fresh_database(postgres_url())
    with psycopg.connect(first) as connection:
        connection.execute("create table only_here (x integer)")
    there = "select to_regclass('only_here') is not null"
    assert (value(first, there), value(second, there)) == (True, False)
    assert value(first, "select current_database()") != value(second, "select current_database()")


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("postgresql://ann:secret@db.example:5433", "/shop?sslmode=require"),
        ("postgres://db.example", ""),
        ("postgresql://", "/shop?host=/run/postgresql"),
    ],
)
def test_only_the_name_changes_and_a_given_server_is_left_clean(
    head: str, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[tuple[str, ...]] = []
    monkeypatch.setattr(postgres_server, "_execute", lambda *call: statements.append(call))
    monkeypatch.setattr(postgres_server, "_AT_EXIT", ExitStack())
    monkeypatch.setenv("TEST_DATABASE_URL", head + tail)
    fresh = fresh_database(head + tail)
    ((_, _, name),) = statements
    assert fresh == f"{head}/{name}{tail.removeprefix('/shop')}"
    postgres_server._AT_EXIT.close()  # somebody's own server is left as it was
    assert [statement.split()[0] for _, statement, _ in statements] == ["create", "drop"]


def test_what_is_not_a_url_is_refused() -> None:
    with pytest.raises(ValueError, match="must begin with postgresql://"):
        fresh_database("host=localhost password=secret")


def test_every_server_on_this_machine_runs_with_its_default_durability() -> None:
    folders = (postgres_server.debian_binaries(), postgres_server.wheel_binaries())
    for binaries in filter(None, folders):
        with postgres_server.running(binaries) as url:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                assert value(url, f"show {setting}") == "on"
            folder = Path(str(value(url, "show data_directory"))).parent
            assert folder.exists()
        assert not folder.exists()


def test_the_given_url_goes_first_then_debian_then_the_wheel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_DATABASE_URL", "postgresql://given/as_it_is")
    assert postgres_url.__wrapped__() == "postgresql://given/as_it_is"

    debian, wheel = Path("/debian/bin"), Path("/wheel/bin")
    monkeypatch.setattr(postgres_server, "debian_binaries", lambda: debian)
    monkeypatch.setattr(postgres_server, "wheel_binaries", lambda: wheel)
    assert postgres_server.find_binaries() == debian
    monkeypatch.setattr(postgres_server, "debian_binaries", lambda: None)
    assert postgres_server.find_binaries() == wheel


def test_without_any_server_the_failure_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    monkeypatch.setattr(postgres_server, "DEBIAN", tmp_path)
    monkeypatch.setattr(postgres_server, "WHEEL", "no_such_wheel")
    with pytest.raises(RuntimeError, match="apt-get install postgresql, or pip install pixel"):
        postgres_url.__wrapped__()


def test_the_newest_of_debians_servers_is_taken_and_clients_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version, program in (("9.6", "postgres"), ("15", "postgres"), ("17", "psql")):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / program).touch()
    monkeypatch.setattr(postgres_server, "DEBIAN", tmp_path)
    assert postgres_server.debian_binaries() == tmp_path / "15" / "bin"


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"(?s)no server started from .*initdb"),
        postgres_server.running(tmp_path),
    ):
        raise AssertionError("there is nothing to run")


def test_the_server_ends_when_its_user_is_killed() -> None:
    program = (
        "from support.postgres_server import find_binaries, running\n"
        "with running(find_binaries()) as url:\n"
        "    print(url, flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as user:
        assert user.stdout is not None
        with psycopg.connect(user.stdout.readline().strip()) as connection:
            user.kill()
            with pytest.raises(psycopg.OperationalError):  # the session is ended, not the sleep
                connection.execute("select pg_sleep(60)")
