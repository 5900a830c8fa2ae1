"""API keys: made at random, kept as digests, compared in constant time.

A key is 256 random bits, so nobody can guess one and try it against a stolen digest: that is what
slow hashes are for, with passwords that people think up. SHA-256 is enough, and costs a request
nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time

from almoner import checks
from almoner.errors import Conflict, NotFound, StoreError
from almoner.live.names import NAME_LIMIT
from almoner.store import ApiKey, Store

__all__ = ["ADMINISTER", "DECIDE", "RIGHTS", "Keyring", "create_key", "revoke_key"]

DECIDE, ADMINISTER = "decide", "administer"
RIGHTS = (DECIDE, ADMINISTER)
"""Who may administer may also decide."""

PREFIX = "almoner_"
"""Lets scanners for leaked secrets know one when they see it."""

log = logging.getLogger("almoner.service")


def create_key(store: Store, name: str, *, right: str) -> str:
    """Keep a new key and return it: nobody can see it again."""
    checks.choice("right", right, RIGHTS)
    if not 0 < len(name) <= NAME_LIMIT or not name.isprintable():
        rule = f"be a text of 1 to {NAME_LIMIT} printable characters"
        raise checks.refuse("the name of a key", rule, name)
    key = PREFIX + secrets.token_urlsafe(32)
    if not store.add_key(ApiKey(name, _digest(key), right, created=_now())):
        raise Conflict(f"there is a key {name!r} already, perhaps revoked; choose another name")
    return key


def revoke_key(store: Store, name: str) -> None:
    """Make a key useless, for good."""
    if not store.revoke_key(name, _now()):
        raise NotFound(f"there is no key {name!r} in this store; see almoner keys list")


class Keyring:
    """The keys of a store as they were a moment ago, so that no request waits for the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys = store.api_keys()

    @property
    def empty(self) -> bool:
        """Whether no key was ever created; one that was revoked still counts."""
        return not self._keys

    @property
    def useless(self) -> bool:
        """Whether there is no key that opens anything."""
        return all(key.revoked is not None for key in self._keys)

    def refresh(self) -> None:
        """Look up what was created and revoked meanwhile; keep what is known if that fails."""
        try:
            self._keys = self._store.api_keys()
        except StoreError as error:
            log.warning("the keys could not be looked up, so the known ones are kept: %s", error)

    def active(self) -> list[ApiKey]:
        """Return the keys that are valid."""
        return [key for key in self._keys if key.revoked is None]

    def find(self, key: str) -> ApiKey | None:
        """Return what is kept of a key; None if it is not valid."""
        digest, found = _digest(key), None
        for known in self.active():  # all of them, so that the time taken says nothing
            if hmac.compare_digest(known.digest, digest):
                found = known
        return found


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _now() -> int:
    return int(time.time() * 1e6)
