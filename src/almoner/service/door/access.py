"""Access: who may ask for what, how often, and from where.

Without keys the service is for programs on this machine only, and pages of other sites must not
reach it through somebody's browser: hence the checks of ``Host`` and ``Origin``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from urllib.parse import urlsplit

from litestar.types import HTTPScope

from almoner.service.door.cookies import cookies_in
from almoner.service.door.keys import ADMINISTER, DECIDE, Keyring
from almoner.service.door.limits import Buckets
from almoner.service.errors import Refused

__all__ = ["ADMINISTER", "COOKIE", "DECIDE", "LOOPBACK_HOSTS", "Access"]

COOKIE = "almoner_key"
"""The cookie in which the page keeps the key that a person has signed in with."""

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

OPEN = ("/health", "/ready")
"""What whoever watches over the service may ask at any time."""

GUARDED = ("/api", "/metrics")
"""What a key is needed for, where one is; the page asks for it by itself."""

SAFE = ("GET", "HEAD", "OPTIONS")
WANTED = {b"authorization", b"cookie", b"host", b"origin", b"sec-fetch-site"}


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
    """

    def __init__(
        self, keyring: Keyring, *, locked: bool, rate: float, hosts: Iterable[str] | None = None
    ) -> None:
        self.keyring, self._locked = keyring, locked
        self._buckets = Buckets(rate)
        self._hosts = None if hosts is None else frozenset(hosts)

    @property
    def needs_key(self) -> bool:
        """Whether a key is needed."""
        return self._locked or not self.keyring.empty

    def right_of(self, key: str | None) -> str | None:
        """Return what somebody with this key, or none, has the right to; None is nothing."""
        if not self.needs_key:
            return ADMINISTER
        return None if key is None else self.keyring.right_of(key)

    def admit(self, scope: HTTPScope) -> None:
        """Let a request in, or refuse it with a sentence."""
        path = scope["path_template"]
        headers = _wanted(scope)
        if path in OPEN:
            return
        if self._hosts is not None and not self.needs_key:
            self._check_host(headers)
        key = key_in(headers)
        right = None if key is None else self.keyring.right_of(key)
        # Cookies and passwords are what a browser adds by itself; a key in the header is not.
        by_program = right is not None and _bearer(headers) is not None
        if scope["method"] not in SAFE and not by_program:
            _check_origin(headers)
        self._check_rate(key if key and right else _address(scope))
        if self.needs_key and path.startswith(GUARDED):
            _check_right(key, right, scope["route_handler"].opt.get("right", DECIDE))

    def _check_rate(self, client: str) -> None:
        seconds = self._buckets.wait(client)
        if seconds:
            raise Refused(
                429,
                f"too many requests; wait {seconds:.3g} s, or decide for many arrivals at once",
                Retry_After=str(math.ceil(seconds)),
            )

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        if _host_name(headers.get(b"host", b"")) not in (self._hosts or ()):
            names = ", ".join(sorted(self._hosts or ()))
            raise Refused(
                403, f"without keys the service answers to {names} only; see almoner keys create"
            )


def _wanted(scope: HTTPScope) -> dict[bytes, bytes]:
    """Return the headers that access depends on; one that is sent twice has no single meaning."""
    pairs = [header for header in scope["headers"] if header[0] in WANTED]
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(400, f"the header {twice.decode()} must be sent once, got it twice")
    return found


def key_in(headers: dict[bytes, bytes]) -> str | None:
    """Return the key that a request brings, as a header or as the page's cookie."""
    key = _bearer(headers)
    if key is not None or b"cookie" not in headers:
        return key
    return cookies_in(headers[b"cookie"]).get(COOKIE)


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return key.strip() or None if kind.lower() == "bearer" else None


def _check_right(key: str | None, right: str | None, wanted: str) -> None:
    if right is None:
        said = "this needs a key" if key is None else "this key is not valid"
        raise Refused(
            401,
            f"{said}; send Authorization: Bearer KEY, with one from almoner keys create",
            WWW_Authenticate="Bearer",
        )
    if wanted == ADMINISTER and right != ADMINISTER:
        raise Refused(403, "this key may decide only; use one with the right to administer")


def _check_origin(headers: dict[bytes, bytes]) -> None:
    """Refuse what a page of another site makes somebody's browser ask."""
    site = headers.get(b"sec-fetch-site", b"none")
    origin = headers.get(b"origin")
    foreign = origin is not None and origin.partition(b"//")[2] != headers.get(b"host")
    if site not in {b"same-origin", b"none"} or foreign:
        raise Refused(403, "requests from pages of other sites are refused; ask from a program")


def _host_name(host: bytes) -> str | None:
    try:
        return urlsplit(f"//{host.decode('latin-1')}").hostname
    except ValueError:  # no host at all, such as a bracket without its other half
        return None


def _address(scope: HTTPScope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
