"""Edit page: the plan before and after a change, the change itself, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, expect
from support.browser import SHOP, ApiClient, create, open_browser, open_page, overflow
from support.live_service import in_thread

NAME = quote(str(SHOP["name"]))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread() as address:
        httpx.post(f"{address}/api/campaigns", json=SHOP, timeout=60).raise_for_status()
        with ApiClient(address, NAME) as api:
            api.decide_many(["returning", "newcomer"] * 20)
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as chromium:
        yield chromium


def test_a_change_is_shown_before_it_is_made(url: str, browser: Browser) -> None:
    with open_page(browser, url) as page:
        page.goto(f"/campaigns/{NAME}")
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("Budget", exact=True).fill("2000")
        page.get_by_label("coupon is taken").uncheck()
        page.get_by_role("button", name="Add an action").click()
        page.locator("#added-1-name").fill("gift")
        page.locator("#added-1-cost").fill("7")
        page.get_by_label("Note for the log").fill("two sponsors")
        page.get_by_role("button", name="Preview the change").click()
        change = page.locator("#change")
        expect(change).to_contain_text("budget 1,500 → 2,000")
        expect(change).to_contain_text("gift added")
        expect(change).to_contain_text("coupon stopped")
        assert httpx.get(f"{url}/api/campaigns/{NAME}", timeout=60).json()["budget"] == 1500
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("two sponsors")
    shown = httpx.get(f"{url}/api/campaigns/{NAME}", timeout=60).json()
    assert shown["budget"] == 2000
    assert shown["actions"]["coupon"]["stopped"]
    assert shown["actions"]["gift"]["cost"] == 7


def test_a_change_that_cannot_be_made_is_refused_in_words(url: str, browser: Browser) -> None:
    with open_page(browser, url, expected=("422",)) as page:
        page.goto(f"/campaigns/{NAME}/edit")
        page.get_by_label("Budget", exact=True).fill("1")
        page.get_by_role("button", name="Preview the change").click()
        expect(page.locator("#form-error")).to_contain_text("budget must be at least the")


def test_a_preview_of_another_form_is_said_to_be_old(url: str, browser: Browser) -> None:
    with open_page(browser, url) as page:
        page.goto(f"/campaigns/{NAME}/edit")
        page.get_by_label("Budget", exact=True).fill("3000")
        page.get_by_role("button", name="Preview the change").click()
        expect(page.locator("#change")).to_contain_text("→ 3,000")
        expect(page.locator("#change-note")).to_be_hidden()
        page.get_by_label("Budget", exact=True).fill("4000")
        expect(page.locator("#change-note")).to_have_text(
            "The form has changed since; preview the change again."
        )
        expect(page.get_by_role("button", name="Change the campaign")).to_be_hidden()


COUPON = {"cost": 1, "reserve": 5, "expires": "7 days", "learn_cost": True}


def action_of(url: str, campaign: str, action: str) -> dict[str, Any]:
    shown = httpx.get(f"{url}/api/campaigns/{campaign}", timeout=60).json()
    return shown["actions"][action]  # type: ignore[no-any-return]


def test_reserve_expiry_and_learned_cost_of_an_action_change(url: str, browser: Browser) -> None:
    by_context = {"newcomer": 1, "returning": 2}
    actions = {"coupon": COUPON, "call": {"cost": by_context, "reserve": 4}, "mail": 1}
    name = create(url, name="terms", actions=actions)
    with open_page(browser, url, expected=("422",)) as page:
        page.goto(f"/campaigns/{name}/edit")
        expect(page.get_by_label("coupon expires after")).to_have_value("1 week")
        reserve, message = page.get_by_label("Reserve of coupon"), page.locator("#form-error")
        reserve.fill("0.5")
        page.get_by_role("button", name="Preview the change").click()
        expect(message).to_contain_text("the reserve of 'coupon' must be no less than its cost")
        expect(reserve).to_be_focused()
        expect(reserve).to_have_attribute("aria-invalid", "true")
        below = page.locator("[data-action=coupon] + tr")
        expect(below.locator("#form-error")).to_be_visible()
        reserve.fill("6")
        expect(message).to_be_empty()
        expect(below.locator("#form-error")).to_have_count(0)
        page.get_by_label("coupon expires after").fill("soon")
        page.get_by_role("button", name="Preview the change").click()
        expect(below).to_contain_text("the expiry of 'coupon' must be a duration")
        page.get_by_label("coupon expires after").fill("3 days")
        page.get_by_label("When coupon expires").select_option("charge")
        page.get_by_label("The cost of coupon is learned").uncheck()
        page.get_by_label("call expires after").fill("90 minutes")
        page.get_by_label("Reserve of mail").fill("2")
        page.get_by_role("button", name="Preview the change").click()
        change = page.locator("#change")
        for phrase in (
            "reserve of coupon 5 → 6",
            "expiry of coupon 1 week → 3 days",
            "coupon on expiry released → charged",
            "cost of coupon learned → declared",
            "expiry of call none → 90 minutes",
            "reserve of mail 1 → 2",
        ):
            expect(change).to_contain_text(phrase)
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("90 minutes")
    coupon, call = action_of(url, name, "coupon"), action_of(url, name, "call")
    assert (coupon["cost"], coupon["reserve"], coupon["expires"]) == (1, 6, "3 days")
    assert (coupon["on_expiry"], coupon["learn_cost"]) == ("charge", False)
    assert (call["cost"], call["reserve"], call["expires"]) == (by_context, 4, "90 minutes")
    assert action_of(url, name, "mail")["reserve"] == 2


@pytest.mark.parametrize("width", [400, 1280])
def test_a_new_action_has_expiry_and_learned_cost(url: str, browser: Browser, width: int) -> None:
    name = create(url, name=f"added {width}", actions={"coupon": COUPON}, learn_cost=True)
    window = {"width": width, "height": 800}
    with open_page(browser, url, expected=("422",), viewport=window) as page:
        page.goto(f"/campaigns/{name}/edit")
        expect(page.get_by_label("The cost of coupon is learned")).to_be_disabled()
        page.get_by_role("button", name="Add an action").click()
        page.locator("#added-1-name").fill("gift")
        page.locator("#added-1-cost").fill("7")
        page.get_by_text("Expiry and learned cost").click()
        page.get_by_label("Then", exact=True).select_option("charge")
        page.get_by_text("Expiry and learned cost").click()  # an error in it opens it again
        page.get_by_role("button", name="Preview the change").click()
        row = page.locator(".row.action")
        expect(row.locator("#form-error")).to_contain_text("on_expiry of 'gift' must come with")
        expect(page.get_by_label("Then", exact=True)).to_be_focused()
        assert overflow(page) <= 0
        page.get_by_label("Expires after", exact=True).fill("2 hours")
        page.get_by_label("Learn its cost").check()
        page.get_by_role("button", name="Preview the change").click()
        expect(page.locator("#change")).to_contain_text("gift added")
        assert overflow(page) <= 0
        page.get_by_role("button", name="Change the campaign").click()
        expect(page.locator(".amendments")).to_contain_text("gift added")
    gift = action_of(url, name, "gift")
    assert (gift["expires"], gift["on_expiry"], gift["learn_cost"]) == ("2 hours", "charge", True)
    assert action_of(url, name, "coupon")["expires"] == "1 week"
