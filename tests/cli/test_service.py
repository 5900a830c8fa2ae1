"""The commands `almoner keys` and `almoner serve`: refused ones create and change nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from almoner.cli import main

LOGS = Path(__file__).parents[1] / "store" / "logs"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, [*arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("keys", "list"), "holds no campaigns of almoner"),
        (("keys", "revoke", "shop"), "holds no campaigns of almoner"),
        (("serve", "--host", "0.0.0.0"), "host must be a loopback address"),  # noqa: S104
    ],
)
def test_a_database_of_others_is_left_alone(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE guests (name TEXT)")
    before = path.read_bytes()
    code, output = run(*arguments, "--store", f"sqlite:///{path}")
    assert code == 2
    assert message in output
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("keys", "create", "", "--right", "decide"),
        ("keys", "list"),
        ("keys", "revoke", "shop"),
        ("serve", "--host", "0.0.0.0"),  # noqa: S104
        ("serve", "--rate", "nan"),
        ("serve", "--rate", "inf"),
        ("serve", "--rate", "1e-320"),
    ],
)
def test_a_refused_command_leaves_no_file(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, output = run(*arguments, "--store", f"sqlite:///{tmp_path / 'new.db'}")
    assert code == 2, output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dump", ["version-1", "version-2", "version-3"])
def test_keys_of_older_stores_are_listed_without_changing_them(tmp_path: Path, dump: str) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript((LOGS / f"{dump}.sql").read_text(encoding="utf-8"))
    before = path.read_bytes()
    code, output = run("keys", "list", "--store", f"sqlite:///{path}")
    assert code == 0
    assert ("there is no key" in output) == (dump == "version-1")
    assert path.read_bytes() == before
