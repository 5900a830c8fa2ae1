"""Bad input of any kind gets a 4xx with a sentence, never a 500."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from support.live_service import SPRING, in_thread

from almoner.service.auth.access import LOOPBACK_HOSTS

JSON = {"Content-Type": "application/json"}
DECIDE = "/api/campaigns/spring/decisions"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with (
        in_thread(hosts=LOOPBACK_HOSTS) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
        assert client.post(DECIDE, json={"context": "new"}).status_code == 200
        yield client


def refused(answer: httpx.Response) -> dict[str, str]:
    """Return the error of a response, after checking its form."""
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/json"
    error: dict[str, str] = answer.json()
    assert set(error) == {"error", "message"}
    assert error["error"].islower()
    assert len(error["message"].split()) >= 3, "a sentence"
    assert "Expected `" not in error["message"], "a sentence of ours"
    return error


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "not JSON": b"{context: new}",
    "cut off": b'{"context": "new"',
    "two values": b'{"context": "new"} {"context": "new"}',
    "null": b"null",
    "a number": b"1",
    "a text": b'"new"',
    "a list": b'["new"]',
    "no field": b"{}",
    "unknown field": b'{"context": "new", "contexts": "new"}',
    "field of another type": b'{"context": 1}',
    "null for a text": b'{"context": null}',
    "a text for a list": b'{"context": "new", "available": "coupon"}',
    "numbers in a list": b'{"context": "new", "available": [1]}',
    "unknown context": b'{"context": "newcomer"}',
    "unknown action": b'{"context": "new", "available": ["cuopon"]}',
    "empty context": b'{"context": ""}',
    "long context": json.dumps({"context": "x" * 201}).encode(),
    "long key": json.dumps({"context": "new", "key": "x" * 201}).encode(),
    "empty key": b'{"context": "new", "key": ""}',
    "NUL in a context": b'{"context": "new\\u0000"}',
    "NUL in a key": b'{"context": "new", "key": "\\u0000"}',
    "raw NUL": b'{"context": "new\x00"}',
    "lone surrogate": b'{"context": "new", "key": "\\ud800"}',
    "lone surrogate, the other half": b'{"context": "new", "key": "\\udc00"}',
    "not UTF-8": b'{"context": "\xff\xfe"}',
    "UTF-16": '{"context": "new"}'.encode("utf-16"),
    "deep nesting": b"[" * 100_000,
    "deep nesting in a field": b'{"context": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"context": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
    "ten megabytes": b'{"context": "' + b"x" * 10_000_000 + b'"}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_hostile_body(client: httpx.Client, body: bytes) -> None:
    refused(client.post(DECIDE, content=body, headers=JSON))


CLOSING = {"at": "2030-01-01T00:00Z", "arrivals": 5}
MESSAGES: list[tuple[str, dict[str, Any], str]] = [
    (
        f"{DECIDE}/1/reward",
        {"value": "2"},
        'value must be a number, got value="2"',
    ),
    (
        f"{DECIDE}/1/reward",
        {"value": None},
        "value must be a number, got value=null",
    ),
    (f"{DECIDE}/1/settle", {"cost": -1}, "cost must be a number of at least 0, got cost=-1"),
    (
        DECIDE,
        {"contxt": "new"},
        "the body has the unknown key 'contxt'; did you mean 'context'?",
    ),
    (f"{DECIDE}/1/reward", {}, "the body lacks the key 'value'; add it"),
    (
        DECIDE,
        {"context": ""},
        "context must be a text of 1 to 200 characters, got 0",
    ),
    (
        DECIDE,
        {"context": "new", "available": ["call", 1]},
        "available[1] must be a text of 1 to 200 characters, got available[1]=1",
    ),
    (
        f"{DECIDE}/batch",
        {"contexts": ["new"] * 10_001},
        "contexts must be a list of at most 10,000 entries, got 10,001",
    ),
    (
        "/api/campaigns/spring/rewards",
        {"rewards": [{"id": 1, "value": 1}, {"id": 1.5, "value": 1}]},
        "rewards[1].id must be a whole number of at least 1 and less than 9,007,199,254,740,992, "
        "got rewards[1].id=1.5",
    ),
    (
        "/api/plan",
        {**SPRING, "actions": {"a": 1, "b": {"cost": 2}, "c": {"cost": 3, "reserve": "4"}}},
        "actions['c'].reserve must be a number of at least 0, a table or null, "
        "got actions['c'].reserve=\"4\"",
    ),
    (
        f"{DECIDE}/1/reward",
        {"value": True},
        "value must be a number, got value=true",
    ),
    (
        "/api/plan",
        {**SPRING, "actions": {"a": 1, "": 2}},
        "a key of actions must be a text of 1 to 200 characters, got 0",
    ),
    (
        "/api/plan",
        {**SPRING, "horizon": {**CLOSING, "profile": [["2029-01-01T00:00Z", 0.5], ["x", 2]]}},
        "horizon.profile[1][1] must be a number from 0 to 1, got horizon.profile[1][1]=2",
    ),
    (
        "/api/plan",
        {**SPRING, "horizon": {**CLOSING, "profile": [["x"]]}},
        "horizon.profile[0] must be a list of 2 entries, got 1",
    ),
    (
        "/api/plan",
        {**SPRING, "default_rewards": "known"},
        "default_rewards must be a table, 'learned' or null, got default_rewards=\"known\"",
    ),
    (
        "/api/plan",
        {**SPRING, "reward_means": {"new": {"call": 1}, "x" * 99: {"call": "2"}}},
        f"reward_means['{'x' * 60}…']['call'] must be a number, "
        f"got reward_means['{'x' * 60}…']['call']=\"2\"",
    ),
]


@pytest.mark.parametrize(("path", "body", "sentence"), MESSAGES)
def test_what_is_wrong_with_a_body_is_named(
    client: httpx.Client, path: str, body: dict[str, Any], sentence: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 400
    assert refused(answer) == {"error": "malformed", "message": sentence}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "latest?limit=0",
            "limit must be a whole number from 1 to 200, got limit=0",
        ),
        (
            "latest?limit=ten",
            'limit must be a whole number from 1 to 200, got limit="ten"',
        ),
        ("log?format=xml", "format must be one of csv, jsonl, got format='xml'"),
        (
            "log?format=csv&format=jsom",
            "format must be one of csv, jsonl, got format='jsom'; did you mean 'jsonl'?",
        ),
    ],
)
def test_what_is_wrong_with_a_parameter_is_named(
    client: httpx.Client, query: str, sentence: str
) -> None:
    answer = client.get(f"/api/campaigns/spring/{query}")
    assert answer.status_code == 400
    assert refused(answer) == {"error": "malformed", "message": sentence}


@pytest.mark.parametrize("path", ["context", "context[0]", "nosuch", "[...].a", "[7]"])
def test_a_key_that_looks_like_a_path_of_the_decoder(client: httpx.Client, path: str) -> None:
    body = {f"x - at `${path}": 1, "nosuch": 1, "context": "new", "contexts": []}
    for where in (DECIDE, f"{DECIDE}/batch", "/api/plan"):
        message = refused(client.post(where, json=body))["message"]
        assert message.startswith("the body has the unknown key 'x - at")


NUMBERS = [
    *(b"NaN", b"Infinity", b"-Infinity", b"nan", b"1e999", b"-1", b"-0.1", b"1e400", b"0x10"),
    *(b"9" * 5000, b"1" + b"0" * 400, b'"1"', b"true", b"null", b"[]", b"{}", b"1_000", b"01"),
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:12].decode())
@pytest.mark.parametrize("field", ["settle", "reward"])
def test_a_hostile_number(client: httpx.Client, field: str, number: bytes) -> None:
    name = b"cost" if field == "settle" else b"value"
    body = b'{"%s": %s}' % (name, number)
    refused(client.post(f"{DECIDE}/1/{field}", content=body, headers=JSON))


def test_a_bill_beyond_all_money_and_a_reward_beyond_one(client: httpx.Client) -> None:
    assert "2**53" in refused(client.post(f"{DECIDE}/1/settle", json={"cost": 1e300}))["message"]
    refused(client.post(f"{DECIDE}/1/reward", json={"value": 1.0000001}))


TERMS: dict[str, dict[str, Any]] = {
    "no context": {"contexts": []},
    "the same context twice": {"contexts": ["new", "new"]},
    "a text for contexts": {"contexts": "new"},
    "NUL in a context": {"contexts": ["a\0"]},
    "no action": {"actions": {}},
    "a negative cost": {"actions": {"coupon": -5}},
    "no cost": {"actions": {"coupon": None}},
    "an action called skip": {"actions": {"skip": 1}},
    "a reserve below the cost": {"actions": {"coupon": {"cost": 2, "reserve": 1}}},
    "a cost for an unknown context": {"actions": {"coupon": {"cost": {"nobody": 1}}}},
    "an unknown field of an action": {"actions": {"coupon": {"cost": 1, "price": 1}}},
    "a horizon of 0": {"horizon": 0},
    "half an arrival": {"horizon": 10.5},
    "a horizon beyond numbers": {"horizon": 10**30},
    "a true horizon": {"horizon": True},
    "a closing time in the past tense": {"horizon": {"at": "yesterday", "arrivals": 5}},
    "a closing time without a zone": {"horizon": {"at": "2030-01-01T00:00", "arrivals": 5}},
    "closing before opening": {
        "horizon": {
            "at": "2030-01-01T00:00Z",
            "opens": "2031-01-01T00:00Z",
            "arrivals": 5,
        }
    },
    "a negative budget": {"budget": -1},
    "a budget beyond money": {"budget": 1e300},
    "a budget between two units": {"budget": 0.00000015},
    "a text for a budget": {"budget": "2000"},
    "an unknown policy": {"policy": "frugal"},
    "a policy that needs numbers": {"policy": "alp"},
    "half a policy": {"policy": {"rewards": {"kind": "UCB"}}},
    "a policy of nonsense": {"policy": {"rewards": 1, "contexts": [], "allocation": {}}},
    "a unit of 0": {"unit": 0},
    "a unit too small for numbers": {"unit": 5e-324},
    "an unknown default": {"default_rewards": "known"},
    "a default beyond 1": {"default_rewards": {"new": 2, "returning": 0}},
    "a default for some": {"default_rewards": {"new": 0.5}},
    "perhaps new contexts": {"new_contexts": "yes"},
    "a negative seed": {"seed": -1},
    "more pairs than memory": {
        "contexts": [str(number) for number in range(5000)],
        "actions": {str(number): 1 for number in range(1000)},
    },
    "an unknown term": {"budgt": 5},
    "a folder for a name": {"name": ".."},
    "a slash in a name": {"name": "a/b"},
    "a line in a name": {"name": "a\nb"},
    "NUL in a name": {"name": "a\0b"},
    "an empty name": {"name": ""},
    "a blank name": {"name": "  "},
    "a long name": {"name": "x" * 201},
    "no text for a name": {"name": 5},
}


@pytest.mark.parametrize("change", TERMS.values(), ids=TERMS)
def test_hostile_terms(client: httpx.Client, change: dict[str, Any]) -> None:
    body = {**SPRING, "name": "hostile", **change}
    refused(client.post("/api/campaigns", json=body))
    if "name" not in change:  # for a plan, a name is not needed and does no harm
        refused(client.post("/api/plan", json=body))
    assert client.get("/api/campaigns/hostile").status_code == 404


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (rb'{"context": "\ud800"}', r"a \u escape is half of a surrogate pair"),
        (rb'{"context": "new", "key": "\u0000"}', "1 to 200 characters, none of them NUL or half"),
    ],
)
def test_text_that_no_store_can_hold_is_named(
    client: httpx.Client, body: bytes, message: str
) -> None:
    assert message in refused(client.post(DECIDE, content=body, headers=JSON))["message"]


def test_a_reward_told_twice_in_one_batch_is_told_so(client: httpx.Client) -> None:
    rewards = [{"id": 1, "value": 1}, {"id": 1, "value": 0}]
    answer = client.post("/api/campaigns/spring/rewards", json={"rewards": rewards})
    message = "decision 1 is rewarded twice in one batch; send it once"
    assert refused(answer)["message"] == message


PATHS = [
    *("/api/campaigns/..", "/api/campaigns/%2e%2e", "/api/campaigns/%2e%2e%2fspring"),
    *("/api/campaigns/spring%00", "/api/campaigns/%ff", "/api/campaigns/%ed%a0%80"),
    *("/api/campaigns/a%2fb", "/api/campaigns/spring/../../etc/passwd", "/api//", "/api/campaignz"),
    *("/api/campaigns/" + "x" * 5000, "/api/campaigns/%0d%0aSet-Cookie:%20a=b/report"),
    *("/api/campaigns/spring/latest?limit=0", "/api/campaigns/spring/latest?limit=1e9"),
    *("/api/campaigns/spring/latest?limit=", "/api/campaigns/spring/log?format=xml"),
    *("/api/campaigns/spring/log?format=csv&format=jsonl&format=parquet", "/api/campaigns/';--"),
    *("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/nothing.js"),
    *("/static/%00", "/static/style.css%00", "/static/" + "x" * 300, "/static/" + "x/" * 5000),
    *("/static", "/static/", "/static/vendor", "/static/%ff"),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_hostile_path(client: httpx.Client, path: str) -> None:
    """Paths are sent as they are: an HTTP library would normalise them."""
    assert 400 <= raw(client, f"GET {path} HTTP/1.1", b"")[0] < 500


DECISIONS = [
    *("0", "-1", "1.5", "one", "9" * 400, "99999999", "1%00", "%31%30", "²", "+1", "1_0", "%201"),
    *("1%20", "１２", "٣", "१", "0x1", "1e0", str(2**53), str(2**64)),
]


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("verb", ["settle", "reward", "cancel"])
def test_a_hostile_decision(client: httpx.Client, verb: str, decision: str) -> None:
    body = {"settle": {"cost": 1}, "reward": {"value": 1}}.get(verb)
    refused(client.post(f"{DECIDE}/{decision}/{verb}", json=body))


@pytest.mark.parametrize("decision", ["+1", "0_1", "%201", "１", "1%0b", "1.0", "1e0", "9" * 5000])
def test_an_id_that_only_python_reads_as_one_is_none(client: httpx.Client, decision: str) -> None:
    """Decision 1 exists, and would be settled."""
    answer = client.post(f"{DECIDE}/{decision}/settle", json={"cost": 1})
    assert answer.status_code == 404
    assert refused(answer)["message"].endswith("; an id is written in digits")


@pytest.mark.parametrize("header", ["Host", "Origin", "Authorization", "Cookie", "Sec-Fetch-Site"])
def test_a_header_that_access_depends_on_is_sent_once(client: httpx.Client, header: str) -> None:
    twice = f"{header}: 127.0.0.1\r\n{header}: 127.0.0.1\r\n".encode()
    status, answer = raw(client, "GET /api/campaigns HTTP/1.1", twice)
    assert status == 400
    assert f"the header {header.lower()} must be sent once".encode() in answer


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"]
)
def test_another_content_type_is_refused(client: httpx.Client, kind: str) -> None:
    body = b'{"context": "new"}'
    answer = client.post(DECIDE, content=body, headers={"Content-Type": kind} if kind else {})
    assert answer.status_code == 415
    assert "application/json" in refused(answer)["message"]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/api/campaigns", DECIDE, "/api/plan", "/health"])
def test_another_method_is_refused(client: httpx.Client, path: str, method: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert refused(answer)["error"] == "method_not_allowed"
    assert "allow" in answer.headers


@pytest.mark.parametrize(
    "batch",
    [
        {"contexts": "new"},
        {"contexts": ["new", "nobody"]},
        {"contexts": ["new"], "keys": []},
        {"contexts": ["new"], "keys": ["a", "b"]},
        {"contexts": ["new", "returning"], "keys": ["same", "same"]},
        {"contexts": ["new"], "available": ["nothing"]},
        {"contexts": ["new"] * 10_001},
        {"contexts": [None]},
        {},
    ],
)
def test_a_hostile_batch_changes_nothing(client: httpx.Client, batch: dict[str, Any]) -> None:
    before = client.get("/api/campaigns/spring").json()
    refused(client.post(f"{DECIDE}/batch", json=batch))
    assert client.get("/api/campaigns/spring").json() == before


@pytest.mark.parametrize(
    "rewards",
    [
        {"1": 1},
        [1],
        [{"id": 1}],
        [{"value": 1}],
        [{"id": "1", "value": 1}],
        [{"id": 0, "value": 1}],
        [{"id": 1.5, "value": 1}],
        [{"id": 2**53, "value": 1}],
        [{"id": True, "value": 1}],
        [{"id": 1, "value": 1.5}],
        [{"id": 1, "value": 1, "cost": 1}],
        [{"id": 1, "value": 1}, {"id": 1, "value": 1}],
        [{"id": 1, "value": 1}] * 10_001,
        None,
    ],
)
def test_hostile_rewards_change_nothing(client: httpx.Client, rewards: Any) -> None:
    client.post(DECIDE, json={"context": "new"})
    before = client.get("/api/campaigns/spring/report").json()["rewarded"]
    answer = client.post("/api/campaigns/spring/rewards", json={"rewards": rewards})
    assert refused(answer)["error"] in {"malformed", "conflict", "invalid_input"}
    assert client.get("/api/campaigns/spring/report").json()["rewarded"] == before


HEADS = {
    "a body shorter than said": (f"POST {DECIDE} HTTP/1.1", b"Content-Length: abc\r\n"),
    "a length below nothing": (f"POST {DECIDE} HTTP/1.1", b"Content-Length: -5\r\n"),
    "half an address": ("GET /api/campaigns HTTP/1.1", b"Host: [::1\r\n"),
    "no HTTP at all": ("EHLO mail.example.org", b""),
    "an invented method": ("BREW /api/campaigns HTTP/1.1", b""),
}


@pytest.mark.parametrize(("line", "more"), HEADS.values(), ids=HEADS)
def test_a_hostile_head(client: httpx.Client, line: str, more: bytes) -> None:
    assert 400 <= raw(client, line, more)[0] < 500


def raw(client: httpx.Client, line: str, more: bytes) -> tuple[int, bytes]:
    """Send a request as it is written; return the status and the whole response."""
    where = urlsplit(str(client.base_url))
    host = b"" if more.startswith(b"Host") else b"Host: 127.0.0.1\r\n"
    kind = b"Content-Type: application/json\r\nConnection: close\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall(line.encode("latin-1") + b"\r\n" + host + kind + more + b"\r\n")
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return int(answer.split()[1]), answer


def test_after_all_that_the_service_is_well(client: httpx.Client) -> None:
    assert client.get("/ready").status_code == 200
    assert client.get("/api/campaigns").json()["campaigns"][0]["name"] == "spring"
