"""Routing: methods of a path, superfluous slashes, unknown paths."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.testclient import TestClient

from almoner.service.app import create_app
from almoner.store import open_store


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"))) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/campaigns", "GET, HEAD, OPTIONS, POST"),
        ("/api/campaigns/spring", "GET, HEAD, OPTIONS, PATCH"),
        ("/api/campaigns/spring/decisions", "OPTIONS, POST"),
        ("/sign-in", "GET, HEAD, OPTIONS, POST"),
        ("/static/style.css", "GET, HEAD, OPTIONS"),
    ],
)
def test_options_and_405_name_all_methods_of_a_path(
    client: httpx.Client, path: str, methods: str
) -> None:
    options = client.options(path)
    assert (options.status_code, options.content) == (204, b"")
    assert options.headers["allow"] == methods
    refused = client.delete(path)
    assert refused.status_code == 405
    assert refused.headers["allow"] == methods
    assert refused.json()["message"] == f"{path} does not take DELETE; use {methods}"


@pytest.mark.parametrize(
    "path",
    ["/api/campaigns/", "//api//campaigns", "/health/", "/static//style.css", "/static/style.css/"],
)
def test_superfluous_slashes_are_ignored(client: httpx.Client, path: str) -> None:
    assert client.get(f"http://testserver{path}", follow_redirects=False).status_code == 200


def test_a_header_sent_twice_is_refused_on_a_page_too(client: httpx.Client) -> None:
    twice = [("Cookie", "a=b"), ("Cookie", "c=d")]
    answer = client.get("/", headers=twice)
    assert answer.status_code == 400
    assert "must be sent once" in answer.text


@pytest.mark.parametrize("path", ["/health%0a", "/api/campaigns%0a", "/static/style.css%0a"])
def test_a_path_that_ends_with_a_line_feed_is_unknown(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_metrics_name_a_path_without_the_syntax_of_the_router(client: httpx.Client) -> None:
    client.get("/static/style.css")
    assert 'route="/static/{name}"' in client.get("/metrics").text


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/", 200), ("/sign-out", 405)])
def test_head_is_for_paths_that_take_get(client: httpx.Client, path: str, status: int) -> None:
    assert client.head(path).status_code == status
    assert client.get(path).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "status", "labels"),
    [
        ("GET", "/nothing", 404, 'method="GET",route="(none)",status="404"'),
        ("PUT", "/api/campaigns", 405, 'method="other",route="/api/campaigns",status="405"'),
    ],
)
def test_requests_that_no_endpoint_takes_are_limited_and_counted(
    method: str, path: str, status: int, labels: str
) -> None:
    with TestClient(create_app(open_store("memory:"), rate=5)) as client:
        statuses = [client.request(method, path).status_code for _ in range(30)]
        assert set(statuses) == {status, 429}
        assert statuses[0] == status
    with TestClient(create_app(open_store("memory:"))) as client:
        client.request(method, path)
        assert f"almoner_request_seconds_count{{{labels}}} 1.0" in client.get("/metrics").text
