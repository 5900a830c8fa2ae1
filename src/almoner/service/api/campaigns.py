"""Operations on campaigns: create, list, show, pause, resume, close, and their reports."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Annotated

from msgspec import Meta, Struct

from almoner.errors import AlmonerError
from almoner.live.async_agent import AsyncAgent
from almoner.live.export import LoggedDecision, decisions
from almoner.live.reports.report import Report
from almoner.live.state.campaign_state import Campaign
from almoner.live.transactions.commands import SetStatus
from almoner.service.agents import AgentPool
from almoner.service.api.campaign_terms import NewCampaign
from almoner.service.api.campaign_view import CampaignView
from almoner.service.api.json_io import JsonResponse
from almoner.service.api.opening import opening
from almoner.service.api.operation import get, post
from almoner.service.api.responses import (
    CampaignList,
    CampaignStatus,
    Curve,
    Latest,
    ListedCampaign,
)
from almoner.service.auth.access import ADMINISTER
from almoner.service.services import Services
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["CAMPAIGN", "OPERATIONS", "latest_decisions", "view_of"]

PATH = "/api/campaigns"
CAMPAIGN = f"{PATH}/{{name}}"

EVENTS_PER_DECISION = 4
"""Events read at first per decision wanted: decision, settlement, reward, and one to spare."""


class LatestQuery(Struct, forbid_unknown_fields=True):
    """Query parameters of the latest decisions."""

    limit: Annotated[int, Meta(ge=1, le=200)] = 20


@get(PATH)
async def list_campaigns(services: Services) -> CampaignList:
    """List all campaigns, oldest first, with their money."""
    names = await services.agents.names()
    return CampaignList(campaigns=[await _listed(services.agents, name) for name in names])


@post(PATH, right=ADMINISTER, status=201, also={200: "It exists, on these terms"})
async def create(services: Services, body: NewCampaign) -> JsonResponse[CampaignView]:
    """Create a campaign; one that exists on the same terms is left as it is."""
    with opening(body.name):
        agent, is_new = await services.agents.create(body.name, **body.terms())
    return JsonResponse(await view_of(agent), 201 if is_new else 200)


@get(CAMPAIGN)
async def show(services: Services, name: str) -> CampaignView:
    """Show a campaign: its terms, and where its money is."""
    return await view_of(await services.agents.get(name))


@post(f"{CAMPAIGN}/pause", right=ADMINISTER)
async def pause(services: Services, name: str) -> CampaignStatus:
    """Skip all arrivals, without counting them, until the campaign is resumed."""
    return await _set_status(services, name, PAUSED)


@post(f"{CAMPAIGN}/resume", right=ADMINISTER)
async def resume(services: Services, name: str) -> CampaignStatus:
    """Go on after a pause."""
    return await _set_status(services, name, RESUMED)


@post(f"{CAMPAIGN}/close", right=ADMINISTER)
async def close(services: Services, name: str) -> CampaignStatus:
    """Close a campaign for good; settlements and rewards are still taken."""
    return await _set_status(services, name, CLOSED)


@get(f"{CAMPAIGN}/report")
async def report(services: Services, name: str) -> Report:
    """Report how a campaign is doing, and what the optimum would do now."""
    agent = await services.agents.get(name)
    return await agent.report()


@get(f"{CAMPAIGN}/curve")
async def curve(services: Services, name: str) -> Curve:
    """Return the course of a campaign so far, in a few hundred points."""
    agent = await services.agents.get(name)
    return Curve(points=await asyncio.to_thread(agent.agent.reporter.curve))


@get(f"{CAMPAIGN}/latest")
async def latest(services: Services, name: str, query: LatestQuery) -> Latest:
    """Return the latest decisions, newest first, with their outcomes."""
    agent = await services.agents.get(name)
    return Latest(decisions=await latest_decisions(agent, query.limit))


async def latest_decisions(agent: AsyncAgent, limit: int) -> list[LoggedDecision]:
    """Return the last ``limit`` decisions of a campaign, newest first."""
    return await asyncio.to_thread(_latest, agent, limit)


def _latest(agent: AsyncAgent, limit: int) -> list[LoggedDecision]:
    """Read back from the end of the log, further each time, until there are enough decisions."""
    last = agent.agent.store.last(agent.name)
    reach = EVENTS_PER_DECISION * limit
    while True:
        rows = deque(decisions(agent.agent, max(0, last - reach)), maxlen=limit)
        if len(rows) >= limit or reach >= last:
            return [LoggedDecision(**row) for row in reversed(rows)]
        reach *= 4


async def view_of(agent: AsyncAgent) -> CampaignView:
    """Return a campaign as it is now."""

    def read(campaign: Campaign) -> CampaignView:
        return CampaignView.of(agent.name, campaign, agent.agent.now())

    return await asyncio.to_thread(agent.agent.reporter.view, read)


async def _listed(agents: AgentPool, name: str) -> ListedCampaign:
    try:
        view = await view_of(await agents.get(name))
    except AlmonerError as error:  # an unreadable campaign must not hide the others
        return ListedCampaign(name=name, status="broken", message=str(error))
    fields = [field for field in ListedCampaign.__struct_fields__ if field != "message"]
    return ListedCampaign(**{field: getattr(view, field) for field in fields})


async def _set_status(services: Services, name: str, kind: str) -> CampaignStatus:
    agent = await services.agents.get(name)
    (status,) = await agent.ask(SetStatus(kind))
    return CampaignStatus(name=name, status=status)


OPERATIONS = [list_campaigns, create, show, pause, resume, close, report, curve, latest]
