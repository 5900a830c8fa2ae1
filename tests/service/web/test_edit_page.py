"""Edit page: the plan before and after a change, the change itself, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, expect
from support.browser import SHOP, ApiClient, open_browser, open_page
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
