"""Plan preview of the create page: the HTML fragment, its sentences and its figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from almoner.service.app import create_app
from almoner.service.auth.api_keys import create_key
from almoner.store import open_store

TERMS: dict[str, Any] = {
    "contexts": ["newcomer", "returning"],
    "actions": {"coupon": 5},
    "horizon": 1000,
    "budget": 1000,
    "context_probs": {"newcomer": 0.6, "returning": 0.4},
    "reward_means": {"newcomer": {"coupon": 0.1}, "returning": {"coupon": 0.4}},
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(open_store("memory:"))) as client:
        yield client


def fragment(client: TestClient, **changes: Any) -> str:
    answer = client.post("/new/plan", json={**TERMS, **changes})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return str(answer.text)


def text_of(html: str) -> str:
    html = re.sub("</?bdi>", "", html)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_fragment_shows_the_figures_of_the_api(client: TestClient) -> None:
    # 1,000 buy 200 coupons, all for returning visitors: a reward of 200 × 0.4 = 80.
    plan = client.post("/api/plan", json=TERMS).json()
    assert (plan["total"], plan["spend"]) == (pytest.approx(80), pytest.approx(1000))
    text = text_of(fragment(client))
    assert "Expected reward 80 from 1,000 arrivals" in text
    assert "Expected spend 1,000 of 1,000" in text
    assert "Budget per arrival 1 the plan changes at 2, 5" in text
    assert "Price 0.08 reward per unit of money" in text
    assert "newcomer 60 % of arrivals skipped" in text
    assert "returning 40 % of arrivals coupon 50 %" in text


def test_bars_are_drawn_in_the_colours_of_the_legend(client: TestClient) -> None:
    html = fragment(client, budget=5000)
    assert html.count('class="fill-action-0"') == 3, "in the legend and for both contexts"
    assert html.count('x="0.0%" width="100.0%"') == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "does not reach everybody: newcomer, returning would be served in part or not at all"),
        ({"budget": 4}, "the budget is less than any action reserves"),
        ({"budget": 5000}, "enough for everything worth doing; more of it would bring nothing"),
        (
            {"actions": {"coupon": 5, "car": 9000}, "budget": 5000, "reward_means": None},
            "enough for everything worth doing that it can ever pay for",
        ),
        (
            {"reward_means": {"newcomer": {"coupon": 0}, "returning": {"coupon": 0}}},
            "by your guesses, no action is worth its cost",
        ),
        (
            {"default_rewards": {"newcomer": 0.2, "returning": 0.1}},
            "everybody worth serving: returning would be served in part",
        ),
        (
            {
                "actions": {"mail": 1, "call": 5},
                "budget": 2000,
                "reward_means": {
                    "newcomer": {"mail": 0.2, "call": 0.5},
                    "returning": {"mail": 0.2, "call": 0.5},
                },
            },
            "reaches everybody, though not always with what brings most",
        ),
    ],
)
def test_one_sentence_says_whom_the_budget_reaches(
    client: TestClient, changes: dict[str, Any], sentence: str
) -> None:
    assert sentence in text_of(fragment(client, **changes))


def test_sentences_list_no_more_than_eight_contexts_and_boundaries(client: TestClient) -> None:
    contexts = [f"c{index}" for index in range(12)]
    means = {name: {"coupon": 0.02 * index + 0.1} for index, name in enumerate(contexts)}
    html = fragment(client, contexts=contexts, context_probs=None, reward_means=means, budget=10)
    text = text_of(html)
    assert "everybody: c0, c1, c2, c3, c4, c5, c6, c7 and 4 more contexts would be served" in text
    assert "the plan changes at 12 boundaries, from 0.417 to 5" in text
    few = {"contexts": contexts[:8], "reward_means": dict(list(means.items())[:8])}
    text = text_of(fragment(client, context_probs=None, budget=10, **few))
    assert "everybody: c0, c1, c2, c3, c4, c5, c6, c7 would be served" in text
    assert "the plan changes at 0.625, 1.25, 1.88, 2.5, 3.12, 3.75, 4.38, 5" in text


def test_guessed_rewards_of_skipping_are_named_as_guesses(client: TestClient) -> None:
    hint = "What doing nothing brings is yet to be learned"
    means = {"newcomer": 0.2, "returning": 0.0}
    assert hint in fragment(client, default_rewards="learned", default_means=means)
    assert hint not in fragment(client)


def test_names_are_escaped_in_the_fragment(client: TestClient) -> None:
    html = fragment(
        client, contexts=["<b>"], actions={"<i>": 5000}, context_probs=None, reward_means=None
    )
    action = "<bdi>&lt;i&gt;</bdi>"
    assert f"“{action}” can never be taken: it reserves 5,000, and the budget is 1,000." in html
    assert "<b>" not in html
    assert "<i>" not in html


def test_errors_of_the_fragment_are_those_of_the_api(client: TestClient) -> None:
    for body in ({**TERMS, "budget": -1}, {**TERMS, "horizon": "many"}, {}):
        by_page = client.post("/new/plan", json=body)
        by_api = client.post("/api/plan", json=body)
        assert by_page.status_code == by_api.status_code >= 400
        assert by_page.json() == by_api.json()


def test_the_fragment_needs_a_session_where_the_service_needs_keys() -> None:
    store = open_store("memory:")
    key = create_key(store, "ops", right="administer")
    with TestClient(create_app(store)) as client:
        answer = client.post("/new/plan", json=TERMS, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"][:9]) == (303, "/sign-in?")
        client.post("/sign-in", data={"key": key})
        assert "Expected reward" in fragment(client)
