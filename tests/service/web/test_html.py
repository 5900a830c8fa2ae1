"""HTML of the pages: headers, markup, error pages, and access."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Gate
from typing import NoReturn
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient
from support.browser import SHOP, ApiClient, create
from support.live_service import SPRING, in_thread
from support.waiting import PATIENCE, wait_until

from almoner.errors import AlmonerError, BrokenLedger, InvalidInput
from almoner.service import background
from almoner.service.app import create_app
from almoner.service.auth.api_keys import create_key
from almoner.service.web import api_reference, schema_text
from almoner.service.web.schema_text import Piece
from almoner.store import open_store

STATIC = Path(api_reference.__file__).parent / "static"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGES = ["/", "/campaigns/watched", "/new", "/docs", "/sign-in", "/campaigns/nowhere"]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with in_thread() as url, httpx.Client(base_url=url, timeout=PATIENCE) as client:
        with ApiClient(url, create(url, name="watched")) as api:
            api.decide_many(["newcomer", "returning"] * 5)
        yield client


@pytest.mark.parametrize("path", PAGES)
def test_every_page_forbids_resources_of_other_hosts(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_page_asks_for_the_write_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that waited for another process would keep the event loop from everybody."""
    store = open_store("memory:")
    terms = {**SHOP, "name": "watched", "reward_window": "7 days", "holdout": 0.1}
    change = {"budget": 2000}

    def refuse(*arguments: object) -> NoReturn:
        raise AssertionError("a page has asked for the write lock")

    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=terms).status_code == 201
        visits = {"contexts": ["newcomer", "returning"] * 5}
        assert client.post("/api/campaigns/watched/decisions/batch", json=visits).is_success
        monkeypatch.setattr(store, "writing", refuse)
        for path in (*PAGES[:4], "/campaigns/watched/edit", "/api/campaigns/watched/open"):
            assert client.get(path).status_code == 200, path
        for path in ("/campaigns/watched/edit/plan", "/api/campaigns/watched/amendments/preview"):
            assert client.post(path, json=change).status_code == 200, path
        monkeypatch.undo()


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_markup_that_the_policy_forbids(client: httpx.Client, path: str) -> None:
    text = client.get(path).text
    assert not re.findall(r"\sstyle=|\son\w+=|<style", text)
    inline = [tag for tag in re.findall(r"<script[^>]*>", text) if "src=" not in tag]
    assert all("application/json" in tag for tag in inline)
    assert not re.findall(r'(?:src|href|action)="(?:\w+:|//)', text), "addresses of other hosts"


@pytest.mark.parametrize("path", PAGES)
def test_ids_are_unique_and_references_have_targets(client: httpx.Client, path: str) -> None:
    text = client.get(path).text
    ids = re.findall(r'\sid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'(?:href="#|aria-labelledby="|aria-describedby=")([^"]*)"', text):
        assert reference in ids


def test_every_file_that_a_page_loads_exists(client: httpx.Client) -> None:
    loaded = {
        address
        for path in PAGES
        for address in re.findall(r'(?:src|href)="(/static/[^"]*)"', client.get(path).text)
    }
    assert len(loaded) > 5
    for address in loaded:
        assert client.get(address).status_code == 200, address


def test_the_chart_library_comes_with_its_licence() -> None:
    folder = STATIC / "vendor" / "uplot"
    assert "(v1.6." in (folder / "uPlot.iife.min.js").read_text()[:80]
    assert "MIT License" in (folder / "LICENSE").read_text()


def test_no_file_of_the_page_names_another_host() -> None:
    for file in STATIC.rglob("*"):
        if file.suffix in {".mjs", ".css"} and "vendor" not in file.parts:
            assert not re.findall(r"https?://(?!www\.w3\.org/)", file.read_text()), file


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "templates"])
def test_nothing_else_is_served_as_a_file(client: httpx.Client, path: str) -> None:
    assert client.get(f"/static/{path}").status_code == 404


