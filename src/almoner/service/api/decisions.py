"""What is asked for every visitor: decide, settle, reward, cancel."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath, JSONBody

from almoner.errors import UnknownDecision
from almoner.live.async_agent import AsyncAgent
from almoner.live.commands import Reward, arrivals
from almoner.live.decision import Decision, Settlement
from almoner.live.transaction import Decide
from almoner.service.api.decoding import Strict
from almoner.service.api.openapi import ERRORS
from almoner.service.api.requests import Batch, Bill, Rewards, Value, Visit
from almoner.service.api.responses import Decisions
from almoner.service.errors import no_digits

__all__ = ["ROUTES"]

CAMPAIGN = "/api/campaigns/{name:str}"
PATH = f"{CAMPAIGN}/decisions"


def digits_only(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse an id that Python reads as a number though it is not digits: ``+1``, ``1_0``."""
    written = connection.scope["path"].split("/")[-2]
    if not (written.isascii() and written.isdigit()):
        raise UnknownDecision(no_digits(written))


@post(PATH, dto=Strict[Visit], return_dto=None, status_code=200, responses=ERRORS)
async def decide(
    request: Request[Any, Any, Any], name: FromPath[str], data: JSONBody[Visit]
) -> Decision:
    """Decide what to do for one arrival, and hold the money for it."""
    (decision,) = await _decided(request, name, Decide(data.context, data.available, data.key))
    return decision


@post(f"{PATH}/batch", dto=Strict[Batch], return_dto=None, status_code=200, responses=ERRORS)
async def decide_batch(
    request: Request[Any, Any, Any], name: FromPath[str], data: JSONBody[Batch]
) -> Decisions:
    """Decide for several arrivals in their order: all of them or none."""
    asked = arrivals(data.contexts, data.available, data.keys)
    return Decisions(decisions=await _decided(request, name, *asked))


@post(
    f"{PATH}/{{decision:int}}/settle",
    dto=Strict[Bill],
    return_dto=None,
    status_code=200,
    responses=ERRORS,
    guards=[digits_only],
)
async def settle(
    request: Request[Any, Any, Any],
    name: FromPath[str],
    decision: FromPath[int],
    data: JSONBody[Bill],
) -> Settlement:
    """Replace what is held for an action by what it cost; the rest can be spent again."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    return await desk.settle(decision, cost=data.cost)


@post(
    f"{PATH}/{{decision:int}}/reward",
    dto=Strict[Value],
    return_dto=None,
    status_code=204,
    responses=ERRORS,
    guards=[digits_only],
)
async def reward(
    request: Request[Any, Any, Any],
    name: FromPath[str],
    decision: FromPath[int],
    data: JSONBody[Value],
) -> None:
    """Say what an action or a skip has brought, from 0 to 1; it may come late."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    await desk.reward(decision, data.value)


@post(
    f"{CAMPAIGN}/rewards",
    dto=Strict[Rewards],
    return_dto=None,
    status_code=204,
    responses=ERRORS,
)
async def reward_batch(
    request: Request[Any, Any, Any], name: FromPath[str], data: JSONBody[Rewards]
) -> None:
    """Say what several actions or skips have brought: all of it or none."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    await desk.ask(*[Reward(int(entry.id), entry.value) for entry in data.rewards])


@post(f"{PATH}/{{decision:int}}/cancel", status_code=200, responses=ERRORS, guards=[digits_only])
async def cancel(
    request: Request[Any, Any, Any], name: FromPath[str], decision: FromPath[int]
) -> Settlement:
    """Take back an action that never happened, and refund what is held for it."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    return await desk.cancel(decision)


async def _decided(request: Request[Any, Any, Any], name: str, *arrivals: Decide) -> list[Decision]:
    """Decide for arrivals, all or none, and count what was new."""
    desk: AsyncAgent = await request.app.state.desks.desk(name)
    decisions: list[Decision] = await desk.ask(*arrivals)
    for arrival, decision in zip(arrivals, decisions, strict=True):
        if arrival.new:
            request.app.state.metrics.decided(name, decision)
    return decisions


ROUTES = [decide, decide_batch, settle, reward, reward_batch, cancel]
