"""Sessions of browsers: a signed token in the cookie instead of the key.

A token is ``expiry.nonce.name.signature``, with the name of the key in hexadecimal digits. The
signature is an HMAC-SHA-256 of these and the key's digest under a secret of the service, so that a
token does not reveal the key, is not a key, and is invalid once its key is revoked. The secret is
drawn at startup, and sessions end with the process, unless several processes are given the same
secret. The store does not hold it: a reader of the database could forge sessions.
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
"""Seconds until a session expires: a working day."""

SECRET = "ALMONER_SESSION_SECRET"  # noqa: S105  # the name of a variable
"""Environment variable through which several processes share a secret."""

SHORTEST = 32
"""Least number of characters of a secret: 128 bits in hexadecimal digits."""


class Sessions:
    """Starts, checks and ends sessions.

    Parameters
    ----------
    keyring
        The keys of the sessions.
    secret
        Signs the tokens; drawn at random if left out.
    clock
        Returns the time in seconds since 1970.
    """

    def __init__(
        self,
        keyring: Keyring,
        *,
        secret: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if secret is not None and len(secret) < SHORTEST:  # which no message may show
            raise InvalidInput(
                f"{SECRET} must have at least {SHORTEST} characters, got {len(secret)}; "
                "make one with openssl rand -hex 32"
            )
        self._keyring, self._clock = keyring, clock
        self._secret = secrets.token_bytes(32) if secret is None else secret.encode()
        self._ended: dict[str, int] = {}

    def begin(self, key: str) -> str | None:
        """Return the token of a new session; None if the key is not valid."""
        record = self._keyring.find(key)
        if record is None:
            return None
        name = record.name.encode("utf-8", "surrogateescape").hex()
        claim = f"{int(self._clock()) + LIFETIME}.{secrets.token_urlsafe(16)}.{name}"
        return f"{claim}.{self._signature(record, claim)}"

    def find(self, token: str) -> ApiKey | None:
        """Return the key of a session; None if the session is not valid, or has ended."""
        claim, _, signature = token.rpartition(".")
        expiry = _expiry(token)
        if expiry is None or expiry <= self._clock() or token in self._ended:
            return None
        name = claim.rpartition(".")[2]
        for record in self._keyring.active():
            if record.name.encode("utf-8", "surrogateescape").hex() == name:
                expected = self._signature(record, claim).encode()
                actual = signature.encode("utf-8", "surrogateescape")
                return record if hmac.compare_digest(expected, actual) else None
        return None

    def end(self, token: str) -> None:
        """Invalidate a token before it expires; other programs may have copies of it."""
        expiry = _expiry(token)
        if expiry is None or self.find(token) is None:
            return
        now = self._clock()
        self._ended = {ended: until for ended, until in self._ended.items() if until > now}
        self._ended[token] = expiry

    def _signature(self, key: ApiKey, claim: str) -> str:
        message = f"{key.digest}.{claim}".encode("utf-8", "surrogateescape")
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def _expiry(token: str) -> int | None:
    seconds = token.partition(".")[0]
    return int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 16 else None