@pytest.mark.parametrize("value", ["bytes=abc", "bytes=0-9", "bytes=99999999-", "lines=1-2", ""])
def test_files_are_sent_whole_whatever_range_is_asked_for(client: httpx.Client, value: str) -> None:
    for name, media_type in [
        ("style.css", "text/css; charset=utf-8"),
        ("api.mjs", "javascript"),  # text or application, by the version of Python
        ("mark.svg", "image/svg+xml"),
        ("vendor/uplot/LICENSE", "text/plain; charset=utf-8"),
    ]:
        answer = client.get(f"/static/{name}", headers={"Range": value})
        assert answer.status_code == 200
        assert media_type in answer.headers["content-type"]
        assert answer.content == (STATIC / name).read_bytes()
        assert "accept-ranges" not in answer.headers


def test_names_are_escaped(client: httpx.Client) -> None:
    name = "<script>alert('&')</script>".replace("/", "|")
    create(str(client.base_url), name=name, contexts=["<b>bold</b>"], actions={"<i>": 1})
    with ApiClient(str(client.base_url), name) as api:
        api.decide("<b>bold</b>")
    for path in ("/", f"/campaigns/{name}"):
        text = client.get(path).text
        assert "<script>alert" not in text
        assert "<b>bold</b>" not in text
        assert "<i>" not in text


def test_every_name_is_isolated_from_the_text_around_it(client: httpx.Client) -> None:
    """The third action can never be taken, and the second context is served in part."""
    names = ["spring-sale", "first-time", "second-time", "coupon-one", "coupon-two", "dear-gift"]
    terms = {
        "contexts": names[1:3],
        "actions": {"coupon-one": 1, "coupon-two": 2, "dear-gift": 2000},
        "budget": 150,
    }
    create(str(client.base_url), name="spring-sale", **terms)
    with ApiClient(str(client.base_url), "spring-sale") as api:
        api.decide_many(["first-time", "second-time"] * 5)
    texts = [
        client.get("/").text,
        client.get("/campaigns/spring-sale").text,
        client.post("/new/plan", json={**terms, "horizon": 1000}).text,
    ]
    texts = [re.sub(r'<title>.*</title>|\s[\w-]+="[^"]*"', "", text) for text in texts]
    for name in names:
        for text in texts:
            assert text.count(name) == text.count(f"<bdi>{name}</bdi>"), name
    shown = [{name for name in names if name in text} for text in texts]
    assert shown == [{"spring-sale"}, {*names}, {*names} - {"spring-sale"}]
    assert "“<bdi>dear-gift</bdi>” can never be taken" in texts[1]
    assert "<bdi>second-time</bdi> would be served in part" in texts[2]


def test_control_characters_of_names_and_addresses_are_written_as_escapes(
    client: httpx.Client,
) -> None:
    """U+2069 would end the isolation of a name, U+2029 the paragraph, U+202E reverse the rest."""
    context, action = "\u2069\u202enew", "a\u2029\u202ecall\n"
    terms = {"contexts": [context], "actions": {action: 1}}
    create(str(client.base_url), name="controls", **terms)
    with ApiClient(str(client.base_url), "controls") as api:
        api.decide(context)
    for answer in (
        client.get("/campaigns/controls"),
        client.post("/new/plan", json={**terms, "horizon": 9, "budget": 5}),
    ):
        assert not re.findall("[\u2028-\u202e\u2066-\u2069]", answer.text)
        assert r"<bdi>\u2069\u202enew</bdi>" in answer.text
        assert r"<bdi>a\u2029\u202ecall\u000a</bdi>" in answer.text
    missing = client.get("/nothing\u202ehere", headers={"Accept": BROWSER})
    assert r"There is nothing at /nothing\u202ehere" in missing.text


@pytest.mark.parametrize("kind", [BrokenLedger, InvalidInput])
def test_a_campaign_that_cannot_be_read_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, kind: type[AlmonerError]
) -> None:
    store = open_store("memory:")
    with in_thread(store) as url:
        create(url, name="sound")
        create(url, name="damaged")
    read = store.terms

    def terms(name: str) -> str | None:
        if name == "damaged":
            raise kind("what the store holds does not add up")
        return read(name)

    monkeypatch.setattr(store, "terms", terms)
    with in_thread(store) as url:
        text = httpx.get(url, timeout=PATIENCE).text
        assert "What the store holds does not add up." in text
        assert text.count("Nobody has come yet.") == 1, "nothing is said of the damaged one"
        assert "sound" in text
        answer = httpx.get(f"{url}/campaigns/damaged", timeout=PATIENCE)
        assert answer.status_code == (500 if kind is BrokenLedger else 422)
        assert "What the store holds does not add up." in answer.text
        listed = httpx.get(f"{url}/api/campaigns", timeout=PATIENCE).json()["campaigns"]
        assert [entry["status"] for entry in listed] == ["running", "broken"]


