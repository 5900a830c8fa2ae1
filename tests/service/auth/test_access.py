"""Access rules: keys, rights, rate limit, host and origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING

from almoner.service.app import create_app
from almoner.service.auth import access, rate_limit
from almoner.service.auth.access import COOKIE, LOOPBACK_HOSTS
from almoner.service.auth.api_keys import create_key, revoke_key
from almoner.service.auth.rate_limit import Buckets
from almoner.store import Store, open_store

DECIDE = "/api/campaigns/spring/decisions"
VISIT = {"context": "new"}


@pytest.fixture
def store() -> Store:
    return open_store("memory:")


@pytest.fixture
def keys(store: Store) -> dict[str, str]:
    return {right: create_key(store, right, right=right) for right in ("decide", "administer")}


@pytest.fixture
def client(store: Store, keys: dict[str, str]) -> Iterator[httpx.Client]:
    with TestClient(create_app(store)) as client:
        answer = client.post("/api/campaigns", json=SPRING, headers=bearer(keys["administer"]))
        assert answer.status_code == 201
        yield client


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_without_a_key_everything_under_api_is_closed(client: httpx.Client) -> None:
    paths = client.app.services.document["paths"]  # type: ignore[attr-defined]
    closed = [path for path in paths if path.startswith("/api") or path == "/metrics"]
    assert len(closed) > 10
    for path in closed:
        for method in paths[path]:
            url = path.replace("{name}", "spring").replace("{decision}", "1")
            answer = client.request(method, url, json={})
            assert answer.status_code == 401, f"{method} {path}"
            assert answer.json()["error"] == "unauthorized"
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/health", "/ready", "/openapi.json"])
def test_health_and_the_document_are_open(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        bearer("almoner_wrong"),
        bearer(""),
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer \xff"},
        {"Cookie": f"{COOKIE}=wrong"},
        {"Cookie": "\x01;;=;"},
    ],
)
def test_what_is_no_valid_key_is_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    assert client.post(DECIDE, json=VISIT, headers=raw).status_code == 401  # type: ignore[arg-type]


@pytest.mark.parametrize("right", ["decide", "administer"])
def test_both_rights_decide_and_read(
    client: httpx.Client, keys: dict[str, str], right: str
) -> None:
    headers = bearer(keys[right])
    decision = client.post(DECIDE, json=VISIT, headers=headers)
    assert decision.status_code == 200
    reward = f"{DECIDE}/{decision.json()['id']}/reward"
    assert client.post(reward, json={"value": 1}, headers=headers).status_code == 204
    for path in ("", "/report", "/curve", "/latest"):
        assert client.get(f"/api/campaigns/spring{path}", headers=headers).status_code == 200
    assert client.get("/metrics", headers=headers).status_code == 200


ADMINISTERED: list[tuple[str, str, Any]] = [
    ("POST", "/api/campaigns", SPRING),
    ("POST", "/api/campaigns/spring/pause", None),
    ("POST", "/api/campaigns/spring/resume", None),
    ("GET", "/api/campaigns/spring/log", None),
    ("POST", "/api/campaigns/spring/close", None),
]


@pytest.mark.parametrize(("method", "path", "body"), ADMINISTERED)
def test_only_the_right_to_administer_changes_campaigns_and_reads_their_logs(
    client: httpx.Client, keys: dict[str, str], method: str, path: str, body: Any
) -> None:
    refused = client.request(method, path, json=body, headers=bearer(keys["decide"]))
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
    allowed = client.request(method, path, json=body, headers=bearer(keys["administer"]))
    assert allowed.status_code == 200


@pytest.mark.parametrize("path", [path for _, path, _ in ADMINISTERED])
def test_options_of_an_administered_path_need_the_right_to_decide_only(
    client: httpx.Client, keys: dict[str, str], path: str
) -> None:
    assert client.options(path, headers=bearer(keys["decide"])).status_code == 204
    assert client.options(path).status_code == 401


def test_keys_created_and_revoked_meanwhile_are_noticed(
    client: httpx.Client, store: Store, keys: dict[str, str]
) -> None:
    ring = client.app.services.access.keyring  # type: ignore[attr-defined]
    late = create_key(store, "late", right="decide")
    revoke_key(store, "decide")
    ring.refresh()
    assert client.post(DECIDE, json=VISIT, headers=bearer(late)).status_code == 200
    assert client.post(DECIDE, json=VISIT, headers=bearer(keys["decide"])).status_code == 401


def test_a_service_without_keys_is_open_until_the_first_is_created(store: Store) -> None:
    app = create_app(store)
    with TestClient(app) as client:
        assert client.get("/api/campaigns").status_code == 200
        create_key(store, "web", right="decide")
        app.services.access.keyring.refresh()
        assert client.get("/api/campaigns").status_code == 401
        revoke_key(store, "web")
        app.services.access.keyring.refresh()
        assert client.get("/api/campaigns").status_code == 401, "it does not open again by itself"


def test_a_locked_service_is_closed_even_without_keys(store: Store) -> None:
    with TestClient(create_app(store, locked=True)) as client:
        assert client.get("/api/campaigns").status_code == 401


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"])
def test_without_keys_it_answers_to_the_names_of_this_machine(store: Store, host: str) -> None:
    with TestClient(create_app(store, hosts=LOOPBACK_HOSTS)) as client:
        assert client.get("/api/campaigns", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1", ""])
def test_a_name_that_leads_here_from_elsewhere_is_refused(store: Store, host: str) -> None:
    """DNS rebinding: a page of evil.example whose name has come to mean 127.0.0.1."""
    with TestClient(create_app(store, hosts=LOOPBACK_HOSTS)) as client:
        assert 400 <= client.get("/api/campaigns", headers={"Host": host}).status_code < 404


def test_with_keys_it_answers_to_any_name(client: httpx.Client, keys: dict[str, str]) -> None:
    headers = {"Host": "almoner.example", **bearer(keys["decide"])}
    assert client.get("/api/campaigns", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:81"},
    ],
)
def test_pages_of_other_sites_change_nothing(store: Store, headers: dict[str, str]) -> None:
    with TestClient(create_app(store)) as client:
        client.post("/api/campaigns", json=SPRING)
        answer = client.post("/api/campaigns/spring/pause", headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
        assert client.get("/api/campaigns/spring", headers=headers).json()["status"] == "running"


@pytest.mark.parametrize("authorization", ["Basic YTpi", "Bearer guess", "Bearer", ""])
def test_whatever_their_browser_adds_by_itself(store: Store, authorization: str) -> None:
    """Behind a proxy that asks for a password, a browser sends it with every request."""
    foreign = {"Sec-Fetch-Site": "cross-site", "Authorization": authorization}
    with TestClient(create_app(store)) as client:
        client.post("/api/campaigns", json=SPRING)
        assert client.post("/api/campaigns/spring/pause", headers=foreign).status_code == 403
        assert client.get("/api/campaigns/spring").json()["status"] == "running"


def test_a_cookie_is_no_excuse_and_a_key_in_the_header_is_one(
    client: httpx.Client, keys: dict[str, str]
) -> None:
    """A browser adds a cookie by itself, and never a key that it was not given by a program."""
    foreign, path = {"Origin": "https://elsewhere.example"}, "/api/campaigns/spring/pause"
    session = client.app.services.access.sessions.begin(keys["administer"])  # type: ignore[attr-defined]
    cookie = {"Cookie": f"{COOKIE}={session}", "Authorization": "Basic YTpi"}
    assert client.post(path, headers={**foreign, **cookie}).status_code == 403
    assert client.post(path, headers={**foreign, **bearer("guess")}).status_code == 403
    assert client.post(path, headers={**foreign, **bearer(keys["administer"])}).status_code == 200


def test_the_page_itself_does(store: Store) -> None:
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}
    with TestClient(create_app(store)) as client:
        client.post("/api/campaigns", json=SPRING)
        assert client.post("/api/campaigns/spring/pause", headers=own).status_code == 200


def test_too_many_requests_are_told_to_wait(store: Store) -> None:
    with TestClient(create_app(store, rate=1.0)) as client:
        answers = [client.get("/api/campaigns") for _ in range(4)]
        assert [answer.status_code for answer in answers[:2]] == [200, 200], "two at once are fine"
        late = answers[-1]
        assert (late.status_code, late.json()["error"]) == (429, "too_many_requests")
        assert int(late.headers["retry-after"]) >= 1
        assert client.get("/health").status_code == 200, "whoever watches over it may always ask"


def test_each_key_has_its_own_limit(store: Store, keys: dict[str, str]) -> None:
    with TestClient(create_app(store, rate=1.0)) as client:
        for right in ("decide", "administer"):
            answer = client.get("/api/campaigns", headers=bearer(keys[right]))
            assert answer.status_code == 200
        for _ in range(3):
            client.get("/api/campaigns", headers=bearer("guess"))
        assert client.get("/api/campaigns", headers=bearer("guess 2")).status_code == 429
        assert client.get("/api/campaigns", headers=bearer(keys["decide"])).status_code == 200


def test_a_bucket_fills_up_again_and_no_further() -> None:
    now = [0.0]
    buckets = Buckets(10.0, clock=lambda: now[0])
    assert [buckets.wait("me") for _ in range(21)] == [0.0] * 20 + [pytest.approx(0.1)]
    now[0] = 0.1
    assert [buckets.wait("me") for _ in range(2)] == [0.0, pytest.approx(0.1)]
    now[0] = 1000.0
    assert [buckets.wait("me") > 0 for _ in range(21)] == [False] * 20 + [True]


def test_only_so_many_clients_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "CLIENTS", 3)
    now = [0.0]
    buckets = Buckets(1.0, clock=lambda: now[0])
    for client in "abcdef":
        now[0] += 0.01
        assert buckets.wait(client) == 0.0
    assert len(buckets._buckets) == 3
    assert buckets.wait("f") == 0.0
    assert buckets.wait("f") > 0, "the newest are remembered"


def test_the_session_is_found_among_other_cookies() -> None:
    assert access.session_in({b"cookie": b'a=b; almoner_session="d e"; c=d'}) == "d e"
    assert access.session_in({b"cookie": b"almoner_key=def"}) is None
    assert access.session_in({}) is None
