"""Run the service with uvicorn: startup, signals, graceful shutdown."""

from __future__ import annotations

import errno
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from types import FrameType
from typing import Any

import uvicorn

from almoner.compilation import progress
from almoner.errors import InvalidInput, StoreError
from almoner.service.app import create_app
from almoner.service.auth.access import LOOPBACK_HOSTS
from almoner.service.auth.api_keys import Keyring
from almoner.service.auth.sessions import SECRET
from almoner.service.connection_limits import CONNECTIONS
from almoner.service.health import COMPILING, PREPARING
from almoner.service.request_limits import BoundedProtocol, bounded_by
from almoner.store import MissingStore, open_store

__all__ = ["serve", "server_config"]

GRACE = 30
"""Seconds to finish requests after a stop signal; then connections are closed."""

KEEP_ALIVE = 75
"""Seconds for which an idle connection stays open: longer than clients keep theirs, so that none
sends a request just as the service closes."""

GARBAGE = 10_000
"""New objects between garbage collections: those of some hundred requests."""

SWITCH_SECONDS = 0.0005
"""Interpreter switch interval: a transaction releases the interpreter at every statement, and would
wait 5 ms each time to get it back from a busy event loop."""


def serve(
    url: str,
    *,
    host: str,
    port: int,
    rate: float,
    connections: int = CONNECTIONS,
    demo: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the campaigns of a store over HTTP until a stop signal.

    Every answered request is durable; requests in progress at the signal are finished.
    """
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    local = is_loopback(host)
    if not local and not _has_keys(url):  # before a store is created
        raise InvalidInput(
            f"host must be a loopback address as long as there is no key, got host={host!r}; "
            "run almoner keys create NAME --right administer first"
        )
    with closing(open_store(url)) as store:
        app = create_app(
            store,
            locked=not local,
            rate=rate,
            hosts={*LOOPBACK_HOSTS, host} if local else None,
            session_secret=os.environ.get(SECRET),
            demo=demo,
            when_warm=_freeze_garbage,
            when_slow=lambda: say(f"{COMPILING} {PREPARING}" if demo else COMPILING),
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        progress.write_kernels(say)
        with _listening(host, port) as listener:
            say(f"almoner serves at {_url(listener)}")
            _Server(server_config(app, bounded_by(connections))).run(sockets=[listener])


def _has_keys(url: str) -> bool:
    """Return whether a store has a key that is not revoked; one that does not exist has none."""
    try:
        with closing(open_store(url, read_only=True)) as store:
            return not Keyring(store).useless
    except MissingStore:
        return False


def server_config(app: Any, http: type[BoundedProtocol] = BoundedProtocol) -> uvicorn.Config:
    """Return the configuration of uvicorn, with limited connections."""
    return uvicorn.Config(
        app,
        http=http,
        timeout_keep_alive=KEEP_ALIVE,
        ws="none",  # unused, and its connections would have no limits
        access_log=False,
        log_level="warning",
        proxy_headers=False,  # any client could claim any address
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


class _Server(uvicorn.Server):
    """A server that returns after a signal; uvicorn's own raises the signal again."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after the requests in progress; at a second Ctrl-C, at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _freeze_garbage() -> None:
    """Exempt the objects loaded so far from garbage collection.

    The compiler and its kernels are more than a hundred thousand objects; each collection would
    take a tenth of a second to traverse them, and delay all responses.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        busy = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        reason = "it is in use" if busy else error
        raise StoreError(
            f"the service cannot listen on {host} port {port}: {reason}; give another --port"
        ) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
