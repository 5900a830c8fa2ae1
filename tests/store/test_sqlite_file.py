"""SQLite files that are deleted, replaced or linked under an open agent: never a second budget."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.agents import TERMS, assert_sentence

import almoner as al
from almoner.live.audit import audit
from almoner.store import open_store

Misuse = Callable[[Path], None]


def delete(file: Path) -> None:
    file.unlink()


def delete_all(file: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{file}{end}").unlink()


def delete_log(file: Path) -> None:
    Path(f"{file}-wal").unlink()


def move_away(file: Path) -> None:
    file.rename(file.with_name("elsewhere.db"))


def replace(file: Path) -> None:
    copy = file.with_name("copy.db")
    with closing(sqlite3.connect(file)) as shop:
        shop.execute(f"VACUUM INTO '{copy}'")
    os.replace(copy, file)


def hard_link(file: Path) -> None:
    os.link(file, file.with_name("other.db"))


def swap_folders(file: Path) -> None:
    file.parent.rename(file.parent.with_name("old"))
    shutil.copytree(file.parent.with_name("old"), file.parent)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop" / "shop.db"


@pytest.mark.parametrize(
    "misuse", [delete, delete_all, delete_log, move_away, replace, hard_link, swap_folders]
)
def test_an_agent_stops_when_its_file_is_no_longer_there(file: Path, misuse: Misuse) -> None:
    with al.Agent.open(f"sqlite:///{file}", name="spring", **TERMS) as agent:
        agent.decide("new")
        misuse(file)
        for _ in range(2):
            with pytest.raises(
                al.StoreError, match=r"was deleted|was replaced|hard link"
            ) as raised:
                agent.decide("new")
            assert_sentence(raised.value)
            with pytest.raises(al.StoreError):
                audit(agent.store, "spring")


def test_a_commit_to_a_file_that_is_gone_is_not_acknowledged(file: Path) -> None:
    with closing(open_store(f"sqlite:///{file}")) as store:
        store.create("spring", "terms")
        with pytest.raises(al.StoreError, match="was deleted"), store.writing("spring"):
            file.unlink()


def test_a_file_with_two_names_is_not_opened(file: Path) -> None:
    al.Agent.open(f"sqlite:///{file}", name="spring", **TERMS).close()
    hard_link(file)
    with pytest.raises(al.StoreError, match=r"has 2 names \(hard links\)") as raised:
        open_store(f"sqlite:///{file}")
    assert_sentence(raised.value)
    file.with_name("other.db").unlink()
    al.Agent.open(f"sqlite:///{file}", name="spring").close()


def test_a_file_with_two_names_can_be_read(file: Path) -> None:
    """Backups often are hard links; who only reads spends nothing."""
    with al.Agent.open(f"sqlite:///{file}", name="spring", **TERMS) as agent:
        agent.decide("new")
    hard_link(file)
    for name in (file, file.with_name("other.db")):
        with closing(open_store(f"sqlite:///{name}", read_only=True)) as store:
            assert audit(store, "spring").decisions == 1
            assert len([*store.events("spring")]) == 1


def test_a_link_that_is_there_for_a_moment_stops_an_agent_for_that_moment(file: Path) -> None:
    with al.Agent.open(f"sqlite:///{file}", name="spring", **TERMS) as agent:
        agent.decide("new", key="before")
        hard_link(file)
        with pytest.raises(al.StoreError, match="hard links"):
            agent.decide("new", key="meanwhile")
        file.with_name("other.db").unlink()
        again = agent.decide("new", key="meanwhile")
        assert agent.decide("new", key="after").id == again.id + 1
        assert audit(agent.store, "spring").decisions == 3


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("odd", ["file/shop.db", "x" * 300, "loop/shop.db", "loop", "a\0b", "."])
def test_a_path_that_cannot_be_one_is_refused_in_a_sentence(
    tmp_path: Path, odd: str, *, read_only: bool
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(al.StoreError, match=r"cannot be opened|there is no|is a folder") as raised:
        open_store(f"sqlite:///{tmp_path / odd}", read_only=read_only)
    assert_sentence(raised.value)


def test_symbolic_links_are_one_store(file: Path) -> None:
    """Both names share a write-ahead log, and the budget."""
    link = file.with_name("link.db")
    with al.Agent.open(f"sqlite:///{file}", name="spring", **TERMS) as agent:
        link.symlink_to(file)
        with al.Agent.open(f"sqlite:///{link}", name="spring") as other:
            assert [agent.decide("new").id, other.decide("new").id, agent.decide("new").id] == [
                1,
                2,
                3,
            ]
            assert not Path(f"{link}-wal").exists()


def test_a_copy_put_in_place_with_nobody_there_is_a_restore(file: Path) -> None:
    """As the guide says: stop, remove the log and its index, copy, open."""
    url, backup = f"sqlite:///{file}", file.with_name("backup.db")
    with al.Agent.open(url, name="spring", **TERMS) as agent:
        agent.decide("new")
        with closing(sqlite3.connect(file)) as shop:
            shop.execute(f"VACUUM INTO '{backup}'")
        agent.decide("new")
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    shutil.copy(backup, file)
    with al.Agent.open(url, name="spring") as agent:
        assert agent.decide("new").id == 2
        assert audit(agent.store, "spring").decisions == 2


def test_a_copy_written_into_the_open_file_spends_nothing_twice(file: Path) -> None:
    """The file is still the same one: the result is an error, or one log for all."""
    url, backup = f"sqlite:///{file}", file.with_name("backup.db")
    with al.Agent.open(url, name="spring", **{**TERMS, "actions": {"mail": 1.0}}) as agent:
        agent.decide("new")
        with closing(sqlite3.connect(file)) as shop:
            shop.execute(f"VACUUM INTO '{backup}'")
        agent.decide_many(["new"] * 20)
        shutil.copy(backup, file)
        with al.Agent.open(url, name="spring") as other:
            for number in range(60):
                (agent, other)[number % 2].decide("new")
            assert list(agent.events()) == list(other.events())
            assert audit(agent.store, "spring").spent + agent.ledger.reserved <= 60_000_000