COMPILES = "The first start compiles the kernels: about half a minute, once."


@pytest.mark.parametrize("demo", [False, True])
def test_while_the_kernels_are_compiled_the_list_says_so(
    monkeypatch: pytest.MonkeyPatch, demo: bool
) -> None:
    store = open_store("memory:")
    gate = Gate()
    monkeypatch.setattr(background, "warm_up", gate.wait)
    with TestClient(create_app(store, demo=demo)) as client:
        text = client.get("/").text
        assert COMPILES in text
        assert ("The demonstration campaign is being prepared." in text) == demo
        assert ("There is no campaign yet." in text) == (not demo)
        assert 'id="live"' in text, "it is kept up to date"
        gate.set()
        wait_until(lambda: COMPILES not in client.get("/").text, "the kernels are warm")
        text = client.get("/").text
        assert ("There is no campaign yet." in text) == (not demo)
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
    gate.clear()
    with TestClient(create_app(store)) as client:
        text = client.get("/").text
        assert COMPILES in text
        assert 'href="/campaigns/spring"' in text
        assert "Its figures come when the kernels are there." in text
        gate.set()


def test_kernels_that_cannot_be_compiled_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(background, "warm_up", broken)
    with TestClient(create_app(open_store("memory:"), demo=True)) as client:
        wait_until(lambda: COMPILES not in client.get("/").text, "the failure is noticed")
        text = client.get("/").text
        assert "The kernels could not be compiled, so nothing can be decided" in text


@pytest.mark.parametrize("path", ["/nope", "/campaigns/a/b", "/static/nope", "/<i>?a=b"])
def test_a_browser_gets_a_page_for_an_unknown_address(client: httpx.Client, path: str) -> None:
    answer = client.get(path, headers={"Accept": BROWSER})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    assert "<h1>Not found</h1>" in answer.text
    assert "There is nothing at /" in answer.text
    assert "<i>" not in answer.text


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/nope", "*/*"),
        ("/nope", "application/json"),
        ("/nope", "application/json, text/html;q=0.5"),
        ("/static/nope.css", "text/css,*/*;q=0.1"),
        ("/api", BROWSER),
        ("/api/nope", BROWSER),
        ("/api/campaigns/nowhere", BROWSER),
    ],
)
def test_a_program_gets_json_for_an_unknown_address(
    client: httpx.Client, path: str, accept: str
) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert answer.status_code == 404
    assert set(answer.json()) == {"error", "message"}


def test_without_a_valid_key_every_page_redirects_to_the_sign_in_form() -> None:
    store = open_store("memory:")
    key = create_key(store, "me", right="administer")
    with (
        in_thread(store, locked=True) as url,
        httpx.Client(base_url=url, timeout=PATIENCE) as client,
    ):
        for path in ("/", "/new", "/docs", "/campaigns/spring"):
            answer = client.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/sign-in?next=%2F")
        assert client.get("/sign-in").status_code == 200
        assert client.get("/static/style.css").status_code == 200
        wrong = client.post("/sign-in", data={"key": "wrong"})
        assert (wrong.status_code, wrong.headers.get("set-cookie")) == (401, None)
        signed = client.post("/sign-in", data={"key": f" {key} ", "next": "/new"})
        assert (signed.status_code, signed.headers["location"]) == (303, "/new")
        assert "HttpOnly" in signed.headers["set-cookie"]
        assert client.get("/new").status_code == 200
        client.post("/sign-out")
        assert client.get("/new").status_code == 303


