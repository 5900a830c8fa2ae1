"""Run: the service as a process, from its first breath to the last answer it owes."""

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

from almoner.errors import InvalidInput, StoreError
from almoner.service.app import create_app
from almoner.service.auth.access import LOOPBACK_HOSTS
from almoner.service.auth.api_keys import Keyring
from almoner.service.auth.sessions import SECRET
from almoner.service.connection_limits import CONNECTIONS, BoundedProtocol, bounded_by
from almoner.service.health import COMPILING, PREPARING
from almoner.service.middleware import HeadMiddleware
from almoner.store import open_store

__all__ = ["serve", "server_config"]

GRACE = 30
"""Seconds to finish what was asked before a stop signal; then connections are cut."""

KEEP_ALIVE = 75
"""Seconds for which a connection stays open after an answer: longer than clients keep theirs, so
that none sends a request just as the service hangs up."""

GARBAGE = 10_000
"""New objects after which to look for garbage: some hundred requests' worth."""

SWITCH_SECONDS = 0.0005
"""How long one thread may keep another from the interpreter: a transaction lets go of it at every
statement, and would wait 5 ms each time to have it back from a busy event loop."""


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
    """Serve the campaigns of a store over HTTP until a signal says to stop.

    Whatever was answered is durable already; what is under way when the signal comes is finished.
    """
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    with closing(open_store(url)) as store:
        local = is_loopback(host)
        if not local and Keyring(store).useless:
            raise InvalidInput(
                f"host must be a loopback address as long as there is no key, got host={host!r}; "
                "run almoner keys create NAME --right administer first"
            )
        app = create_app(
            store,
            locked=not local,
            rate=rate,
            hosts=LOOPBACK_HOSTS if local else None,
            session_secret=os.environ.get(SECRET),
            demo=demo,
            when_warm=_settle,
            when_slow=lambda: say(f"{COMPILING} {PREPARING}" if demo else COMPILING),
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        with _listening(host, port) as listener:
            say(f"almoner serves at {_url(listener)}")
            _Server(server_config(app, bounded_by(connections))).run(sockets=[listener])


def server_config(app: Any, http: type[BoundedProtocol] = BoundedProtocol) -> uvicorn.Config:
    """Return how uvicorn serves the application, on connections with limits."""
    return uvicorn.Config(
        HeadMiddleware(app),
        http=http,
        timeout_keep_alive=KEEP_ALIVE,
        ws="none",  # the service has no use for it, and its connections would have no limits
        access_log=False,
        log_level="warning",
        proxy_headers=False,  # anyone could claim to be anyone
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


class _Server(uvicorn.Server):
    """Stops at a signal and returns; its parent would send itself the signal again and die."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Finish what is under way; at the second Ctrl-C, do not."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _settle() -> None:
    """Take what was loaded for good out of the garbage collector's sight.

    A compiler and its kernels are more than a hundred thousand objects. To look through them in
    vain takes a tenth of a second each time, for which all answers would have to wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach an address.

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
    """Return a socket that listens; at port 0, wherever there is room."""
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
