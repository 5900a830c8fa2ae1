"""HTTP client of the service: one campaign, with methods named as those of `almoner.Agent`.

Requests without a response, or with a status in `RETRIED`, are retried. That is safe because every
request is idempotent: a decision has a key, and settling, rewarding, cancelling, pausing or
creating twice acts once.
"""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlencode

try:
    import httpx
except ImportError as missing:
    raise ImportError(
        "almoner.Client needs httpx, which is not installed; run pip install 'almoner[client]'"
    ) from missing

from almoner import checks, errors
from almoner.client.encoding import as_json, encoded, no_less
from almoner.live.decision import Decision, Settlement, is_id, unknown
from almoner.live.names import campaign_name

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
        self.campaign = campaign_name(campaign)
        self._patience = patience
        self._path = f"/api/campaigns/{quote(campaign, safe='')}"
        self._http = httpx.Client(
            base_url=_address(url),
            headers={} if api_key is None else {"Authorization": f"Bearer {_ascii(api_key)}"},
            timeout=timeout,
            transport=transport,
        )

    def create(self, **terms: Any) -> dict[str, Any]:
        """Create the campaign on these terms, or check that it has them; return it.

        The terms are those of `almoner.Agent.open`, including its closing times, actions and
        policies.
        """
        if "name" in terms:
            raise errors.InvalidTerms(
                f"the campaign of this client is {self.campaign!r}; leave name out, or open a "
                "client with campaign=…"
            )
        return self._ask("POST", "/api/campaigns", {"name": self.campaign, **as_json(terms)})  # type: ignore[no-any-return]

    def show(self) -> dict[str, Any]:
        """Return the campaign: its terms, and where its money is."""
        return self._ask("GET", self._path)  # type: ignore[no-any-return]

    def decide(
        self, context: str, available: Iterable[str] | None = None, key: str | None = None
    ) -> Decision:
        """Decide what to do for one arrival, and reserve the money for it.

        Without a key, a random one is sent, so that retries decide once.
        """
        body = {
            "context": context,
            "available": _actions(available),
            "key": _new_key() if key is None else key,
        }
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
            "available": _actions(available),
            "keys": [_new_key() if name is None else name for name in names],
        }
        response = self._ask("POST", f"{self._path}/decisions/batch", body)
        return [Decision(**decision) for decision in response["decisions"]]

    def settle(
        self,
        id: int | None = None,  # noqa: A002
        *,
        cost: float,
        key: str | None = None,
    ) -> Settlement:
        """Replace the reserve of an action by its actual cost; the rest can be spent again."""
        body = {**_named(id, key), "cost": no_less(cost)}
        return Settlement(**self._ask("POST", f"{self._path}/settlements", body))

    def reward(
        self,
        id: int | None = None,  # noqa: A002
        value: float | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Report the reward of an action or a skip, a number from 0 to 1; it may come late."""
        self._ask(
            "POST", f"{self._path}/rewards", {"rewards": [{**_named(id, key), "value": value}]}
        )

    def reward_many(self, values: Mapping[int | str, float]) -> None:
        """Report the rewards of several actions or skips by id or key: all of them or none."""
        if not isinstance(values, Mapping):
            raise checks.refuse("rewards", "be a table of values by id", values)
        rewards = [
            {"key" if isinstance(decision, str) else "id": decision, "value": value}
            for decision, value in values.items()
        ]
        self._ask("POST", f"{self._path}/rewards", {"rewards": rewards})

    def cancel(
        self,
        id: int | None = None,  # noqa: A002
        *,
        key: str | None = None,
    ) -> Settlement:
        """Cancel an action that never happened, and refund its reserve."""
        return Settlement(**self._ask("POST", f"{self._path}/cancellations", _named(id, key)))

    def open_decisions(
        self, older_than: str | None = None, *, limit: int = 1_000
    ) -> list[dict[str, Any]]:
        """Return the decisions whose reserve is not settled, oldest first."""
        query: dict[str, Any] = {"limit": limit}
        if older_than is not None:
            query["older_than"] = older_than
        response = self._ask("GET", f"{self._path}/open?{urlencode(query)}")
        return response["decisions"]  # type: ignore[no-any-return]

    def amend(self, *, note: str | None = None, **changes: Any) -> dict[str, Any]:
        """Change terms of the running campaign, as `almoner.Agent.amend` does; return it."""
        body = as_json({**changes, "note": note})
        return self._ask("PATCH", self._path, body)  # type: ignore[no-any-return]

    def preview_amendment(self, **changes: Any) -> dict[str, Any]:
        """Return changes in words, and the reports of the campaign as it is and with them."""
        path = f"{self._path}/amendments/preview"
        return self._ask("POST", path, as_json(changes))  # type: ignore[no-any-return]

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
        """Yield all decisions with their outcomes, oldest first.

        Retried until the first of them arrives.
        """
        path = f"{self._path}/log?format=jsonl"
        response = self._retried(lambda: self._send("GET", path, None, stream=True))
        try:
            yield from map(json.loads, _lines(response.iter_bytes()))
        except httpx.TransportError as reason:
            raise self._unanswered(reason) from None
        finally:
            response.close()

    def close(self) -> None:
        """Close the connections; the campaign stays."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the JSON of the response to a request."""
        content = None if body is None else encoded(body)
        response = self._retried(lambda: self._send(method, path, content))
        return response.json() if response.content else None

    def _retried(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send a request again while the service does not answer."""
        end, wait = monotonic() + self._patience, FIRST_WAIT
        while True:
            try:
                return send()
            except _Retry as retry:
                # Random, so that clients that failed together do not retry together.
                pause = retry.wait + wait * random.uniform(0.5, 1.0)  # noqa: S311
                if monotonic() + pause > end:
                    raise retry.error from None
            sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)

    def _send(
        self, method: str, path: str, content: bytes | None, *, stream: bool = False
    ) -> httpx.Response:
        """Return a successful response; with ``stream``, its body is still to be read."""
        if self._http.is_closed:
            raise errors.StoreError(
                f"the client of campaign {self.campaign!r} is closed; open another one"
            )
        headers = {} if content is None else {"Content-Type": "application/json"}
        request = self._http.build_request(method, path, content=content, headers=headers)
        try:
            response = self._http.send(request, stream=stream)
            if response.is_success:
                return response
            response.read()
        except httpx.TransportError as reason:
            raise _Retry(self._unanswered(reason)) from None
        if response.status_code in RETRIED:
            raise _Retry(_error(response), wait=_retry_after(response))
        raise _error(response)

    def _unanswered(self, reason: httpx.TransportError) -> errors.StoreError:
        message = str(reason) or type(reason).__name__
        return errors.StoreError(f"the service at {self._http.base_url} does not answer: {message}")


class _Retry(Exception):
    """A failed request that may succeed later."""

    def __init__(self, error: errors.AlmonerError, wait: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


def _retry_after(response: httpx.Response) -> float:
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else 0.0


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


def _address(url: Any) -> httpx.URL:
    """Return the address of a service; refuse what is none."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise checks.refuse("url", "begin with http:// or https://", url)
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as reason:
        raise checks.refuse("url", "be an address", url, str(reason)) from None


def _ascii(api_key: Any) -> str:
    if not isinstance(api_key, str) or not api_key.isascii() or not api_key.isprintable():
        raise errors.InvalidInput("api_key must be a text of ASCII characters, as it was printed")
    return api_key


def _named(decision: Any, key: str | None) -> dict[str, Any]:
    """Return the decision of a request, by its id or its key."""
    if (decision is None) == (key is None):
        raise errors.InvalidInput(
            f"a decision is given by its id or by its key, got id={decision!r} and key={key!r}; "
            "give one of them"
        )
    if key is not None:
        return {"key": key}
    if not is_id(decision):
        raise unknown(decision)
    return {"id": int(decision)}


def _actions(available: Iterable[str] | None) -> list[Any] | None:
    return None if available is None else checks.listed("available", available)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of chunks; names may have other line breaks, such as U+2028, within."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest
