"""HTTP client of the service: one campaign, with methods named as those of `almoner.Agent`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from time import sleep
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

__all__ = ["Client"]


class Client:
    """A campaign of an HTTP service.

    Parameters
    ----------
    url
        The address of the service, such as ``http://127.0.0.1:8000``.
    campaign
        The name of the campaign.
    api_key
        The API key, if the service needs one.
    patience
        Seconds to retry while the service does not answer.
    timeout
        Seconds to wait for one answer.
    transport
        Sends the requests, for tests; ordinary connections if left out.

    Examples
    --------
    ::

        with almoner.Client("http://127.0.0.1:8000", campaign="spring") as spring:
            decision = spring.decide("returning")
            spring.reward(decision.id, 1.0)
    """

    def __init__(
        self,
        url: str,
        *,
        campaign: str,
        api_key: str | None = None,
        patience: float = 30.0,
        timeout: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        settings = arguments(url, api_key, patience=patience, timeout=timeout)
        self._verbs, self._patience = Verbs(campaign), patience
        self._http = httpx.Client(**settings, transport=transport)

    @property
    def campaign(self) -> str:
        """The name of the campaign."""
        return self._verbs.campaign

    def create(self, **terms: Any) -> dict[str, Any]:
        """Create the campaign on these terms, or check that it has them; return it.

        The terms are those of `almoner.Agent.open`, including its closing times, actions and
        policies.
        """
        return self._ask(self._verbs.create(terms))  # type: ignore[no-any-return]

    def show(self) -> dict[str, Any]:
        """Return the campaign: its terms, and where its money is."""
        return self._ask(self._verbs.show())  # type: ignore[no-any-return]

    def decide(
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
        return self._ask(call)  # type: ignore[no-any-return]

    def decide_many(
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
        return self._ask(call)  # type: ignore[no-any-return]

    def settle(
        self,
        id: int | None = None,  # noqa: A002
        *,
        cost: Any,
        key: str | None = None,
    ) -> Settlement:
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        return self._ask(self._verbs.settle(id, cost, key))  # type: ignore[no-any-return]

    def reward(
        self,
        id: int | None = None,  # noqa: A002
        value: float | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Report the reward of an action or a skip, in the campaign's range; it may come late."""
        self._ask(self._verbs.reward(id, value, key))

    def reward_many(self, values: Mapping[int, float] | Mapping[str, float]) -> None:
        """Report the rewards of several actions or skips by id or key: all of them or none."""
        self._ask(self._verbs.reward_many(values))

    def cancel(
        self,
        id: int | None = None,  # noqa: A002
        *,
        key: str | None = None,
    ) -> Settlement:
        """Cancel an action that never happened, and refund its reserve."""
        return self._ask(self._verbs.cancel(id, key))  # type: ignore[no-any-return]

    def open_decisions(self, older_than: Any = None, *, limit: int = 1_000) -> list[dict[str, Any]]:
        """Return the decisions whose reserve is not settled, oldest first."""
        return self._ask(self._verbs.open_decisions(older_than, limit))  # type: ignore[no-any-return]

    def amend(self, *, note: str | None = None, **changes: Any) -> dict[str, Any]:
        """Change terms of the running campaign, as `almoner.Agent.amend` does; return it."""
        return self._ask(self._verbs.amend(note, changes))  # type: ignore[no-any-return]

    def preview_amendment(self, *, note: str | None = None, **changes: Any) -> dict[str, Any]:
        """Return changes in words, and the reports of the campaign as it is and with them."""
        return self._ask(self._verbs.preview_amendment(note, changes))  # type: ignore[no-any-return]

    def forget(self, person: str) -> int:
        """Remove everything that can be traced to a person; return how many actions were kept."""
        return self._ask(self._verbs.forget(person))  # type: ignore[no-any-return]

    def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        self._ask(self._verbs.switch("pause"))

    def resume(self) -> None:
        """Go on after a pause."""
        self._ask(self._verbs.switch("resume"))

    def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still taken."""
        self._ask(self._verbs.switch("close"))

    def report(self) -> dict[str, Any]:
        """Return how the campaign is doing, and what the optimum would do now."""
        return self._ask(self._verbs.report())  # type: ignore[no-any-return]

    def final_report(self) -> dict[str, Any]:
        """Return whether the campaign has worked: its lift, its cost, and other budgets."""
        return self._ask(self._verbs.final_report())  # type: ignore[no-any-return]

    def latest(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest decisions, newest first, with their outcomes."""
        return self._ask(self._verbs.latest(limit))  # type: ignore[no-any-return]

    @property
    def status(self) -> str:
        """Whether the campaign is running, paused or closed."""
        return str(self.show()["status"])

    def log(self) -> Iterator[dict[str, Any]]:
        """Yield all decisions with their outcomes, oldest first.

        Retried until the first of them arrives.
        """
        response, lines = self._send(self._verbs.log(), stream=True), Lines()
        try:
            for chunk in response.iter_bytes():
                yield from map(json.loads, lines.split(chunk))
            yield from map(json.loads, lines.end())
        except httpx.TransportError as reason:
            raise unanswered(self._http.base_url, reason) from None
        finally:
            response.close()

    def close(self) -> None:
        """Close the connections; the campaign stays."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, call: Call) -> Any:
        """Return the answer to a call."""
        response = self._send(call)
        return call.read(response.json()) if response.content else None

    def _send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        """Send a request, again while the service does not answer; return a successful response.

        With ``stream``, its body is still to be read.
        """
        waits = Waits(self._patience)
        while True:
            try:
                return self._attempt(call, stream=stream)
            except Retry as retry:
                sleep(waits.next(retry))

    def _attempt(self, call: Call, *, stream: bool) -> httpx.Response:
        prepared = request(self._http, call, self.campaign)
        try:
            response = self._http.send(prepared, stream=stream)
            if response.is_success:
                return response
            response.read()
        except httpx.TransportError as reason:
            raise Retry(unanswered(self._http.base_url, reason)) from None
        raise refusal(response)
