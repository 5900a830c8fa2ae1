"""Routes of the HTML pages: list of campaigns, one campaign, create form, API reference.

The server renders every page completely; scripts only fetch a page again and update what differs.
All files come from this service, enforced by a content security policy.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from almoner.errors import AlmonerError
from almoner.live.async_agent import AsyncAgent
from almoner.live.reports.report import Report
from almoner.live.state.status import SkipReason
from almoner.service.agents import AgentPool
from almoner.service.api.amendments import preview_amendment
from almoner.service.api.campaign_terms import Guess, TermChanges
from almoner.service.api.campaigns import latest_decisions, view_of
from almoner.service.api.decoding import BodyDecoder
from almoner.service.api.preview import preview, previewed_terms
from almoner.service.errors import json_error
from almoner.service.health import PREPARING
from almoner.service.services import Services
from almoner.service.web import api_reference, views
from almoner.service.web.edit_view import amendment_view, edit_view
from almoner.service.web.page import Page
from almoner.service.web.plan_preview import plan_view
from almoner.service.web.policy_options import learning_policies
from almoner.service.web.row_plan import row_plan_view
from almoner.service.web.templating import html

__all__ = ["PAGES"]

LATEST = 20
"""Number of the latest decisions shown on the page of a campaign, and of the oldest open ones."""

decode_guess, decode_amendment = BodyDecoder(Guess), BodyDecoder(TermChanges)


async def campaigns_page(request: Request) -> Response:
    """List the campaigns, newest first."""
    services: Services = request.app.services
    names = (await services.agents.names())[::-1]
    notices = services.readiness.notices(names)
    if services.readiness.warm:
        cards = [await _card(services.agents, name) for name in names]
    else:  # opening a campaign would wait for the kernels to compile
        cards = [views.waiting_card(name) for name in names]
    empty = not cards and PREPARING not in notices
    return await asyncio.to_thread(
        html, request, "campaigns.html", cards=cards, notices=notices, empty=empty
    )


async def campaign_page(request: Request, name: str) -> Response:
    """Show one campaign."""
    agent: AsyncAgent = await request.app.services.agents.get(name)
    report, curve = await agent.report(), await asyncio.to_thread(agent.agent.reporter.curve)
    latest, campaign = await latest_decisions(agent, LATEST), await view_of(agent)
    reporter, first_id = agent.agent.reporter, agent.agent.first_id
    oldest = await asyncio.to_thread(reporter.oldest_open, first_id, LATEST) if report.open else []
    final = await agent.final_report() if report.arrivals else None

    def render() -> Response:
        horizon = _horizon(report)
        view = views.campaign_view(report, horizon, curve, latest, final, oldest, campaign)
        return html(request, "campaign.html", **view)

    return await asyncio.to_thread(render)


async def edit_page(request: Request, name: str) -> Response:
    """Show the form that changes a running campaign."""
    agent: AsyncAgent = await request.app.services.agents.get(name)
    reporter, now = agent.agent.reporter, agent.agent.now()
    view = await asyncio.to_thread(reporter.view, lambda campaign: edit_view(name, campaign, now))
    return html(request, "edit.html", **view)


async def amendment_fragment(request: Request, name: str) -> Response:
    """Return the plan before and after a change as an HTML fragment for the edit page."""
    body: TermChanges = await decode_amendment(request.scope, request.receive)
    preview = await preview_amendment(request.app.services, name, body)
    return html(request, "amendment.html", **amendment_view(preview))


async def create_page(request: Request) -> Response:
    """Show the form that creates a campaign."""
    names = (await request.app.services.agents.names())[::-1]
    return html(request, "create.html", policies=learning_policies(), campaigns=names)


async def plan_fragment(request: Request) -> Response:
    """Return the plan preview of ``/api/plan`` as an HTML fragment for the create page.

    Scores and features have no plan yet; the fragment then says how far the budget goes.
    """
    guess: Guess = await decode_guess(request.scope, request.receive)
    store = request.app.services.agents.store
    if guess.on_rows:
        terms = await asyncio.to_thread(previewed_terms, guess, store)
        return html(request, "row_plan.html", **row_plan_view(terms))
    plan = await asyncio.to_thread(preview, guess, store)
    return html(request, "plan.html", **plan_view(plan, guess))


async def api_reference_page(request: Request) -> Response:
    """Show the reference of the HTTP API, rendered from the OpenAPI document."""
    openapi = request.app.services.document
    groups = api_reference.groups(openapi)
    errors, schemas = api_reference.common_errors(groups), api_reference.schemas(openapi)
    return html(request, "api_reference.html", groups=groups, errors=errors, schemas=schemas)


async def _card(agents: AgentPool, name: str) -> views.Card:
    try:
        agent = await agents.get(name)
        report = await agent.report()
    except AlmonerError as error:  # an unreadable campaign must not hide the others
        return views.broken_card(name, error)
    return views.card(report, _horizon(report))


def _horizon(report: Report) -> float:
    """Return the number of arrivals: the horizon, or the current forecast for a closing time.

    After the closing time these are the arrivals that have come before it.
    """
    if report.closes is None:
        return report.horizon
    late = 0 if report.arrivals_left > 0 else report.skips.get(SkipReason.HORIZON, 0)
    return max(1.0, report.arrivals + report.arrivals_left - late)


PAGES = [
    Page(path="/", handler=campaigns_page),
    Page(path="/campaigns/{name}", handler=campaign_page),
    Page(path="/campaigns/{name}/edit", handler=edit_page),
    Page(
        path="/campaigns/{name}/edit/plan",
        method="POST",
        handler=amendment_fragment,
        on_error=json_error,
    ),
    Page(path="/new", handler=create_page),
    Page(  # errors as JSON: a script shows them beside the form
        path="/new/plan", method="POST", handler=plan_fragment, on_error=json_error
    ),
    Page(path="/docs", handler=api_reference_page),
]
