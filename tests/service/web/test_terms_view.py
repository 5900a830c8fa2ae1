"""Terms on the page of a campaign: in words, and only those that it has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from support.reports import report

from almoner.service.app import create_app
from almoner.service.web import notices, sentences
from almoner.store import open_store

PLAIN: dict[str, Any] = {
    "name": "plain",
    "contexts": ["new", "old"],
    "actions": {"mail": 1, "coupon": {"cost": 1, "reserve": 5}},
    "horizon": 100,
    "budget": 100,
    "currency": "EUR",
    "seed": 1,
}
TERMS: list[tuple[dict[str, Any], str]] = [
    ({"reward_range": [0, 1_000_000]}, "Rewards from 0 to 1,000,000 EUR"),
    ({"reward_window": "7 days"}, "Rewards come within 1 week; silence is a 0 after that"),
    ({"default_rewards": "learned"}, "Doing nothing brings rewards that are learned"),
    ({"default_rewards": {"new": 0, "old": 0.1}}, "Doing nothing brings known mean rewards"),
    ({"learn_cost": True}, "Costs learned from bills all"),
    (
        {"actions": {"a": {"cost": 1, "learn_cost": True}, "b": 1}},
        "Costs learned from bills a",
    ),
    (
        {
            "actions": {
                "a": {"cost": 1, "expires": "3 days"},
                "b": {"cost": 1, "expires": "1 hour", "on_expiry": "charge"},
            }
        },
        "Reserves expire a after 3 days, and have cost nothing then; b after 1 hour, and are "
        "charged then",
    ),
    ({"risk": 0.01}, "Risk bills may exceed the budget with a probability of 0.01; what is above"),
    (
        {"pace": {"hour": 5, "day": 20, "zone": "Europe/Berlin"}},
        "Pace at most 5 EUR an hour, 20 EUR a day; time zone Europe/Berlin",
    ),
    ({"pace": "even"}, "Pace even, within a fifth of the straight line"),
    ({"default": "mail"}, "In place of skipping mail is taken, and paid for first"),
    ({"holdout": 0.1}, "Hold-out 10 % of arrivals get nothing"),
    ({"holdout": 0.1}, "10 % of the arrivals are held out, and get nothing."),
    ({"explore": 0.02}, "Exploration 2 % of arrivals are decided at random"),
    ({"per_person": {"actions": 1, "every": "30 days"}}, "For a person at most 1 action in 30 da"),
    ({"new_contexts": True}, "New contexts are added when they arrive"),
    ({"after": "earlier", "memory": 0.5}, "Goes on after earlier, with a memory of 0.5"),
    (
        {"prior": {"means": {"new": {"mail": 0.5}}, "weight": 50}},
        "Prior guesses for 1 pair of context and action, as sure as after 50",
    ),
]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"))) as client:
        assert client.post("/api/campaigns", json={**PLAIN, "name": "earlier"}).status_code == 201
        yield client


def page(client: httpx.Client, name: str) -> str:
    text = re.sub("<[^>]+>", " ", re.sub("</?bdi>", "", client.get(f"/campaigns/{name}").text))
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize(("terms", "words"), TERMS)
def test_each_term_is_shown_in_words(client: httpx.Client, terms: Any, words: str) -> None:
    name = words[:60].replace("/", "-")
    created = client.post("/api/campaigns", json={**PLAIN, **terms, "name": name})
    assert created.status_code == 201, created.text
    assert words in page(client, name)


def test_a_campaign_without_them_shows_its_policy_alone(client: httpx.Client) -> None:
    assert "Terms Policy thrifty Latest decisions" in page(client, "earlier")


def test_skips_are_counted_by_reason() -> None:
    skipped = report(skips={"holdout": 4, "policy": 43})
    assert sentences.skip_reasons(skipped) == (
        "Skipped so far: 43 because the policy saves the budget for better use; 4 because it is "
        "held out, to learn what happens without the campaign."
    )
    assert sentences.skip_reasons(report(skips={})) == ""


def test_arrivals_after_the_closing_time_are_told_apart() -> None:
    closed = report(closes="2026-11-18T10:00:00+00:00", arrivals=90, arrivals_left=0)
    assert sentences.summary(closed, 60, str).startswith("60 of 60 arrivals have come, and ")
    assert sentences.after_horizon(closed, 60) == ", and 30 after it"
    assert notices.notices(closed, 60, str)[0] == (
        "30 more have come after the closing time, and were skipped."
    )
