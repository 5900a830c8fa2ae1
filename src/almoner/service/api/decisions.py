"""Operations on decisions: decide, settle, reward, cancel."""

from __future__ import annotations

from typing import Any

from almoner.live.decision import Decision, Settlement
from almoner.live.transactions.commands import arrivals
from almoner.live.transactions.follow_ups import Reward
from almoner.live.transactions.transaction import Command, Decide
from almoner.service.api.operation import post
from almoner.service.api.requests import Batch, Bill, BillOf, CancellationOf, Rewards, Value, Visit
from almoner.service.api.responses import Decisions
from almoner.service.services import Services

__all__ = ["OPERATIONS"]

CAMPAIGN = "/api/campaigns/{name}"
PATH = f"{CAMPAIGN}/decisions"


@post(PATH)
async def decide(services: Services, name: str, body: Visit) -> Decision:
    """Decide what to do for one arrival, and reserve the money for it."""
    row = body.costs, body.scores, body.features
    command = Decide(body.context, body.available, body.key, body.person, *row)
    (decision,) = await _ask(services, name, command)
    _count(services, name, command, decision)
    return decision  # type: ignore[no-any-return]


@post(f"{PATH}/batch")
async def decide_batch(services: Services, name: str, body: Batch) -> Decisions:
    """Decide for several arrivals in their order: all of them or none."""
    row = body.costs, body.scores, body.features
    command = arrivals(body.contexts, body.available, body.keys, body.persons, *row)
    (decisions,) = await _ask(services, name, command)
    for arrival, decision in zip(command.arrivals, decisions, strict=True):
        _count(services, name, arrival, decision)
    return Decisions(decisions=decisions)


@post(f"{PATH}/{{decision}}/settle")
async def settle(services: Services, name: str, decision: int, body: Bill) -> Settlement:
    """Replace the reserve of an action by its actual cost; the rest can be spent again."""
    agent = await services.agents.get(name)
    return await agent.settle(decision, cost=body.cost)


@post(f"{PATH}/{{decision}}/reward", status=204)
async def reward(services: Services, name: str, decision: int, body: Value) -> None:
    """Report the reward of an action or a skip, in the campaign's range; it may come late."""
    await _ask(services, name, Reward(decision, body.value))


@post(f"{CAMPAIGN}/rewards", status=204)
async def reward_batch(services: Services, name: str, body: Rewards) -> None:
    """Report the rewards of several actions or skips: all of them or none."""
    agent = await services.agents.get(name)
    await agent.ask(*[Reward(_id(e.id), e.value, key=e.key) for e in body.rewards])


@post(f"{CAMPAIGN}/settlements")
async def settle_by_key(services: Services, name: str, body: BillOf) -> Settlement:
    """Replace the reserve of an action by its actual cost, by the decision's id or its key."""
    agent = await services.agents.get(name)
    return await agent.settle(_id(body.id), cost=body.cost, key=body.key)


@post(f"{CAMPAIGN}/cancellations")
async def cancel_by_key(services: Services, name: str, body: CancellationOf) -> Settlement:
    """Cancel an action that never happened, by the decision's id or its key."""
    agent = await services.agents.get(name)
    return await agent.cancel(_id(body.id), key=body.key)


@post(f"{PATH}/{{decision}}/cancel")
async def cancel(services: Services, name: str, decision: int) -> Settlement:
    """Cancel an action that never happened, and refund its reserve."""
    agent = await services.agents.get(name)
    return await agent.cancel(decision)


async def _ask(services: Services, name: str, command: Command) -> list[Any]:
    """Return a list of the answer to a command on a campaign."""
    agent = services.agents.find(name) or await services.agents.get(name)
    return await agent.ask(command)


def _count(services: Services, name: str, arrival: Decide, decision: Decision) -> None:
    """Count a decision, if it is new."""
    if not arrival.repeated:
        services.metrics.decided(name, decision)


def _id(number: float | None) -> int | None:
    return None if number is None else int(number)


OPERATIONS = [
    decide,
    decide_batch,
    settle,
    reward,
    reward_batch,
    cancel,
    settle_by_key,
    cancel_by_key,
]
