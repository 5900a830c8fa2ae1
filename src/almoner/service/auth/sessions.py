"""Sessions of the page: a signed token in the cookie instead of the key.

A token is ``expiry.nonce.name.signature``, with the name of the key in hexadecimal digits. The
signature is an HMAC-SHA-256 of the key's digest and all of that under a secret of the service, so
that a token does not tell the key, is no key itself, and is worthless once its key is revoked. The
secret is drawn when the service starts, and sessions end with it, unless several processes are
given the same one. It is not kept in the store, and the digests alone do not sign: whoever reads
the database could forge a session.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from almoner.errors import InvalidInput
from almoner.service.auth.api_keys import Keyring
from almoner.store import ApiKey

__all__ = ["LIFETIME", "SECRET", "Sessions"]

LIFETIME = 12 * 3600
"""Seconds after which a person signs in again: a working day."""

SECRET = "ALMONER_SESSION_SECRET"  # noqa: S105  # the name of a variable
"""The environment variable by which several processes share a secret."""

SHORTEST = 32
"""Characters of a secret that cannot be guessed: 128 bits in hexadecimal digits."""


class Sessions:
    """Begins, checks and ends sessions.

    Parameters
    ----------
    keyring
        The keys that sessions stand for.
    secret
        What tokens are signed with; drawn at random if left out.
    clock
        Tells the time in seconds since 1970.
    """

    def __init__(
        self,
        keyring: Keyring,
        *,
        secret: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if secret is not None and len(secret) < SHORTEST:  # which no message may repeat
            raise InvalidInput(
                f"{SECRET} must have at least {SHORTEST} characters, got {len(secret)}; "
                "make one with openssl rand -hex 32"
            )
        self._keyring, self._clock = keyring, clock
        self._secret = secrets.token_bytes(32) if secret is None else secret.encode()
        self._ended: dict[str, int] = {}

    def begin(self, key: str) -> str | None:
        """Return the token of a new session; None if the key is not valid."""
        known = self._keyring.find(key)
        if known is None:
            return None
        name = known.name.encode("utf-8", "surrogateescape").hex()
        claim = f"{int(self._clock()) + LIFETIME}.{secrets.token_urlsafe(16)}.{name}"
        return f"{claim}.{self._signature(known, claim)}"

    def find(self, token: str) -> ApiKey | None:
        """Return the key that a session stands for; None if it is not valid, or over."""
        claim, _, signature = token.rpartition(".")
        expiry = _expiry(token)
        if expiry is None or expiry <= self._clock() or token in self._ended:
            return None
        name = claim.rpartition(".")[2]
        for known in self._keyring.active():
            if known.name.encode("utf-8", "surrogateescape").hex() == name:
                given = signature.encode("utf-8", "surrogateescape")
                right = self._signature(known, claim).encode()
                return known if hmac.compare_digest(right, given) else None
        return None

    def end(self, token: str) -> None:
        """Make a token useless before its time: the browser may not be the only one to have it."""
        expiry = _expiry(token)
        if expiry is None or self.find(token) is None:
            return
        now = self._clock()
        self._ended = {kept: until for kept, until in self._ended.items() if until > now}
        self._ended[token] = expiry

    def _signature(self, key: ApiKey, claim: str) -> str:
        message = f"{key.digest}.{claim}".encode("utf-8", "surrogateescape")
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def _expiry(token: str) -> int | None:
    seconds = token.partition(".")[0]
    return int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 16 else None
