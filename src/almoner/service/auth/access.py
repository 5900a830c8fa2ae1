"""Access: who may ask for what, how often, and from where.

Without keys the service is for programs on this machine only, and pages of other sites must not
reach it through somebody's browser: hence the checks of ``Host`` and ``Origin``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

from almoner.service.auth.api_keys import ADMINISTER, DECIDE, Keyring
from almoner.service.auth.cookies import cookies_in
from almoner.service.auth.rate_limit import Buckets
from almoner.service.auth.sessions import Sessions
from almoner.service.errors import Refused
from almoner.store import ApiKey

__all__ = ["ADMINISTER", "COOKIE", "DECIDE", "LOOPBACK_HOSTS", "Access", "Credentials"]

COOKIE = "almoner_session"
"""The cookie in which the page keeps the session of a person who has signed in."""

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

OPEN = ("/health", "/ready")
"""What whoever watches over the service may ask at any time."""

GUARDED = ("/api", "/metrics")
"""What a key is needed for, where one is; the page asks for it by itself."""

ECHO = 100
"""Characters of a header that a message repeats."""

SAFE = ("GET", "HEAD", "OPTIONS")
WANTED = {b"authorization", b"cookie", b"host", b"origin", b"sec-fetch-site"}


class Credentials(NamedTuple):
    """What a request brings, a key or a session, and the valid key that is meant by it."""

    bearer: str | None
    session: str | None
    key: ApiKey | None

    @property
    def right(self) -> str | None:
        """What it gives the right to."""
        return None if self.key is None else self.key.permits


class Access:
    """The rules at the door.

    Parameters
    ----------
    keyring
        The keys that are valid.
    locked
        Whether a key is needed even where none exists: off this machine, it is.
    rate
        Requests per second that one client may make in the long run.
    hosts
        The names that the service may be called by; None for any.
    secret
        What sessions are signed with; drawn at random if left out.
    """

    def __init__(
        self,
        keyring: Keyring,
        *,
        locked: bool,
        rate: float,
        hosts: Iterable[str] | None = None,
        secret: str | None = None,
    ) -> None:
        self.keyring, self._locked = keyring, locked
        self.sessions = Sessions(keyring, secret=secret)
        self._buckets = Buckets(rate)
        self._hosts = None if hosts is None else frozenset(hosts)

    @property
    def needs_key(self) -> bool:
        """Whether a key is needed."""
        return self._locked or not self.keyring.empty

    def right_of(self, scope: Scope) -> str | None:
        """Return what whoever makes a request has the right to; None is nothing."""
        return ADMINISTER if not self.needs_key else self.credentials(scope).right

    def credentials(self, scope: Scope) -> Credentials:
        """Return what a request brings: a key in the header comes before the page's cookie."""
        return self._brought(_wanted(scope))

    def _brought(self, headers: dict[bytes, bytes]) -> Credentials:
        bearer = _bearer(headers)
        if bearer is not None:
            return Credentials(bearer, None, self.keyring.find(bearer))
        session = session_in(headers)
        return Credentials(None, session, None if session is None else self.sessions.find(session))

    def admit(self, scope: Scope, path: str, right: str) -> None:
        """Raise `Refused` unless a request may use a route, given its path and the right needed."""
        headers = _wanted(scope)
        if path in OPEN:
            return
        if self._hosts is not None and not self.needs_key:
            self._check_host(headers)
        brought = self._brought(headers)
        # Cookies and passwords are what a browser adds by itself; a key in the header is not.
        by_program = brought.key is not None and brought.bearer is not None
        if scope["method"] not in SAFE and not by_program:
            _check_origin(headers)
        self._check_rate(_address(scope) if brought.key is None else brought.key.digest)
        if self.needs_key and path.startswith(GUARDED):
            _check_right(brought, right)

    def _check_rate(self, client: str) -> None:
        seconds = self._buckets.wait(client)
        if seconds:
            raise Refused(
                "too_many_requests",
                f"too many requests; wait {seconds:.3g} s, or decide for many arrivals at once",
                Retry_After=str(math.ceil(seconds)),
            )

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        if _host_name(headers.get(b"host", b"")) not in (self._hosts or ()):
            names = ", ".join(sorted(self._hosts or ()))
            raise Refused(
                "forbidden",
                f"without keys the service answers to {names} only; see almoner keys create",
            )


def session_in(headers: dict[bytes, bytes]) -> str | None:
    """Return the session that a browser brings as the page's cookie."""
    cookie = headers.get(b"cookie")
    return None if cookie is None else cookies_in(cookie).get(COOKIE)


def _wanted(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers that access depends on; one that is sent twice has no single meaning."""
    pairs = [header for header in scope["headers"] if header[0] in WANTED]
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused("malformed", f"the header {twice.decode()} must be sent once, got it twice")
    return found


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return key.strip() or None if kind.lower() == "bearer" else None


def _check_right(brought: Credentials, wanted: str) -> None:
    if brought.key is None:
        nothing = brought.bearer is None and brought.session is None
        said = "this needs a key" if nothing else "this key is not valid"
        raise Refused(
            "unauthorized",
            f"{said}; send Authorization: Bearer KEY, with one from almoner keys create",
            WWW_Authenticate="Bearer",
        )
    if wanted == ADMINISTER and brought.right != ADMINISTER:
        raise Refused("forbidden", "this key may decide only; use one with the right to administer")


def _check_origin(headers: dict[bytes, bytes]) -> None:
    """Refuse what a page of another site makes somebody's browser ask."""
    refusal = "requests from pages of other sites are refused"
    if headers.get(b"sec-fetch-site", b"none") not in {b"same-origin", b"none"}:
        raise Refused("forbidden", f"{refusal}; ask from a program")
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is not None and origin.partition(b"//")[2] != host:
        page, name = (text.decode("latin-1")[:ECHO] for text in (origin, host))
        raise Refused(
            "forbidden",
            f"{refusal}: this one comes from {page!r}, and the service was called {name!r}; ask "
            "from a program, or have the proxy in front of the service pass Host on",
        )


def _host_name(host: bytes) -> str | None:
    try:
        return urlsplit(f"//{host.decode('latin-1')}").hostname
    except ValueError:  # no host at all, such as a bracket without its other half
        return None


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
