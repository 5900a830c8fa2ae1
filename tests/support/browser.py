"""A real browser on the service's page, that notices what a person would not: errors and leaks.

The browser is Debian's chromium, and playwright is started and stopped for each module: its
synchronous form keeps an event loop running in the thread of the tests, in which no other test
could then start one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

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

PHONE = {"width": 360, "height": 740}

SHOP = {
    "name": "spring coupons",
    "contexts": ["newcomer", "returning"],
    "actions": {"reminder": 1.0, "coupon": 5.0},
    "horizon": 1000,
    "budget": 1500,
    "seed": 1,
}
"""A campaign to look at."""


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
def visit(
    browser: Browser, url: str, *, expected: tuple[str, ...] = (), **settings: Any
) -> Iterator[Page]:
    """Open a page; at the end, no error may be on its console and no request have left ``url``.

    Parameters
    ----------
    browser, url
        Where to open it, and the service that it is to keep to.
    expected
        Words by which errors on the console are known that a test means to cause.
    settings
        Of the browser's context: colours, viewport, clock.
    """
    wrong: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(
            word in message.text for word in expected
        ):
            wrong.append(message.text)

    def asked(request: Request) -> None:
        if not request.url.startswith(url):
            wrong.append(f"a request has left the service: {request.url}")

    context = browser.new_context(base_url=url, locale="en-GB", timezone_id="UTC", **settings)
    try:
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", heard)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", asked)
        yield page
        assert not wrong, wrong
    finally:
        context.close()


class Visitors:
    """Visitors of a campaign, who come through the API."""

    def __init__(self, url: str, campaign: str) -> None:
        self._client = httpx.Client(base_url=f"{url}/api/campaigns/{campaign}")

    def __enter__(self) -> Visitors:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def come(self, context: str) -> dict[str, Any]:
        """Let one come, and return what was decided."""
        return self._done(self._client.post("/decisions", json={"context": context}))

    def come_all(self, contexts: list[str]) -> list[dict[str, Any]]:
        """Let several come, and return what was decided."""
        answer = self._client.post("/decisions/batch", json={"contexts": contexts})
        decisions: list[dict[str, Any]] = self._done(answer)["decisions"]
        return decisions

    def reward(self, decision: int, value: float) -> None:
        """Say what one of them has brought."""
        answer = self._client.post(f"/decisions/{decision}/reward", json={"value": value})
        assert answer.is_success, answer.text

    def settle(self, decision: int, cost: float) -> None:
        """Say what one of them has cost."""
        self._done(self._client.post(f"/decisions/{decision}/settle", json={"cost": cost}))

    def _done(self, answer: httpx.Response) -> dict[str, Any]:
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found


def create(url: str, **changes: Any) -> str:
    """Create a campaign like `SHOP`, and return its name."""
    terms = {**SHOP, **changes}
    answer = httpx.post(f"{url}/api/campaigns", json=terms)
    assert answer.is_success, answer.text
    return str(terms["name"])


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return wide
