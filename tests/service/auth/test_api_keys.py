"""API keys: two rights, stored as digests, created and revoked on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.postgres_server import fresh_database, postgres_url

from almoner.cli import main
from almoner.errors import Conflict, InvalidInput, NotFound, StoreError
from almoner.service.auth.api_keys import Keyring, create_key, revoke_key
from almoner.store import ApiKey, Store, open_store
from almoner.store.memory import MemoryStore

KINDS = ["memory", "sqlite", "postgresql"]


def right(ring: Keyring, key: str) -> str | None:
    known = ring.find(key)
    return None if known is None else known.permits


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        url = fresh_database(postgres_url())
    else:
        url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'keys.db'}"
    store = open_store(url)
    yield store
    store.close()


def test_a_store_keeps_keys_in_their_order(store: Store) -> None:
    first, second = ApiKey("b", "d1", "decide", 5), ApiKey("a", "d2", "administer", 6)
    assert store.add_key(first)
    assert store.add_key(second)
    assert store.api_keys() == [first, second]


def test_a_name_is_used_once_even_after_it_was_revoked(store: Store) -> None:
    store.add_key(ApiKey("web", "d1", "decide", 5))
    assert not store.add_key(ApiKey("web", "d2", "administer", 6))
    assert store.revoke_key("web", 7)
    assert not store.add_key(ApiKey("web", "d3", "decide", 8))
    assert store.api_keys() == [ApiKey("web", "d1", "decide", 5, 7)]


def test_revoking_twice_keeps_the_first_time_and_an_unknown_key_is_told(store: Store) -> None:
    store.add_key(ApiKey("web", "d1", "decide", 5))
    assert store.revoke_key("web", 7)
    assert store.revoke_key("web", 9)
    assert store.api_keys()[0].revoked == 7
    assert not store.revoke_key("nobody", 9)


def test_a_key_opens_what_it_was_made_for(store: Store) -> None:
    deciding = create_key(store, "web", right="decide")
    administering = create_key(store, "ops", right="administer")
    ring = Keyring(store)
    assert right(ring, deciding) == "decide"
    assert right(ring, administering) == "administer"
    for wrong in ("", deciding[:-1], deciding + "x", deciding.upper(), "almoner_", "\udcff"):
        assert ring.find(wrong) is None


def test_only_a_digest_is_kept(store: Store) -> None:
    key = create_key(store, "web", right="decide")
    (kept,) = store.api_keys()
    assert key not in str(kept)
    assert re.fullmatch("[0-9a-f]{64}", kept.digest)


def test_keys_are_long_and_different() -> None:
    store = MemoryStore()
    keys = {create_key(store, str(number), right="decide") for number in range(50)}
    assert len(keys) == 50
    assert {len(key) for key in keys} == {len("almoner_") + 43}, "256 bits in base 64"


def test_a_revoked_key_opens_nothing_once_that_is_known(store: Store) -> None:
    key = create_key(store, "web", right="decide")
    ring = Keyring(store)
    assert (ring.empty, ring.useless) == (False, False)
    revoke_key(store, "web")
    assert right(ring, key) == "decide", "as it was a moment ago"
    ring.refresh()
    assert ring.find(key) is None
    assert (ring.empty, ring.useless) == (False, True)


def test_a_store_that_fails_leaves_the_known_keys(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(MemoryStore):
        fails = False

        def api_keys(self) -> list[ApiKey]:
            if self.fails:
                raise StoreError("the disk is full")
            return super().api_keys()

    store = Failing()
    key = create_key(store, "web", right="decide")
    ring = Keyring(store)
    store.fails = True
    ring.refresh()
    assert right(ring, key) == "decide"
    assert "the disk is full" in caplog.text


def test_what_is_refused() -> None:
    store = MemoryStore()
    create_key(store, "web", right="decide")
    with pytest.raises(Conflict, match="there is a key 'web' already"):
        create_key(store, "web", right="decide")
    with pytest.raises(InvalidInput, match="right must be one of decide, administer"):
        create_key(store, "ops", right="admin")
    for name in ("", "x" * 201, "a\nb"):
        with pytest.raises(InvalidInput, match="the name of a key must be"):
            create_key(store, name, right="decide")
    with pytest.raises(NotFound, match="there is no key 'nobody'"):
        revoke_key(store, "nobody")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["keys", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_commands(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'keys.db'}"
    key = run("create", "web shop", "--right", "decide", "--store", url).strip()
    store = open_store(url)
    assert right(Keyring(store), key) == "decide"
    store.close()
    listed = run("list", "--store", url)
    assert "web shop" in listed
    assert "decide" in listed
    assert key not in listed
    assert "opens nothing any more" in run("revoke", "web shop", "--store", url)
    assert "UTC" in run("list", "--store", url).splitlines()[2].split("decide")[1]


def test_the_commands_refuse_with_a_sentence(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'none.db'}"
    result = CliRunner().invoke(main, ["keys", "list", "--store", url])
    assert result.exit_code == 2
    assert "there is no store" in result.output
    create = ["keys", "create", "a", "--right", "decide", "--store", url]
    assert CliRunner().invoke(main, create).exit_code == 0
    assert CliRunner().invoke(main, create).exit_code == 2
    assert (
        "there is no key"
        in CliRunner().invoke(main, ["keys", "revoke", "b", "--store", url]).output
    )


def test_an_empty_list_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'keys.db'}"
    open_store(url).close()
    assert run("list", "--store", url) == "there is no key in this store\n"
