"""AsyncClient: the client of the service for callers on an event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from almoner.client.exchange import (
    Lines,
    Retry,
    Waits,
    arguments,
    httpx,
    refusal,
    request,
    unanswered,
)
from almoner.client.verbs import Call, Verbs
from almoner.live.decision import Decision, Settlement

__all__ = ["AsyncClient"]


class AsyncClient:
    """A campaign of an HTTP service, with awaitable methods; for the parameters see `Client`.

    Examples
    --------
    ::

        async with almoner.AsyncClient("http://127.0.0.1:8000", campaign="spring") as spring:
            decision = await spring.decide("returning")
            await spring.reward(decision.id, 1.0)
    """

    def __init__(
        self,
        url: str,
        *,
        campaign: str,
        api_key: str | None = None,
        patience: float = 30.0,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        settings = arguments(url, api_key, patience=patience, timeout=timeout)
        self._verbs, self._patience = Verbs(campaign), patience
        self._http = httpx.AsyncClient(**settings, transport=transport)

    @property
    def campaign(self) -> str:
        """The name of the campaign."""
        return self._verbs.campaign

    async def create(self, **terms: Any) -> dict[str, Any]:
        """Create the campaign on these terms, or check that it has them; return it.

        The terms are those of `almoner.Agent.open`, including its closing times, actions and
        policies.
        """
        return await self._ask(self._verbs.create(terms))  # type: ignore[no-any-return]

    async def show(self) -> dict[str, Any]:
        """Return the campaign: its terms, and where its money is."""
        return await self._ask(self._verbs.show())  # type: ignore[no-any-return]

    async def decide(
        self,
        context: str | None = None,
        available: Iterable[str] | None = None,
        key: str | None = None,
        person: str | None = None,
        costs: Mapping[str, Any] | None = None,
        scores: Mapping[Any, float] | None = None,
        features: Mapping[str, float] | None = None,
    ) -> Decision:
        """Decide what to do for one arrival, and reserve the money for it.

        Without a key, a random one is sent, so that retries decide once.
        """
        call = self._verbs.decide(context, available, key, person, costs, scores, features)
        return await self._ask(call)  # type: ignore[no-any-return]

    async def decide_many(
        self,
        contexts: Iterable[str] | None = None,
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
        persons: Iterable[str | None] | None = None,
        costs: Iterable[Mapping[str, Any] | None] | None = None,
        scores: Iterable[Mapping[Any, float]] | None = None,
        features: Iterable[Mapping[str, float]] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order: all of them or none."""
        call = self._verbs.decide_many(contexts, available, keys, persons, costs, scores, features)
        return await self._ask(call)  # type: ignore[no-any-return]

    async def settle(
        self,
        id: int | None = None,  # noqa: A002
        *,
        cost: Any,
        key: str | None = None,
    ) -> Settlement:
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        return await self._ask(self._verbs.settle(id, cost, key))  # type: ignore[no-any-return]

    async def reward(
        self,
        id: int | None = None,  # noqa: A002
        value: float | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Report the reward of an action or a skip, in the campaign's range; it may come late."""
        await self._ask(self._verbs.reward(id, value, key))

    async def reward_many(self, values: Mapping[int, float] | Mapping[str, float]) -> None:
        """Report the rewards of several actions or skips by id or key: all of them or none."""
        await self._ask(self._verbs.reward_many(values))

    async def cancel(
        self,
        id: int | None = None,  # noqa: A002
        *,
        key: str | None = None,
    ) -> Settlement:
        """Cancel an action that never happened, and refund its reserve."""
        return await self._ask(self._verbs.cancel(id, key))  # type: ignore[no-any-return]

    async def open_decisions(
        self, older_than: Any = None, *, limit: int = 1_000
    ) -> list[dict[str, Any]]:
        """Return the decisions whose reserve is not settled, oldest first."""
        return await self._ask(self._verbs.open_decisions(older_than, limit))  # type: ignore[no-any-return]

    async def amend(self, *, note: str | None = None, **changes: Any) -> dict[str, Any]:
        """Change terms of the running campaign, as `almoner.Agent.amend` does; return it."""
        return await self._ask(self._verbs.amend(note, changes))  # type: ignore[no-any-return]

    async def preview_amendment(self, *, note: str | None = None, **changes: Any) -> dict[str, Any]:
        """Return changes in words, and the reports of the campaign as it is and with them."""
        call = self._verbs.preview_amendment(note, changes)
        return await self._ask(call)  # type: ignore[no-any-return]

    async def forget(self, person: str) -> int:
        """Remove everything that can be traced to a person; return how many actions were kept."""
        return await self._ask(self._verbs.forget(person))  # type: ignore[no-any-return]

    async def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        await self._ask(self._verbs.switch("pause"))

    async def resume(self) -> None:
        """Go on after a pause."""
        await self._ask(self._verbs.switch("resume"))

    async def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still taken."""
        await self._ask(self._verbs.switch("close"))

    async def report(self) -> dict[str, Any]:
        """Return how the campaign is doing, and what the optimum would do now."""
        return await self._ask(self._verbs.report())  # type: ignore[no-any-return]

    async def final_report(self) -> dict[str, Any]:
        """Return whether the campaign has worked: its lift, its cost, and other budgets."""
        return await self._ask(self._verbs.final_report())  # type: ignore[no-any-return]

    async def latest(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest decisions, newest first, with their outcomes."""
        return await self._ask(self._verbs.latest(limit))  # type: ignore[no-any-return]

    async def status(self) -> str:
        """Return whether the campaign is running, paused or closed."""
        return str((await self.show())["status"])

    async def log(self) -> AsyncIterator[dict[str, Any]]:
        """Yield all decisions with their outcomes, oldest first.

        Retried until the first of them arrives.
        """
        response, lines = await self._send(self._verbs.log(), stream=True), Lines()
        try:
            async for chunk in response.aiter_bytes():
                for line in lines.split(chunk):
                    yield json.loads(line)
            for line in lines.end():
                yield json.loads(line)
        except httpx.TransportError as reason:
            raise unanswered(self._http.base_url, reason) from None
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections; the campaign stays."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _ask(self, call: Call) -> Any:
        """Return the answer to a call."""
        response = await self._send(call)
        return call.read(response.json()) if response.content else None

    async def _send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        """Send a request, again while the service does not answer; return a successful response.

        With ``stream``, its body is still to be read.
        """
        waits = Waits(self._patience)
        while True:
            try:
                return await self._attempt(call, stream=stream)
            except Retry as retry:
                await asyncio.sleep(waits.next(retry))

    async def _attempt(self, call: Call, *, stream: bool) -> httpx.Response:
        prepared = request(self._http, call, self.campaign)
        try:
            response = await self._http.send(prepared, stream=stream)
            if response.is_success:
                return response
            await response.aread()
        except httpx.TransportError as reason:
            raise Retry(unanswered(self._http.base_url, reason)) from None
        raise refusal(response)
