"""Metrics for Prometheus: requests, decisions, transactions, and the money of each campaign."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from almoner.errors import StoreError
from almoner.live.costs.ledger import Ledger
from almoner.live.decision import Decision
from almoner.live.state.campaign_state import Campaign
from almoner.service.agents import AgentPool
from almoner.service.request_times import RequestTimes

__all__ = ["Metrics"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = RequestTimes(
            "almoner_request_seconds",
            "How long answers took, by route and status.",
            ["method", "route", "status"],
            SECONDS,
        )
        self.registry.register(self._requests)
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

        # Finding a counter by its labels takes longer than counting, so counters are kept.
        self._outcomes: dict[tuple[str, str | None], Counter] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests.observe((method, route, status), seconds)

    def decided(self, campaign: str, decision: Decision) -> None:
        """Count a decision."""
        labels = campaign, "served" if decision.action is not None else decision.reason
        counter = self._outcomes.get(labels)
        if counter is None:
            counter = self._outcomes[labels] = self._decisions.labels(*labels)
        counter.inc()

    def shared(self, campaign: str, callers: int) -> None:
        """Count a transaction and its callers."""
        self._callers.labels(campaign).observe(callers)

    async def text(self, agents: AgentPool) -> bytes:
        """Return all figures in the format of Prometheus, with the present money of campaigns."""
        for agent in agents.open_agents():
            try:
                ledger = await asyncio.to_thread(agent.agent.reporter.view, _ledger)
            except StoreError:  # the other figures matter all the more
                continue
            amount = agent.agent.terms.unit.amount
            for part in ("spent", "reserved", "left"):
                self._money.labels(agent.name, part).set(amount(getattr(ledger, part)))
        return generate_latest(self.registry)


def _ledger(campaign: Campaign) -> Ledger:
    return campaign.ledger
