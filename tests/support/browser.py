"""Chromium on the service's page, with checks for console errors and requests to other hosts.

The browser is Debian's. Playwright is started and stopped for each module: its synchronous form
keeps an event loop running in the test thread, where no other test could start one meanwhile.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from support.waiting import PATIENCE

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

expect.set_options(timeout=PATIENCE * 1000)

PHONE = {"width": 360, "height": 740}

SHOP = {
    "name": "spring coupons",
    "contexts": ["newcomer", "returning"],
    "actions": {"reminder": 1.0, "coupon": 5.0},
    "horizon": 1000,
    "budget": 1500,
    "seed": 1,
}
"""Terms of an example campaign."""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start chromium, and end it."""
    program = shutil.which("chromium")
    if program is None:
        raise RuntimeError("the page is tested in chromium, which is missing: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(
    browser: Browser, url: str, *, expected: tuple[str, ...] = (), **settings: Any
) -> Iterator[Page]:
    """Open a page; at the end, assert that its console has no error and no request left ``url``.

    Parameters
    ----------
    browser, url
        The browser, and the service that requests must stay within.
    expected
        Words of console errors that a test causes on purpose.
    settings
        Settings of the browser context: colours, viewport, clock.
    """
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(
            word in message.text for word in expected
        ):
            problems.append(message.text)

    def on_request(request: Request) -> None:
        if not request.url.startswith(url):
            problems.append(f"a request has left the service: {request.url}")

    context = browser.new_context(base_url=url, locale="en-GB", timezone_id="UTC", **settings)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", on_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", on_request)
        yield page
        assert not problems, problems
    finally:
        context.close()


class ApiClient:
    """Client of one campaign in the HTTP API."""

    def __init__(self, url: str, campaign: str) -> None:
        self._client = httpx.Client(base_url=f"{url}/api/campaigns/{campaign}", timeout=PATIENCE)

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def decide(self, context: str) -> dict[str, Any]:
        """Decide for one arrival."""
        return self._body(self._client.post("/decisions", json={"context": context}))

    def decide_many(self, contexts: list[str]) -> list[dict[str, Any]]:
        """Decide for a batch of arrivals."""
        answer = self._client.post("/decisions/batch", json={"contexts": contexts})
        decisions: list[dict[str, Any]] = self._body(answer)["decisions"]
        return decisions

    def reward(self, decision: int, value: float) -> None:
        """Reward a decision."""
        answer = self._client.post(f"/decisions/{decision}/reward", json={"value": value})
        assert answer.is_success, answer.text

    def settle(self, decision: int, cost: float) -> None:
        """Settle a decision."""
        self._body(self._client.post(f"/decisions/{decision}/settle", json={"cost": cost}))

    def _body(self, answer: httpx.Response) -> dict[str, Any]:
        assert answer.is_success, answer.text
        body: dict[str, Any] = answer.json()
        return body


def create(url: str, **changes: Any) -> str:
    """Create a campaign like `SHOP`, and return its name."""
    terms = {**SHOP, **changes}
    answer = httpx.post(f"{url}/api/campaigns", json=terms, timeout=PATIENCE)
    assert answer.is_success, answer.text
    return str(terms["name"])


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return wide
