"""Rules of an exchange with the service: the address, retries, errors, lines of a log.

Requests without a response, or with a status in `RETRIED`, are retried. That is safe because every
request is idempotent: a decision has a key, and settling, rewarding, cancelling, pausing, amending
or creating twice acts once.
"""

from __future__ import annotations

import random
from time import monotonic
from typing import Any

try:
    import httpx
except ImportError as missing:
    raise ImportError(
        "almoner.Client needs httpx, which is not installed; run pip install 'almoner[client]'"
    ) from missing

from almoner import checks, errors
from almoner.client.encoding import encoded
from almoner.client.verbs import Call

__all__ = [
    "Lines",
    "Retry",
    "Waits",
    "arguments",
    "headers",
    "httpx",
    "refusal",
    "request",
    "unanswered",
]

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


class Retry(Exception):
    """A failed request that may succeed later."""

    def __init__(self, error: errors.AlmonerError, wait: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


class Waits:
    """Waits between the attempts at one request, within the patience of a client."""

    def __init__(self, patience: float) -> None:
        self._end, self._wait = monotonic() + patience, FIRST_WAIT

    def next(self, retry: Retry) -> float:
        """Return the seconds to wait before the next attempt; raise the error if it is too late."""
        # Random, so that clients that failed together do not retry together.
        wait = retry.wait + self._wait * random.uniform(0.5, 1.0)  # noqa: S311
        if monotonic() + wait > self._end:
            raise retry.error from None
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        return wait


def arguments(url: Any, api_key: Any, *, patience: Any, timeout: Any) -> dict[str, Any]:
    """Check the settings of a client; return the arguments of httpx's."""
    checks.number("patience", patience, low=0)
    checks.number("timeout", timeout, above=0)
    return {"base_url": _address(url), "headers": headers(api_key), "timeout": timeout}


def headers(api_key: Any) -> dict[str, str]:
    """Return the headers of every request."""
    if api_key is None:
        return {}
    if not isinstance(api_key, str) or not api_key.isascii() or not api_key.isprintable():
        raise errors.InvalidInput("api_key must be a text of ASCII characters, as it was printed")
    return {"Authorization": f"Bearer {api_key}"}


def request(http: httpx.Client | httpx.AsyncClient, call: Call, campaign: str) -> httpx.Request:
    """Return the request of a call; refuse one of a client that was closed."""
    if http.is_closed:
        raise errors.StoreError(f"the client of campaign {campaign!r} is closed; open another one")
    content = None if call.body is None else encoded(call.body)
    kind = {} if content is None else {"Content-Type": "application/json"}
    return http.build_request(call.method, call.path, content=content, headers=kind)


def refusal(response: httpx.Response) -> Exception:
    """Return the error of a response that is no success and was read: a `Retry`, or final."""
    error = _error(response)
    if response.status_code in RETRIED:
        return Retry(error, wait=_retry_after(response))
    return error


def unanswered(url: httpx.URL, reason: httpx.TransportError) -> errors.StoreError:
    """Return the error of a request without a response."""
    message = str(reason) or type(reason).__name__
    return errors.StoreError(f"the service at {url} does not answer: {message}")


class Lines:
    """Splits chunks into lines; names may have other line breaks, such as U+2028, within."""

    def __init__(self) -> None:
        self._rest = b""

    def split(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk ends."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return lines

    def end(self) -> list[bytes]:
        """Return the last line, if it has no end."""
        return [self._rest] if self._rest else []


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


def _address(url: Any) -> httpx.URL:
    """Return the address of a service; refuse what is none."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise checks.refuse("url", "begin with http:// or https://", url)
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as reason:
        raise checks.refuse("url", "be an address", url, str(reason)) from None
