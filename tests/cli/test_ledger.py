"""The commands `almoner ledger`: they change no store, and name each fault that they find."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.agents import TERMS
from support.long_logs import append_decisions

import almoner as al
from almoner.cli import main
from almoner.live.export import target


def ledger(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["ledger", *arguments])
    return result.exit_code, result.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with three campaigns of three decisions each."""
    path = tmp_path / "shop.db"
    for name in ("one", "two", "three"):
        with al.Agent.open(f"sqlite:///{path}", name=name, **TERMS) as agent:
            agent.decide_many(["new"] * 3)
    return path


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_every_campaign_is_verified_and_every_fault_named(path: Path) -> None:
    alter(path, "UPDATE almoner_events SET price = 9 WHERE seq = 3 AND campaign IN (1, 3)")
    code, output = ledger("verify", f"sqlite:///{path}")
    assert code == 1
    assert "two: 3 events verified" in output
    for name in ("one", "three"):
        assert f"campaign '{name}': event" in output
    assert output.count("something in them was changed") == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE almoner_heads SET seq = 'x'",
        "UPDATE almoner_campaigns SET id = 'x' WHERE id = 1",
        "UPDATE almoner_schema SET version = 'x' WHERE version = 4",
    ],
)
def test_a_number_that_is_none_is_a_finding_and_no_traceback(path: Path, statement: str) -> None:
    alter(path, statement)
    code, output = ledger("verify", f"sqlite:///{path}")
    assert code == 1
    assert "'x', which is" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("name", ["shop.db", "shop.db-wal", "link.csv", "shop.db-journal"])
def test_an_export_never_replaces_a_store(path: Path, name: str) -> None:
    """The budget of an emptied store could be spent again."""
    out = path.with_name(name)
    if name == "link.csv":
        out.symlink_to(path)
    with al.Agent.open(f"sqlite:///{path}", name="one") as agent:  # so that the log is there
        agent.decide("new")
        before = path.read_bytes()
        code, output = ledger(
            "export", f"sqlite:///{path}", "one", "--out", str(out), "--format", "csv"
        )
        assert code == 2
        assert "must not be a database or a part of one" in output
        assert path.read_bytes() == before
    assert ledger("verify", f"sqlite:///{path}")[0] == 0


def test_a_failed_export_leaves_the_earlier_file(path: Path) -> None:
    out = path.with_name("one.csv")
    assert ledger("export", f"sqlite:///{path}", "one", "--out", str(out))[0] == 0
    before = out.read_text()
    alter(path, "UPDATE almoner_events SET available = '{' WHERE seq = 2")
    code, output = ledger("export", f"sqlite:///{path}", "one", "--out", str(out))
    assert code == 1
    assert "decision 2 cannot be read" in output
    assert out.read_text() == before
    assert {file.suffix for file in path.parent.iterdir()} == {".csv", ".db"}


def test_an_export_keeps_links_and_permissions_and_writes_to_pipes(path: Path) -> None:
    out, link = path.with_name("one.csv"), path.with_name("link.csv")
    out.write_text("earlier")
    out.chmod(0o640)
    link.symlink_to(out)
    assert ledger("export", f"sqlite:///{path}", "one", "--out", str(link))[0] == 0
    assert link.is_symlink()
    assert out.read_text().count("\n") == 4
    assert out.stat().st_mode & 0o777 == 0o640
    reading, writing = os.pipe()
    with target.opened(f"/dev/fd/{writing}") as file:
        file.write(b"through a pipe")
    assert os.read(reading, 99) == b"through a pipe"
    os.close(reading)
    os.close(writing)


def test_an_unknown_campaign_is_not_offered_to_be_created(path: Path) -> None:
    code, output = ledger("export", f"sqlite:///{path}", "thre", "--out", "-")
    assert (code, "did you mean 'three'?" in output) == (2, True)
    code, output = ledger("export", f"sqlite:///{path}", "spring", "--out", "-")
    assert output == "Error: there is no campaign 'spring' in this store; see almoner ledger list\n"


@pytest.mark.slow
def test_an_interrupted_verification_does_not_look_like_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    with al.Agent.open(f"sqlite:///{path}", name="spring", **TERMS) as agent:
        append_decisions(agent.store, "spring", 100)
    program = (
        "import os, signal, almoner.live.audit as module\n"
        "module.audit = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "from almoner.cli import main\n"
        f"main(['ledger', 'verify', 'sqlite:///{path}'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("before", ["", "import scipy\n"])
@pytest.mark.slow
def test_a_verification_imports_no_scipy_and_leaves_it_as_it_was(path: Path, before: str) -> None:
    """numba would, for a BLAS that no kernel uses."""
    program = (
        f"import sys\n{before}"
        "from almoner.cli import main\n"
        "modules = {name for name in sys.modules if name.startswith('scipy')}\n"
        f"main(['ledger', 'verify', 'sqlite:///{path}'], standalone_mode=False)\n"
        "assert 'numba' in sys.modules\n"
        "found = {name for name in sys.modules if name.startswith('scipy')}\n"
        f"assert found {'>=' if before else '=='} modules, found\n"
        "import scipy.linalg\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
