"""Campaigns: create, list, show, pause, resume, close; how they are doing."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Annotated, Any

from litestar import HttpMethod, Request, Response, get, post, route
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter

from almoner.errors import StoreError
from almoner.live.async_agent import AsyncAgent
from almoner.live.campaign import Campaign
from almoner.live.commands import SetStatus
from almoner.live.export import decisions
from almoner.live.report import Report
from almoner.service.agents import Desks
from almoner.service.api.decoding import Strict
from almoner.service.api.openapi import ERRORS
from almoner.service.api.opening import opening
from almoner.service.api.requests import NewCampaign
from almoner.service.api.responses import (
    CampaignList,
    CampaignView,
    Curve,
    Latest,
    ListedCampaign,
    LoggedDecision,
    State,
)
from almoner.service.auth.access import ADMINISTER
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["ROUTES"]

PATH = "/api/campaigns"
ONE = f"{PATH}/{{name:str}}"

EVENTS_PER_DECISION = 4
"""A decision, its settlement, its reward, and one for luck: where to look for the latest first."""


@route(PATH, http_method=HttpMethod.OPTIONS, include_in_schema=False, status_code=204)
async def methods() -> Response[None]:
    """Say what the path takes: the framework would forget one of two handlers."""
    return Response(None, status_code=204, headers={"Allow": "GET, OPTIONS, POST"})


@get(PATH, responses=ERRORS)
async def list_campaigns(request: Request[Any, Any, Any]) -> CampaignList:
    """List all campaigns, oldest first, with their money."""
    desks: Desks = request.app.state.desks
    names = await desks.names()
    return CampaignList(campaigns=[await _listed(desks, name) for name in names])


@post(
    PATH,
    dto=Strict[NewCampaign],
    return_dto=None,
    opt={"right": ADMINISTER},
    responses={200: ResponseSpec(CampaignView, description="It exists, on these terms"), **ERRORS},
)
async def create(
    request: Request[Any, Any, Any], data: JSONBody[NewCampaign]
) -> Response[CampaignView]:
    """Create a campaign; one that exists on the same terms is left as it is."""
    desks: Desks = request.app.state.desks
    with opening(data.name):
        known = data.name.isprintable() and await desks.exists(data.name)
        desk = await desks.desk(data.name, **data.terms())
    return Response(await _view(desk), status_code=200 if known else 201)


@get(ONE, responses=ERRORS)
async def show(request: Request[Any, Any, Any], name: FromPath[str]) -> CampaignView:
    """Show a campaign: its terms, and where its money is."""
    return await _view(await request.app.state.desks.desk(name))


@post(f"{ONE}/pause", opt={"right": ADMINISTER}, status_code=200, responses=ERRORS)
async def pause(request: Request[Any, Any, Any], name: FromPath[str]) -> State:
    """Skip all arrivals, without counting them, until the campaign is resumed."""
    return await _switched(request, name, PAUSED)


@post(f"{ONE}/resume", opt={"right": ADMINISTER}, status_code=200, responses=ERRORS)
async def resume(request: Request[Any, Any, Any], name: FromPath[str]) -> State:
    """Go on after a pause."""
    return await _switched(request, name, RESUMED)


@post(f"{ONE}/close", opt={"right": ADMINISTER}, status_code=200, responses=ERRORS)
async def close(request: Request[Any, Any, Any], name: FromPath[str]) -> State:
    """Close a campaign for good; settlements and rewards are still taken."""
    return await _switched(request, name, CLOSED)


@get(f"{ONE}/report", responses=ERRORS)
async def report(request: Request[Any, Any, Any], name: FromPath[str]) -> Report:
    """Report how a campaign is doing, and what the optimum would do now."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    return await desk.report()


@get(f"{ONE}/curve", responses=ERRORS)
async def curve(request: Request[Any, Any, Any], name: FromPath[str]) -> Curve:
    """Return the way a campaign has come, in a few hundred points."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    return Curve(points=await asyncio.to_thread(desk.agent.reporter.curve))


@get(f"{ONE}/latest", responses=ERRORS)
async def latest(
    request: Request[Any, Any, Any],
    name: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = 20,
) -> Latest:
    """Return the latest decisions, newest first, with what has become of them."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    return Latest(decisions=await asyncio.to_thread(_latest, desk, limit))


def _latest(desk: AsyncAgent, limit: int) -> list[LoggedDecision]:
    last = desk.agent.store.last(desk.name)
    reach = EVENTS_PER_DECISION * limit
    while True:
        found = deque(decisions(desk.agent, max(0, last - reach)), maxlen=limit)
        if len(found) >= limit or reach >= last:
            return [LoggedDecision(**row) for row in reversed(found)]
        reach *= 4


async def _view(desk: AsyncAgent) -> CampaignView:
    def read(campaign: Campaign) -> CampaignView:
        return CampaignView.of(desk.name, campaign, desk.agent.now())

    return await asyncio.to_thread(desk.agent.reporter.view, read)


async def _listed(desks: Desks, name: str) -> ListedCampaign:
    try:
        view = await _view(await desks.desk(name))
    except StoreError as error:  # one that cannot be read must not hide the others
        return ListedCampaign(name=name, status="broken", message=str(error))
    shown = [field for field in ListedCampaign.__struct_fields__ if field != "message"]
    return ListedCampaign(**{field: getattr(view, field) for field in shown})


async def _switched(request: Request[Any, Any, Any], name: str, kind: str) -> State:
    desk = await request.app.state.desks.desk(name)
    (status,) = await desk.ask(SetStatus(kind))
    return State(name=name, status=status)


ROUTES = [methods, list_campaigns, create, show, pause, resume, close, report, curve, latest]
