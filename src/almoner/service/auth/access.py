"""Access control of requests: key or session, right, rate, host and origin.

Without keys the service is for programs on this machine only, and pages of other sites must not
reach it through somebody's browser: hence the checks of ``Host`` and ``Origin``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

from almoner.service.auth.api_keys import ADMINISTER, DECIDE, Keyring
from almoner.service.auth.cookies import cookies_in
from almoner.service.auth.rate_limit import Buckets
from almoner.service.auth.sessions import Sessions
from almoner.service.errors import Refused
from almoner.store import ApiKey

__all__ = [
    "ADMINISTER",
    "COOKIE",
    "DECIDE",
    "LOOPBACK_HOSTS",
    "NOBODY",
    "OPEN",
    "Access",
    "Credentials",
]

COOKIE = "almoner_session"
"""Cookie that holds the session of a signed-in browser."""

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

OPEN = ("/health", "/ready")
"""Paths open to monitoring at any time."""

GUARDED = ("/api", "/metrics")
"""Prefixes of paths that need a key, if any does; pages redirect to the sign-in form."""

HOSTS_CACHED = 100
"""Host headers whose names are kept: most requests have the same one."""

ECHO = 100
"""Characters of a header shown in a message."""

SAFE = ("GET", "HEAD", "OPTIONS")
SAME_SITE = (b"same-origin", b"none")
HEADERS = {b"authorization", b"cookie", b"host", b"origin", b"sec-fetch-site"}


class Credentials(NamedTuple):
    """The key or session of a request, and the valid API key that it stands for."""

    bearer: str | None
    session: str | None
    key: ApiKey | None

    @property
    def right(self) -> str | None:
        """The right of the key, None without a valid one."""
        return None if self.key is None else self.key.permits


NOBODY = Credentials(None, None, None)


class Access:
    """The access rules of an application.

    Parameters
    ----------
    keyring
        The keys that are valid.
    locked
        Whether a key is needed even while none exists, as on other than loopback addresses.
    rate
        Requests per second that one client may make in the long run.
    hosts
        Host names accepted while no key is needed; None for any.
    secret
        Signs the sessions; drawn at random if left out.
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
        """Return the right of a request; None if it needs a valid key or session and has none."""
        return ADMINISTER if not self.needs_key else self.credentials(scope).right

    def caller(self, scope: Scope) -> str | None:
        """Return the name of the API key of a request; None without one."""
        key = self.credentials(scope).key
        return None if key is None else key.name

    def credentials(self, scope: Scope) -> Credentials:
        """Return the credentials of a request; a key in the header precedes the session cookie."""
        return self._credentials(_headers(scope))

    def _credentials(self, headers: dict[bytes, bytes]) -> Credentials:
        if b"authorization" not in headers and b"cookie" not in headers:
            return NOBODY
        bearer = _bearer(headers)
        if bearer is not None:
            return Credentials(bearer, None, self.keyring.find(bearer))
        session = session_in(headers)
        return Credentials(None, session, None if session is None else self.sessions.find(session))

    def admit(self, scope: Scope, path: str, right: str) -> None:
        """Raise `Refused` unless a request may use a route, given its path and the right needed."""
        headers = _headers(scope)
        if path in OPEN:
            return
        needs_key = self.needs_key
        if self._hosts is not None and not needs_key:
            self._check_host(headers)
        credentials = self._credentials(headers)
        # A browser adds cookies and passwords by itself, but no key in the header.
        by_program = credentials.key is not None and credentials.bearer is not None
        if scope["method"] not in SAFE and not by_program:
            _check_origin(headers)
        self._check_rate(_address(scope) if credentials.key is None else credentials.key.digest)
        if needs_key and path.startswith(GUARDED):
            _check_right(credentials, right)

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
    """Return the session of the cookie."""
    cookie = headers.get(b"cookie")
    return None if cookie is None else cookies_in(cookie).get(COOKIE)


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers that access depends on; reject one sent twice, as ambiguous."""
    pairs = [header for header in scope["headers"] if header[0] in HEADERS]
    headers = dict(pairs)
    if len(headers) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused("malformed", f"the header {twice.decode()} must be sent once, got it twice")
    return headers


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return key.strip() or None if kind.lower() == "bearer" else None


def _check_right(credentials: Credentials, right: str) -> None:
    if credentials.key is None:
        missing = credentials.bearer is None and credentials.session is None
        reason = "this needs a key" if missing else "this key is not valid"
        raise Refused(
            "unauthorized",
            f"{reason}; send Authorization: Bearer KEY, with one from almoner keys create",
            WWW_Authenticate="Bearer",
        )
    if right == ADMINISTER and credentials.right != ADMINISTER:
        raise Refused("forbidden", "this key may decide only; use one with the right to administer")


def _check_origin(headers: dict[bytes, bytes]) -> None:
    """Reject requests that a page of another site makes a browser send."""
    refusal = "requests from pages of other sites are refused"
    if headers.get(b"sec-fetch-site", b"none") not in SAME_SITE:
        raise Refused("forbidden", f"{refusal}; ask from a program")
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is not None and origin.partition(b"//")[2] != host:
        page, name = (text.decode("latin-1")[:ECHO] for text in (origin, host))
        raise Refused(
            "forbidden",
            f"{refusal}: this one comes from {page!r}, and the service was called {name!r}; ask "
            "from a program, or have the proxy in front of the service pass Host on",
        )


@lru_cache(HOSTS_CACHED)
def _host_name(host: bytes) -> str | None:
    try:
        return urlsplit(f"//{host.decode('latin-1')}").hostname
    except ValueError:  # e.g. a bracket without its counterpart
        return None


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
