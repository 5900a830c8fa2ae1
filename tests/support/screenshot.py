"""Screenshot of the demonstration's campaign page for README.md.

``make screenshot`` runs it. Visitors are simulated with a fixed seed; only the times differ.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from PIL import Image
from playwright.sync_api import expect

from almoner.live.agent import Agent
from almoner.service.demo import NAME, RATES, SHARES, TERMS
from almoner.store import Store, open_store
from support.browser import open_browser, open_page
from support.live_service import in_thread

VISITORS, BATCH, OPEN_BATCHES = 24_000, 100, 3
"""Simulated visitors, how many arrive at once, and batches whose decisions are still open."""

WIDTH, MARGIN = 1200, 12


def simulate_visitors(store: Store) -> None:
    """Fill the demonstration campaign with visitors who buy at the rates of the demonstration."""
    rng = random.Random(1)  # noqa: S311
    contexts, actions = TERMS["contexts"], list(TERMS["actions"])
    with Agent.open(store, name=NAME, **TERMS) as agent:
        for start in range(0, VISITORS, BATCH):
            indices = rng.choices(range(len(contexts)), SHARES, k=BATCH)
            decisions = agent.decide_many([contexts[index] for index in indices])
            if start >= VISITORS - OPEN_BATCHES * BATCH:
                continue
            for index, decision in zip(indices, decisions, strict=True):
                if decision.action is not None:
                    agent.settle(decision.id, cost=decision.reserved)
                    rate = RATES[index][actions.index(decision.action)]
                    agent.reward(decision.id, float(rng.random() < rate))


def main(file: str) -> None:
    """Write the screenshot to ``file``."""
    store = open_store("memory:")
    simulate_visitors(store)
    settings: dict[str, Any] = {
        "viewport": {"width": WIDTH, "height": 900},
        "color_scheme": "light",
    }
    with (
        in_thread(store) as url,
        open_browser() as browser,
        open_page(browser, url, **settings) as page,
    ):
        page.goto(f"/campaigns/{NAME}")
        expect(page.locator(".uplot")).to_have_count(3)
        panels = page.locator(".panels").bounding_box()
        assert panels is not None
        height = panels["y"] + panels["height"] + MARGIN
        page.screenshot(
            path=file, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}
        )
    with Image.open(file) as image:  # 256 colours are enough, and a third of the size
        colours = image.convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE)
        colours.save(file, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
