"""Create and edit forms of campaigns on rows in a browser, and their previews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import PHONE, open_browser, open_page, overflow
from support.live_service import in_thread
from support.waiting import PATIENCE

ACTIONS = {"cheap": 1.0, "strong": {"cost": 3, "reserve": 5}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread() as url:
        yield url


def fill(page: Page, name: str) -> None:
    """Fill in everything but what is known of arrivals."""
    page.goto("/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Action", exact=True).fill("mail")
    page.get_by_label("Cost", exact=True).fill("0.5")
    page.get_by_label("Budget", exact=True).fill("100")
    page.get_by_label("Arrivals", exact=True).fill("1000")


def campaign(url: str, name: str) -> dict[str, Any]:
    answer = httpx.get(f"{url}/api/campaigns/{name}", timeout=PATIENCE)
    return answer.raise_for_status().json()  # type: ignore[no-any-return]


def test_a_campaign_with_scores_is_started_without_contexts(browser: Browser, url: str) -> None:
    with open_page(browser, url) as page:
        fill(page, "scored")
        page.get_by_label("a score for each action").check()
        expect(page.get_by_label("Context", exact=True).first).to_be_hidden()
        expect(page.get_by_label("Go on after")).to_be_hidden()
        page.get_by_label("Scores count for").fill("20")
        page.get_by_role("button", name="Preview the plan").click()
        plan = page.get_by_role("region", name="The plan")
        expect(plan).to_contain_text("No plan can be shown yet")
        # 100 for 1,000 arrivals is 0.1 each, a fifth of what a mail costs.
        expect(plan).to_contain_text("20 %of arrivals could get it, at 0.5")
        expect(plan).to_contain_text("almoner plan rows.csv --budget 100")
        page.get_by_role("button", name="Start the campaign").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("scored")
    terms = campaign(url, "scored")
    assert terms["scores"]
    assert terms["policy"]["rewards"] == {"kind": "GivenScores", "trust": 20}


def test_a_campaign_with_features_says_their_names(browser: Browser, url: str) -> None:
    with open_page(browser, url, expected=("422",)) as page:
        fill(page, "featured")
        page.get_by_label("features: numbers that describe it").check()
        names = page.get_by_label("Names of the features")
        names.fill("chars\ndigits\nchars")
        page.get_by_role("button", name="Preview the plan").click()
        error = page.locator(".field:has(#features) [role=alert]")
        expect(error).to_contain_text("features must be different names")
        expect(names).to_be_focused()
        names.fill(" chars \n\ndigits\n")
        page.get_by_role("button", name="Preview the plan").click()
        page.get_by_role("button", name="Start the campaign").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("featured")
    assert campaign(url, "featured")["features"] == ["chars", "digits"]


def test_a_term_without_a_meaning_on_rows_is_refused_beside_its_field(
    browser: Browser, url: str
) -> None:
    with open_page(browser, url, expected=("422",)) as page:
        fill(page, "risky")
        page.get_by_label("a score for each action").check()
        page.locator("details.more > summary").click()
        page.get_by_label("Risk of exceeding the budget").fill("0.1")
        page.get_by_role("button", name="Preview the plan").click()
        error = page.locator(".field:has(#risk) [role=alert]")
        expect(error).to_contain_text("risk has no meaning in a campaign with scores")
        page.get_by_label("its kind, one of a few").check()
        expect(error).to_have_count(0)
        expect(page.get_by_label("Context", exact=True).first).to_be_enabled()
        expect(page.get_by_label("Memory")).to_be_disabled()
        expect(page.get_by_label("Mean reward of doing nothing").first).to_be_hidden()
        assert overflow(page) == 0


@pytest.fixture(scope="module")
def running(url: str) -> str:
    """Run a campaign with scores for some arrivals; return its name."""
    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        terms = {"name": "day", "actions": ACTIONS, "horizon": 80, "budget": 60, "scores": True}
        client.post("/api/campaigns", json={**terms, "seed": 2}).raise_for_status()
        for number in range(40):
            score = (number * 7 % 40) / 40
            scores = {"cheap": score, "strong": 1.5 * score}
            answer = client.post("/api/campaigns/day/decisions", json={"scores": scores})
            decision = answer.raise_for_status().json()
            if decision["action"]:
                path = f"/api/campaigns/day/decisions/{decision['id']}/settle"
                client.post(path, json={"cost": 1}).raise_for_status()
    return "day"


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE], ids=["wide", "phone"])
def test_a_running_campaign_shows_its_price_and_values(
    browser: Browser, url: str, running: str, viewport: dict[str, int]
) -> None:
    with open_page(browser, url, viewport=viewport) as page:
        page.goto(f"/campaigns/{running}")
        expect(page.get_by_role("region", name="Price over time")).to_contain_text("The price of")
        expect(page.locator(".figures")).to_contain_text("Value taken")
        expect(page.locator(".figures")).to_contain_text("Spent")
        for words in (
            "Planned",
            "With another budget",
            "promise",
            "boundaries",
        ):  # of plans by context
            expect(page.get_by_text(words)).to_have_count(0)
        assert overflow(page) == 0


def test_a_running_campaign_gets_other_terms_and_actions(
    browser: Browser, url: str, running: str
) -> None:
    with open_page(browser, url) as page:
        page.goto(f"/campaigns/{running}/edit")
        page.get_by_label("Budget", exact=True).fill("90")
        page.get_by_role("button", name="Preview the change").click()
        change = page.locator("#change")
        expect(change).to_contain_text("budget 60 → 90")
        expect(change).to_contain_text("For each of them")
        expect(change.locator(".served")).to_have_count(0)
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("budget 60 → 90")
        page.goto(f"/campaigns/{running}/edit")
        page.get_by_role("button", name="Add an action").click()
        page.locator("#added-1-name").fill("gift")
        page.locator("#added-1-cost").fill("7")
        page.get_by_role("button", name="Preview the change").click()
        expect(change).to_contain_text("gift")
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("gift")
        page.goto(f"/campaigns/{running}/edit")
        page.get_by_label("strong is taken").uncheck()
        page.get_by_role("button", name="Preview the change").click()
        expect(change).to_contain_text("strong")
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("strong")
    assert campaign(url, running)["budget"] == 90
    path, scores = f"{url}/api/campaigns/{running}/decisions", {"cheap": 0.1, "gift": 90.0}
    lacking = httpx.post(path, json={"scores": {"cheap": 0.1}}, timeout=PATIENCE)
    assert "scores lack the action 'gift'" in lacking.json()["message"]
    decided = httpx.post(path, json={"scores": scores}, timeout=PATIENCE).raise_for_status()
    assert decided.json()["action"] == "gift"


def test_the_api_has_no_plan_of_rows(url: str) -> None:
    terms = {"actions": ACTIONS, "horizon": 80, "budget": 60, "scores": True}
    refused = httpx.post(f"{url}/api/plan", json=terms, timeout=PATIENCE)
    assert refused.status_code == 422
    assert "simulate it on recorded rows" in refused.json()["message"]
    neither = httpx.post(f"{url}/api/plan", json={**terms, "scores": False}, timeout=PATIENCE)
    assert "or scores or features in place of contexts" in neither.json()["message"]
