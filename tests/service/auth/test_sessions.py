"""Sessions of browsers: the cookie, its lifetime, its revocation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING, Process
from support.waiting import PATIENCE

from almoner.errors import InvalidInput
from almoner.service.app import create_app
from almoner.service.auth.access import COOKIE
from almoner.service.auth.api_keys import Keyring, create_key, revoke_key
from almoner.service.auth.sessions import LIFETIME, SECRET, Sessions
from almoner.service.web.sign_in import FORM
from almoner.store import Store, open_store

SHARED = "0123456789abcdef" * 4


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def key(store: Store) -> str:
    return create_key(store, "an administrator; with a; name", right="administer")


@pytest.fixture
def client(store: Store, key: str) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        client.post("/api/campaigns", json=SPRING, headers={"Authorization": f"Bearer {key}"})
        yield client


def sign_in(client: httpx.Client, key: str, **headers: str) -> tuple[str, str]:
    """Return the token and the attributes of the cookie."""
    answer = client.post("/sign-in", data={"key": key}, headers=headers, follow_redirects=False)
    assert answer.status_code == 303
    cookies = answer.headers.get_list("set-cookie")
    line = next(line for line in cookies if line.startswith(f"{COOKIE}="))
    value, _, attributes = line.partition("; ")
    return value.removeprefix(f"{COOKIE}=").strip('"'), attributes


def status(client: httpx.Client, path: str = "/api/campaigns", **headers: str) -> int:
    client.cookies.clear()
    return client.get(path, headers=headers, follow_redirects=False).status_code


def test_the_cookie_opens_page_and_api_and_holds_nothing_of_the_key(
    client: httpx.Client, store: Store, key: str
) -> None:
    token, attributes = sign_in(client, key)
    assert status(client, Cookie=f"theme=dark; {COOKIE}={token}") == 200
    assert status(client, "/campaigns/spring", Cookie=f"{COOKIE}={token}") == 200
    assert key not in token
    assert key.removeprefix("almoner_") not in token
    assert store.api_keys()[0].digest not in token
    assert re.fullmatch(r"[\w.-]+", token), "no cookie need be quoted for it"
    assert {"HttpOnly", "SameSite=strict", f"Max-Age={LIFETIME}", "Path=/"} <= set(
        attributes.split("; ")
    )


@pytest.mark.parametrize(
    ("headers", "got"),
    [
        ({}, "no Content-Type"),
        ({"Content-Type": "text/plain"}, "Content-Type: text/plain"),
        ({"Content-Type": "application/json"}, "Content-Type: application/json"),
        ({"Content-Type": "multipart/form-data"}, "Content-Type: multipart/form-data"),
    ],
)
def test_only_a_form_signs_in(
    client: httpx.Client, key: str, headers: dict[str, str], got: str
) -> None:
    answer = client.post("/sign-in", content=f"key={key}", headers=headers)
    assert (answer.status_code, answer.headers.get("set-cookie")) == (415, None)
    assert f"The body must be a form, got {got}; send Content-Type: {FORM}." in answer.text


def test_the_content_type_of_a_form_may_name_its_encoding(client: httpx.Client, key: str) -> None:
    headers = {"Content-Type": f"{FORM.title()} ; charset=utf-8"}
    answer = client.post("/sign-in", content=f"key={key}", headers=headers, follow_redirects=False)
    assert answer.status_code == 303


def test_neither_is_the_session_a_key_nor_the_key_a_session(client: httpx.Client, key: str) -> None:
    token, _ = sign_in(client, key)
    assert status(client, Authorization=f"Bearer {token}") == 401
    assert status(client, Cookie=f"{COOKIE}={key}") == 401
    assert status(client, "/", Cookie=f"{COOKIE}={key}") == 303


def test_the_cookie_of_earlier_versions_leads_to_the_form_and_is_taken_away(
    client: httpx.Client, key: str
) -> None:
    assert status(client, "/", Cookie=f"almoner_key={key}") == 303
    assert status(client, Cookie=f"almoner_key={key}") == 401
    answer = client.post("/sign-in", data={"key": key}, follow_redirects=False)
    gone = [line for line in answer.headers.get_list("set-cookie") if "almoner_key=" in line]
    assert len(gone) == 1
    assert "Max-Age=0" in gone[0]


@pytest.mark.parametrize("origin", ["https://testserver", "http://testserver"])
def test_the_cookie_is_secure_where_the_browser_speaks_https(
    client: httpx.Client, key: str, origin: str
) -> None:
    """Behind a proxy that terminates TLS, the service itself receives plain HTTP."""
    _, attributes = sign_in(client, key, Origin=origin)
    assert ("Secure" in attributes.split("; ")) == origin.startswith("https")


def test_signing_out_ends_the_session_for_whoever_has_a_copy(
    client: httpx.Client, key: str
) -> None:
    token, _ = sign_in(client, key)
    other, _ = sign_in(client, key)
    client.cookies.clear()
    answer = client.post(
        "/sign-out", headers={"Cookie": f"{COOKIE}={token}"}, follow_redirects=False
    )
    assert f'{COOKIE}=""; ' in str(answer.headers.get_list("set-cookie"))
    assert status(client, Cookie=f"{COOKIE}={token}") == 401
    assert status(client, Cookie=f"{COOKIE}={other}") == 200, "another sign-in is another session"


def test_a_revoked_key_ends_its_sessions_and_no_others(
    client: httpx.Client, store: Store, key: str
) -> None:
    token, _ = sign_in(client, key)
    other, _ = sign_in(client, create_key_known(client, store, "second"))
    revoke_key(store, "an administrator; with a; name")
    client.app.services.access.keyring.refresh()  # type: ignore[attr-defined]
    assert status(client, Cookie=f"{COOKIE}={token}") == 401
    assert status(client, Cookie=f"{COOKIE}={other}") == 200


def create_key_known(client: httpx.Client, store: Store, name: str) -> str:
    key = create_key(store, name, right="decide")
    client.app.services.access.keyring.refresh()  # type: ignore[attr-defined]
    return key


def test_a_session_has_the_right_of_its_key(client: httpx.Client, store: Store) -> None:
    token, _ = sign_in(client, create_key_known(client, store, "second"))
    client.cookies.clear()
    answer = client.post("/api/campaigns/spring/pause", headers={"Cookie": f"{COOKIE}={token}"})
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")


def test_a_session_ends_when_its_time_is_over(store: Store, key: str) -> None:
    now = [1e9]
    sessions = Sessions(Keyring(store), clock=lambda: now[0])
    token = sessions.begin(key)
    assert token is not None
    now[0] += LIFETIME - 1
    assert sessions.find(token) is not None
    now[0] += 1
    assert sessions.find(token) is None


def test_ended_sessions_are_remembered_no_longer_than_needed(store: Store, key: str) -> None:
    now = [1e9]
    sessions = Sessions(Keyring(store), clock=lambda: now[0])
    for _ in range(5):
        sessions.end(sessions.begin(key) or "")
    sessions.end("1000000000.made-up.token")
    assert len(sessions._ended) == 5
    now[0] += LIFETIME
    sessions.end(sessions.begin(key) or "")
    assert len(sessions._ended) == 1


@pytest.mark.parametrize("index", [0, 1, 2])
def test_no_part_of_a_token_can_be_changed(store: Store, key: str, index: int) -> None:
    sessions = Sessions(Keyring(store))
    parts = (sessions.begin(key) or "").split(".")
    parts[index] = parts[index][:-1] + ("1" if parts[index][-1] != "1" else "2")
    assert sessions.find(".".join(parts)) is None


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b.c", "²3.b.c", "9" * 5000 + ".a.b", "\udcff.a.b", "1.2", "-1.a.b"]
)
def test_what_is_no_token_is_not_valid(store: Store, key: str, token: str) -> None:
    assert Sessions(Keyring(store)).find(token) is None


def test_processes_share_sessions_only_if_they_share_a_secret(store: Store, key: str) -> None:
    token = Sessions(Keyring(store), secret=SHARED).begin(key) or ""
    assert Sessions(Keyring(store), secret=SHARED).find(token) is not None
    assert Sessions(Keyring(store)).find(token) is None


def test_a_secret_that_can_be_guessed_is_refused_without_being_repeated(store: Store) -> None:
    with pytest.raises(InvalidInput, match="at least 32 characters, got 6") as refused:
        Sessions(Keyring(store), secret="hunter")  # noqa: S106
    assert "hunter" not in str(refused.value)


def test_services_share_sessions_by_an_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    with closing(open_store(url)) as store:
        key = create_key(store, "ops", right="administer")
    monkeypatch.setenv(SECRET, SHARED)
    with Process(url) as one, Process(url) as two:
        with httpx.Client(base_url=one.url, timeout=PATIENCE) as client:
            token, _ = sign_in(client, key)
        cookie = {"Cookie": f"{COOKIE}={token}"}
        assert (
            httpx.get(f"{two.url}/api/campaigns", headers=cookie, timeout=PATIENCE).status_code
            == 200
        )
