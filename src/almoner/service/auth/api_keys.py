"""API keys: random, stored as digests, compared in constant time.

A key is 256 random bits, too many to guess against a stolen digest. Slow hashes protect passwords
that people choose; here SHA-256 is enough, and fast.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time

from almoner import checks
from almoner.errors import Conflict, NotFound, StoreError
from almoner.live.terms.names import NAME_LIMIT
from almoner.store import ApiKey, Store

__all__ = [
    "ADMINISTER",
    "DECIDE",
    "RIGHTS",
    "Keyring",
    "check_key_name",
    "create_key",
    "revoke_key",
]

DECIDE, ADMINISTER = "decide", "administer"
RIGHTS = (DECIDE, ADMINISTER)
"""The rights of keys; the right to administer includes the right to decide."""

PREFIX = "almoner_"
"""Prefix by which scanners recognise leaked keys."""

log = logging.getLogger("almoner.service")


def create_key(store: Store, name: str, *, right: str) -> str:
    """Create a key and return it; the store keeps only its digest."""
    checks.choice("right", right, RIGHTS)
    check_key_name(name)
    key = PREFIX + secrets.token_urlsafe(32)
    if not store.add_key(ApiKey(name, _digest(key), right, created=_now())):
        raise Conflict(f"there is a key {name!r} already, perhaps revoked; choose another name")
    return key


def check_key_name(name: str) -> None:
    """Refuse a name that no key can have."""
    if not 0 < len(name) <= NAME_LIMIT or not name.isprintable():
        rule = f"be a text of 1 to {NAME_LIMIT} printable characters"
        raise checks.refuse("the name of a key", rule, name)


def revoke_key(store: Store, name: str) -> None:
    """Revoke a key for good."""
    if not store.revoke_key(name, _now()):
        raise NotFound(f"there is no key {name!r} in this store; see almoner keys list")


class Keyring:
    """Cache of a store's keys, so that no request waits for the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys = store.api_keys()

    @property
    def empty(self) -> bool:
        """Whether no key was ever created, not even one revoked since."""
        return not self._keys

    @property
    def useless(self) -> bool:
        """Whether there is no valid key."""
        return all(key.revoked is not None for key in self._keys)

    def refresh(self) -> None:
        """Read the keys from the store again; keep the cached ones if that fails."""
        try:
            self._keys = self._store.api_keys()
        except StoreError as error:
            log.warning("the keys could not be looked up, so the known ones are kept: %s", error)

    def active(self) -> list[ApiKey]:
        """Return the keys that are valid."""
        return [key for key in self._keys if key.revoked is None]

    def find(self, key: str) -> ApiKey | None:
        """Return the record of a key; None if it is not valid."""
        digest, match = _digest(key), None
        for record in self.active():  # all of them, so that the time taken reveals nothing
            if hmac.compare_digest(record.digest, digest):
                match = record
        return match


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _now() -> int:
    return int(time.time() * 1e6)
