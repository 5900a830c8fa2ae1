"""Accessibility of every page, checked by axe in light, in dark and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from support.browser import PHONE, ApiClient, create, open_browser, open_page
from support.live_service import in_thread

from almoner.live.agent import Agent
from almoner.service.auth.api_keys import create_key
from almoner.store import open_store

PAGES = [
    *("/", "/campaigns/watched", "/campaigns/reserved", "/campaigns/wide", "/new", "/sign-in"),
    *("/campaigns/nowhere", "/nope"),
]

RESERVING = {"actions": {"call": {"cost": 0.7, "reserve": 5.0}}}
"""Terms whose budget is all reserved after the first decision."""

WIDE = {
    "contexts": [f"context {index}" for index in range(31)],
    "actions": {f"action {index}": 1.0 for index in range(9)},
}
"""Terms with more contexts and actions than the page has rows and colours for."""

ALL_OF_DOCS = "body"
START_OF_DOCS = {
    "include": [
        [part]
        for part in ("header", ".page-head", ".contents", ".operation:nth-of-type(-n+2)", "#types")
    ]
}
"""One example of each kind of element: the whole reference takes seconds, and is checked once."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve a campaign with decisions and rewards, a wide one, and one that is all reserved."""
    with in_thread() as url:
        with ApiClient(url, create(url, name="watched")) as api:
            for decision in api.decide_many(["newcomer", "returning"] * 20):
                if decision["action"]:
                    api.reward(decision["id"], float(decision["id"] % 2))
        create(url, name="wide", **WIDE)
        with ApiClient(url, create(url, name="reserved", budget=6, **RESERVING)) as api:
            api.decide_many(["newcomer"] * 3)
        yield url


@pytest.mark.parametrize(
    ("colours", "width"), [("light", 1440), ("dark", 1440), ("light", PHONE["width"])]
)
def test_no_page_violates_a_rule(
    browser: Browser, url: str, colours: Literal["light", "dark"], width: int
) -> None:
    window = {"width": width, "height": 900}
    with open_page(browser, url, color_scheme=colours, viewport=window, expected=("404",)) as page:
        for path in PAGES:
            page.goto(path)
            page.locator("details").evaluate_all(
                "all => all.forEach(details => (details.open = true))"
            )
            assert violations(page) == [], path
        page.goto("/docs")
        once = colours == "light" and width > PHONE["width"]
        assert violations(page, ALL_OF_DOCS if once else START_OF_DOCS) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_neither_do_dialogs_previews_and_errors(
    browser: Browser, url: str, colours: Literal["light", "dark"]
) -> None:
    with open_page(browser, url, color_scheme=colours, expected=("422",)) as page:
        page.goto("/campaigns/watched")
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page) == []
        page.goto("/new")
        for label, typed in [("Name", "x"), ("Context", "a"), ("Action", "b"), ("Cost", "2")]:
            page.get_by_label(label, exact=True).first.fill(typed)
        page.get_by_label("Context", exact=True).nth(1).fill("c")
        page.get_by_label("Budget", exact=True).fill("5")
        page.get_by_label("Arrivals", exact=True).fill("9")
        page.locator("summary", has_text="More terms").click()
        page.get_by_label("to be learned").check()
        page.get_by_role("button", name="Preview the plan").click()
        expect(page.get_by_role("button", name="Start the campaign")).to_be_visible()
        assert violations(page) == []
        page.get_by_label("Reserve").fill("1")
        page.get_by_label("known mean rewards").check()
        for context in ("a", "c"):
            page.get_by_label(f"Mean reward of doing nothing for {context}").fill("0.1")
        page.get_by_role("button", name="Preview the plan").click()
        expect(page.get_by_role("alert")).not_to_be_empty()
        assert violations(page) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_neither_do_the_pages_of_a_key_that_may_only_decide(
    browser: Browser, colours: Literal["light", "dark"]
) -> None:
    store = open_store("memory:")
    key = create_key(store, "shop", right="decide")
    Agent.open(store, name="a", contexts=["b"], actions={"c": 1}, horizon=9, budget=9)
    with in_thread(store) as url, open_page(browser, url, color_scheme=colours) as page:
        page.goto("/new")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        for path in ("/new", "/", "/campaigns/a"):
            page.goto(path)
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            assert violations(page) == [], path


def violations(page: Page, part: Any = None) -> list[str]:
    """Return the violations that axe finds in a page or in a part of it, a line each."""
    results = Axe().run(page, context=part).response["violations"]
    return [f"{rule['impact']}: {rule['help']}: {rule['nodes'][0]['html']}" for rule in results]
