"""HTTP client of the service: one campaign, with methods named as those of `almoner.Agent`.

Requests without a response, or with a status in `RETRIED`, are retried, except `Client.log`. That
is safe because every request is idempotent: a decision has a key, and settling, rewarding,
cancelling, pausing or creating twice acts once.
"""

from __future__ import annotations

import json
import math
import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

import numpy as np

try:
    import httpx
except ImportError as missing:
    raise ImportError(
        "almoner.Client needs httpx, which is not installed; run pip install 'almoner[client]'"
    ) from missing

from almoner import checks, errors
from almoner.live.closing_time import ClosingTime
from almoner.live.decision import Decision, Settlement, is_id, unknown
from almoner.live.names import campaign_name
from almoner.live.terms import Action
from almoner.policy.base import Policy

__all__ = ["Client"]

RETRIED = frozenset({429, 502, 503, 504})
"""Statuses of the service, or a proxy before it, after which a request may succeed later."""

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
"""Seconds before the second attempt, doubled for each further one up to the longest."""

_ERRORS: dict[str, type[errors.AlmonerError]] = {
    **{error.code: error for error in vars(errors).values() if hasattr(error, "code")},
    "malformed": errors.InvalidInput,
    "too_large": errors.InvalidInput,
    "not_ready": errors.StoreError,
}
"""The error of the library for each code of the service; any other is an AlmonerError."""


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
        checks.number("patience", patience, low=0)
        checks.number("timeout", timeout, above=0)
        if not url.startswith(("http://", "https://")):
            raise checks.refuse("url", "begin with http:// or https://", url)
        self.campaign = campaign_name(campaign)
        self._patience = patience
        self._path = f"/api/campaigns/{quote(campaign, safe='')}"
        self._http = httpx.Client(
            base_url=url,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            timeout=timeout,
            transport=transport,
        )

    def create(self, **terms: Any) -> dict[str, Any]:
        """Create the campaign on these terms, or check that it has them; return it.

        The terms are those of `almoner.Agent.open`, including its closing times, actions and
        policies.
        """
        body = {term: _plain(value) for term, value in terms.items() if value is not None}
        return self._ask("POST", "/api/campaigns", {"name": self.campaign, **body})  # type: ignore[no-any-return]

    def show(self) -> dict[str, Any]:
        """Return the campaign: its terms, and where its money is."""
        return self._ask("GET", self._path)  # type: ignore[no-any-return]

    def decide(
        self, context: str, available: Iterable[str] | None = None, key: str | None = None
    ) -> Decision:
        """Decide what to do for one arrival, and reserve the money for it.

        Without a key, a random one is sent, so that retries decide once.
        """
        allowed = None if available is None else list(available)
        body = {"context": context, "available": allowed, "key": _new_key() if key is None else key}
        return Decision(**self._ask("POST", f"{self._path}/decisions", body))

    def decide_many(
        self,
        contexts: Iterable[str],
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order: all of them or none."""
        arrivals = checks.listed("contexts", contexts)
        names = [None] * len(arrivals) if keys is None else checks.listed("keys", keys)
        body = {
            "contexts": arrivals,
            "available": None if available is None else list(available),
            "keys": [_new_key() if name is None else name for name in names],
        }
        response = self._ask("POST", f"{self._path}/decisions/batch", body)
        return [Decision(**decision) for decision in response["decisions"]]

    def settle(self, id: int, *, cost: float) -> Settlement:  # noqa: A002
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        body = {"cost": _no_less(cost)}
        return Settlement(**self._ask("POST", f"{self._decision(id)}/settle", body))

    def reward(self, id: int, value: float) -> None:  # noqa: A002
        """Report the reward of an action or a skip, a number from 0 to 1; it may come late."""
        self._ask("POST", f"{self._decision(id)}/reward", {"value": value})

    def reward_many(self, values: Mapping[int, float]) -> None:
        """Report the rewards of several actions or skips by id: all of them or none."""
        if not isinstance(values, Mapping):
            raise checks.refuse("rewards", "be a table of values by id", values)
        rewards = [{"id": decision, "value": value} for decision, value in values.items()]
        self._ask("POST", f"{self._path}/rewards", {"rewards": rewards})

    def cancel(self, id: int) -> Settlement:  # noqa: A002
        """Cancel an action that never happened, and refund its reserve."""
        return Settlement(**self._ask("POST", f"{self._decision(id)}/cancel"))

    def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        self._ask("POST", f"{self._path}/pause")

    def resume(self) -> None:
        """Go on after a pause."""
        self._ask("POST", f"{self._path}/resume")

    def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still taken."""
        self._ask("POST", f"{self._path}/close")

    @property
    def status(self) -> str:
        """Whether the campaign is running, paused or closed."""
        return str(self.show()["status"])

    def report(self) -> dict[str, Any]:
        """Return how the campaign is doing, and what the optimum would do now."""
        return self._ask("GET", f"{self._path}/report")  # type: ignore[no-any-return]

    def latest(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest decisions, newest first, with their outcomes."""
        response = self._ask("GET", f"{self._path}/latest?limit={limit}")
        return response["decisions"]  # type: ignore[no-any-return]

    def log(self) -> Iterator[dict[str, Any]]:
        """Yield all decisions with their outcomes, oldest first."""
        with self._http.stream("GET", f"{self._path}/log?format=jsonl") as response:
            if response.status_code != httpx.codes.OK:
                response.read()
                raise _error(response)
            yield from map(json.loads, response.iter_lines())

    def close(self) -> None:
        """Close the connections; the campaign stays."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _decision(self, id: int) -> str:  # noqa: A002
        if not is_id(id):
            raise unknown(id)
        return f"{self._path}/decisions/{id}"

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the response to a request, retried while the service does not answer."""
        content = None if body is None else _encoded(body)
        end, wait = monotonic() + self._patience, FIRST_WAIT
        while True:
            try:
                return self._attempt(method, path, content)
            except _Retry as retry:
                # Random, so that clients that failed together do not retry together.
                pause = retry.wait + wait * random.uniform(0.5, 1.0)  # noqa: S311
                if monotonic() + pause > end:
                    raise retry.error from None
            sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)

    def _attempt(self, method: str, path: str, content: bytes | None) -> Any:
        if self._http.is_closed:
            raise errors.StoreError(
                f"the client of campaign {self.campaign!r} is closed; open another one"
            )
        headers = {} if content is None else {"Content-Type": "application/json"}
        try:
            response = self._http.request(method, path, content=content, headers=headers)
        except httpx.TransportError as reason:
            message = str(reason) or type(reason).__name__
            raise _Retry(
                errors.StoreError(
                    f"the service at {self._http.base_url} does not answer: {message}"
                )
            ) from None
        if response.is_success:
            return response.json() if response.content else None
        if response.status_code in RETRIED:
            raise _Retry(_error(response), wait=_retry_after(response))
        raise _error(response)


class _Retry(Exception):
    """A failed request that may succeed later."""

    def __init__(self, error: errors.AlmonerError, wait: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


def _retry_after(response: httpx.Response) -> float:
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else 0.0


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=_as_python).encode()
    except (TypeError, ValueError) as reason:
        raise errors.InvalidInput(
            f"what is sent must be finite numbers, texts, lists and tables: {reason}"
        ) from None


def _as_python(value: Any) -> Any:
    """Return a numpy scalar as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is none of these")


def _error(response: httpx.Response) -> errors.AlmonerError:
    """Return the error that a response reports."""
    try:
        body = response.json()
        return _ERRORS.get(body["error"], errors.AlmonerError)(str(body["message"]))
    except (ValueError, KeyError, TypeError):  # from a proxy before the service
        kind = errors.StoreError if response.is_server_error else errors.AlmonerError
        return kind(f"{response.url} answered {response.status_code} {response.reason_phrase}")


def _new_key() -> str:
    return secrets.token_urlsafe(15)


def _no_less(cost: Any) -> Any:
    """Return a cost for JSON: a Decimal becomes the nearest float that does not print as less."""
    if not isinstance(cost, Decimal) or not cost.is_finite():
        return _plain(cost)
    near = float(cost)
    return near if Decimal(repr(near)) >= cost else math.nextafter(near, math.inf)


def _plain(value: Any) -> Any:
    """Return a term as JSON data."""
    makers: dict[type, Callable[[Any], Any]] = {
        ClosingTime: ClosingTime.to_dict,
        Policy: Policy.to_dict,
        Action: lambda action: {"cost": _plain(action.cost), "reserve": _plain(action.reserve)},
        Decimal: float,
        datetime: datetime.isoformat,
    }
    for kind, make in makers.items():
        if isinstance(value, kind):
            return make(value)
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    return value
