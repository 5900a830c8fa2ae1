"""Metrics for Prometheus: requests, decisions, transactions, and the money of each campaign."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request, Response, get
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from almoner.errors import StoreError
from almoner.live.campaign import Campaign
from almoner.live.decision import Decision
from almoner.live.ledger import Ledger
from almoner.service.agents import Desks
from almoner.service.api.openapi import ERRORS

__all__ = ["ROUTES", "Metrics"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Everything that is counted in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "almoner_request_seconds",
            "How long answers took, by route and status.",
            ["method", "route", "status"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._decisions = Counter(
            "almoner_decisions",
            "Decisions by campaign and outcome: an action, or the reason for a skip.",
            ["campaign", "outcome"],
            registry=self.registry,
        )
        self._callers = Histogram(
            "almoner_transaction_callers",
            "Callers that shared a transaction.",
            ["campaign"],
            buckets=SIZES,
            registry=self.registry,
        )
        self._money = Gauge(
            "almoner_money",
            "The budget of a campaign: spent, reserved and left.",
            ["campaign", "part"],
            registry=self.registry,
        )

        # To find a counter by its labels takes longer than to count: these are remembered.
        self._answers: dict[tuple[str, str, int], Histogram] = {}
        self._outcomes: dict[tuple[str, str | None], Counter] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        known = self._answers.get((method, route, status))
        if known is None:
            known = self._requests.labels(method, route, status)
            self._answers[method, route, status] = known
        known.observe(seconds)

    def decided(self, campaign: str, decision: Decision) -> None:
        """Count a decision."""
        outcome = "served" if decision.action is not None else decision.reason
        known = self._outcomes.get((campaign, outcome))
        if known is None:
            known = self._outcomes[campaign, outcome] = self._decisions.labels(campaign, outcome)
        known.inc()

    def shared(self, campaign: str, callers: int) -> None:
        """Count a transaction."""
        self._callers.labels(campaign).observe(callers)

    async def text(self, desks: Desks) -> bytes:
        """Return all of it as Prometheus reads it, with the money as it is now."""
        for desk in desks.at_work():
            try:
                ledger = await asyncio.to_thread(desk.agent.reporter.view, _ledger)
            except StoreError:  # the other figures are wanted all the more
                continue
            amount = desk.agent.terms.unit.amount
            for part in ("spent", "reserved", "left"):
                self._money.labels(desk.name, part).set(amount(getattr(ledger, part)))
        return generate_latest(self.registry)


def _ledger(campaign: Campaign) -> Ledger:
    return campaign.ledger


@get("/metrics", media_type="text/plain", responses=ERRORS)
async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return figures for Prometheus."""
    state = request.app.state
    return Response(await state.metrics.text(state.desks), media_type=CONTENT_TYPE_LATEST)


ROUTES = [metrics]
