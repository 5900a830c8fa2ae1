"""Operations on the worth of a campaign and on persons: final report, forget a person."""

from __future__ import annotations

from almoner.live.reports.final_report import FinalReport
from almoner.service.api.campaigns import CAMPAIGN
from almoner.service.api.operation import delete, get
from almoner.service.api.requests import PersonName
from almoner.service.api.responses import Forgotten
from almoner.service.auth.access import ADMINISTER
from almoner.service.services import Services

__all__ = ["OPERATIONS"]


@get(f"{CAMPAIGN}/final-report")
async def final_report(services: Services, name: str) -> FinalReport:
    """Report whether a campaign has worked: its lift, what that has cost, and other budgets."""
    agent = await services.agents.get(name)
    return await agent.final_report()


@delete(f"{CAMPAIGN}/persons", right=ADMINISTER)
async def forget(services: Services, name: str, body: PersonName) -> Forgotten:
    """Forget a person: remove all that can be traced to them, and leave the log as it is.

    The person is in the body, as addresses are written to the logs of proxies.
    """
    agent = await services.agents.get(name)
    return Forgotten(actions=await agent.forget(body.person))


OPERATIONS = [final_report, forget]
