"""Operations that change a running campaign, and those on decisions that are still open."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from almoner.live.reports.open_decisions import LIMIT
from almoner.service.api.campaign_terms import TermChanges
from almoner.service.api.campaign_view import CampaignView
from almoner.service.api.campaigns import CAMPAIGN, view_of
from almoner.service.api.operation import get, patch, post
from almoner.service.api.responses import AmendmentPreview, OpenDecisions
from almoner.service.auth.access import ADMINISTER
from almoner.service.services import Services

__all__ = ["OPERATIONS", "preview_amendment"]


class OpenQuery(Struct, forbid_unknown_fields=True):
    """Query parameters of the open decisions."""

    older_than: str | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000)] = LIMIT


@patch(CAMPAIGN, right=ADMINISTER)
async def amend(
    services: Services, name: str, body: TermChanges, caller: str | None
) -> CampaignView:
    """Change terms of a running campaign; everything that was learned stays.

    The log keeps the change with its note and the name of the API key.
    """
    agent = await services.agents.get(name)
    await services.agents.run(
        lambda: agent.agent.amend(note=body.note, by=caller, **body.changes())
    )
    return await view_of(agent)


@post(f"{CAMPAIGN}/amendments/preview")
async def preview(services: Services, name: str, body: TermChanges) -> AmendmentPreview:
    """Report a campaign as it is, and as it would be after a change; nothing is changed."""
    return await preview_amendment(services, name, body)


async def preview_amendment(services: Services, name: str, body: TermChanges) -> AmendmentPreview:
    """Return the reports before and after a change, and the changes in words."""
    agent = await services.agents.get(name)
    changes, before, after = await asyncio.to_thread(
        lambda: agent.agent.preview_amendment(note=body.note, **body.changes())
    )
    return AmendmentPreview(changes=changes, before=before, after=after)


@get(f"{CAMPAIGN}/open")
async def open_decisions(services: Services, name: str, query: OpenQuery) -> OpenDecisions:
    """Return the decisions whose reserve is not settled, oldest first."""
    agent = await services.agents.get(name)
    rows = await asyncio.to_thread(
        lambda: agent.agent.open_decisions(query.older_than, limit=query.limit)
    )
    return OpenDecisions(decisions=rows)


OPERATIONS = [amend, preview, open_decisions]