@pytest.mark.parametrize("name", ["50 % off?", "#1 of 2", "a%2Fb %41", "käse & wein", "+;=@:"])
def test_signing_in_leads_to_the_page_asked_for_whatever_its_name(name: str) -> None:
    store = open_store("memory:")
    key = create_key(store, "me", right="administer")
    with (
        in_thread(store) as url,
        httpx.Client(base_url=url, timeout=PATIENCE, follow_redirects=True) as client,
    ):
        admin = {"Authorization": f"Bearer {key}"}
        terms = {**SPRING, "name": name}
        assert client.post("/api/campaigns", json=terms, headers=admin).status_code == 201
        form = client.get(f"/campaigns/{quote(name, safe='')}").text
        (target,) = re.findall('name="next" value="([^"]*)"', form)
        page = client.post("/sign-in", data={"key": key, "next": html.unescape(target)})
        assert page.status_code == 200
        assert f"<title>{html.escape(name)} · almoner</title>" in page.text


@pytest.mark.parametrize(("right", "status"), [("decide", 403), ("administer", 200)])
def test_the_log_is_linked_for_keys_that_may_read_it(right: str, status: int) -> None:
    store = open_store("memory:")
    key = create_key(store, "me", right=right)
    admin = {"Authorization": f"Bearer {create_key(store, 'ops', right='administer')}"}
    with in_thread(store) as url, httpx.Client(base_url=url, timeout=PATIENCE) as client:
        assert client.post("/api/campaigns", json=SPRING, headers=admin).status_code == 201
        client.post("/api/campaigns/spring/decisions", json={"context": "new"}, headers=admin)
        client.post("/sign-in", data={"key": key})
        text = client.get("/campaigns/spring").text
        assert 'id="decision-1"' in text
        log = "/api/campaigns/spring/log?format=csv"
        assert client.get(log).status_code == status
        assert (log in text) == (status == 200)


@pytest.mark.parametrize(
    "elsewhere", ["https://example.org", "//example.org", "/\\example.org", "javascript:alert(1)"]
)
def test_signing_in_never_leads_elsewhere(client: httpx.Client, elsewhere: str) -> None:
    answer = client.post("/sign-in", data={"key": "any", "next": elsewhere})
    assert answer.headers["location"] == "/"  # without keys, any will do


def test_the_reference_shows_every_operation_and_type() -> None:
    document = create_app(open_store("memory:")).services.document
    shown = {
        (operation.method.lower(), operation.path)
        for group in api_reference.groups(document)
        for operation in group.operations
    }
    assert shown == {
        (method, path) for path, methods in document["paths"].items() for method in methods
    }
    assert {schema.name for schema in api_reference.schemas(document)} == set(
        document["components"]["schemas"]
    )


def test_docstrings_are_shown_field_by_field(client: httpx.Client) -> None:
    document = create_app(open_store("memory:")).services.document
    assert "Attributes" not in str(document)
    assert "----" not in str(document)
    report = document["components"]["schemas"]["Report"]
    assert report["description"] == "State of a campaign, in numbers for people and pages."
    fields = report["properties"]
    assert fields["overrun"]["description"].startswith("Sum by which bills have exceeded")
    assert fields["served"]["description"] == (
        "``served``, ``skips``: Actions taken, and skips by reason."
    )
    assert fields["skips"]["description"] == "See ``served``."
    text = client.get("/docs").text
    assert "Attributes" not in text
    assert "Sum by which bills have exceeded their reserves" in text


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "array", "items": {"$ref": "#/components/schemas/Visit"}}, "array of Visit"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": ["integer", "null"]}, "integer or null"),
        ({"enum": ["csv", "jsonl"]}, "'csv' or 'jsonl'"),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            "object of number",
        ),
        ({}, "anything"),
    ],
)
def test_types_as_text(schema: dict[str, object], text: str) -> None:
    assert "".join(piece.text for piece in schema_text.pieces(schema)) == text


def test_constraints_of_a_field_as_text() -> None:
    field = {"type": "string", "minLength": 1, "maxLength": 200, "default": "thrifty"}
    assert schema_text.note(field, "Its policy.") == (
        'Its policy; not empty; 200 characters at most; "thrifty" if left out'
    )
    schema = {"properties": {"a": {"type": "number"}, "b": {"type": "string"}}, "required": ["b"]}
    assert list(schema_text.fields(schema)) == [
        ("b", [Piece("string")], True, ""),
        ("a", [Piece("number")], False, ""),
    ]
