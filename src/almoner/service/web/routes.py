"""Routes of the HTML pages: list of campaigns, one campaign, create form, API reference.

The server renders every page completely; scripts only fetch a page again and update what differs.
All files come from this service, enforced by a content security policy.
"""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request, Response, Router, get, post
from litestar.params import FromPath, JSONBody

from almoner.errors import StoreError
from almoner.live.async_agent import AsyncAgent
from almoner.live.closing_time import ClosingTime
from almoner.live.report import Report
from almoner.service.agents import Desks
from almoner.service.api import campaigns
from almoner.service.api.decoding import Strict
from almoner.service.api.openapi import document
from almoner.service.api.preview import preview
from almoner.service.api.requests import Guess
from almoner.service.health import PREPARING, Readiness
from almoner.service.web import api_reference, sign_in, views
from almoner.service.web.plan_preview import plan_view
from almoner.service.web.templating import ERROR_PAGES, html

__all__ = ["ROUTES"]

LATEST = 20
"""Number of decisions shown on the page of a campaign."""


@get("/")
async def campaigns_page(request: Request[Any, Any, Any]) -> Response[str]:
    """List the campaigns, newest first."""
    desks: Desks = request.app.state.desks
    readiness: Readiness = request.app.state.readiness
    names = (await desks.names())[::-1]
    notices = readiness.notices(names)
    if readiness.warm:
        cards = [await _card(desks, name) for name in names]
    else:  # opening a campaign would wait for the kernels to compile
        cards = [views.waiting_card(name) for name in names]
    empty = not cards and PREPARING not in notices
    return await asyncio.to_thread(
        html, request, "campaigns.html", cards=cards, notices=notices, empty=empty
    )


@get("/campaigns/{name:str}")
async def campaign_page(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[str]:
    """Show one campaign."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    report, curve = await desk.report(), await asyncio.to_thread(desk.agent.reporter.curve)
    latest = await campaigns.latest.fn(request, name=name, limit=LATEST)

    def render() -> Response[str]:
        view = views.campaign_view(report, _horizon(desk, report), curve, latest.decisions)
        return html(request, "campaign.html", **view)

    return await asyncio.to_thread(render)


@get("/new")
async def create_page(request: Request[Any, Any, Any]) -> Response[str]:
    """Show the form that creates a campaign."""
    return html(request, "create.html", policies=views.learning_policies())


@post("/new/plan", dto=Strict[Guess], return_dto=None, status_code=200)
async def plan_fragment(request: Request[Any, Any, Any], data: JSONBody[Guess]) -> Response[str]:
    """Return the plan preview of ``/api/plan`` as an HTML fragment for the create page."""
    plan = await asyncio.to_thread(preview, data, request.app.state.desks.store)
    return html(request, "plan.html", **plan_view(plan, data))


@get("/docs")
async def api_reference_page(request: Request[Any, Any, Any]) -> Response[str]:
    """Show the reference of the HTTP API, rendered from the OpenAPI document."""
    openapi = document(request.app)
    groups = api_reference.groups(openapi)
    errors, schemas = api_reference.common_errors(groups), api_reference.schemas(openapi)
    return html(request, "api_reference.html", groups=groups, errors=errors, schemas=schemas)


async def _card(desks: Desks, name: str) -> views.Card:
    try:
        desk = await desks.desk(name)
        report = await desk.report()
    except StoreError as error:  # an unreadable campaign must not hide the others
        return views.broken_card(name, error)
    return views.card(report, _horizon(desk, report))


def _horizon(desk: AsyncAgent, report: Report) -> float:
    """Return the number of arrivals: the horizon, or the current forecast for a closing time."""
    horizon = desk.agent.terms.horizon
    if isinstance(horizon, ClosingTime):
        return max(1.0, report.arrivals + report.arrivals_left)
    return float(horizon)


ROUTES = [
    Router(
        "/",
        route_handlers=[campaigns_page, campaign_page, create_page, api_reference_page],
        before_request=sign_in.require_session,
        exception_handlers=ERROR_PAGES,
        include_in_schema=False,
    ),
    Router(  # errors as JSON: a script shows them beside the form
        "/",
        route_handlers=[plan_fragment],
        before_request=sign_in.require_session,
        include_in_schema=False,
    ),
    Router(
        "/",
        route_handlers=sign_in.ROUTES,
        exception_handlers=ERROR_PAGES,
        include_in_schema=False,
    ),
]
