"""Errors over HTTP: the body ``{error, message}``, and one status for each error code.

400 is a body that does not fit the OpenAPI document, 422 one that fits but breaks a rule of the
library.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from almoner.errors import AlmonerError
from almoner.service.api.json_io import JsonResponse
from almoner.service.api.responses import ErrorAnswer

__all__ = ["STATUS", "Failure", "Refused", "failure", "json_error", "nothing_at"]

log = logging.getLogger("almoner.service")

STATUS = {
    "error": 500,
    "invalid_input": 422,
    "invalid_problem": 422,
    "invalid_policy": 422,
    "invalid_terms": 422,
    "different_terms": 409,
    "not_found": 404,
    "unknown_campaign": 404,
    "unknown_decision": 404,
    "conflict": 409,
    "store_error": 503,
    "broken_ledger": 500,
    "not_computable": 422,
    "malformed": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "method_not_allowed": 405,
    "too_slow": 408,
    "too_large": 413,
    "unsupported_media_type": 415,
    "too_many_requests": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "not_ready": 503,
}
"""HTTP status by error code: first the codes of `almoner.errors`, then those of the service."""

INTERNAL = "this is a mistake in the service, not in the request; see its log"


class Refused(Exception):
    """A request that the service rejects: ``Refused("too_large", "the body must …")``."""

    def __init__(self, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.code = code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Failure(NamedTuple):
    """An error as it is sent: status, code, message and headers."""

    status: int
    code: str
    message: str
    headers: dict[str, str]


def failure(request: Request, error: Exception) -> Failure:
    """Return how an exception is reported; log it if the request is not to blame."""
    if isinstance(error, Refused):
        return Failure(STATUS[error.code], error.code, str(error), error.headers)
    if isinstance(error, AlmonerError):
        status = STATUS[error.code]
        if status >= 500:
            log.error("%s %s: %s", request.method, request.scope["path"], error)
        return Failure(status, error.code, str(error), {})
    log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    return Failure(500, "internal_error", INTERNAL, {})


def json_error(request: Request, error: Exception) -> Response:
    """Return an exception as a JSON response."""
    status, code, message, headers = failure(request, error)
    return JsonResponse(ErrorAnswer(error=code, message=message), status, headers)


def nothing_at(path: str) -> Refused:
    """Return the error for a path without a route."""
    return Refused("not_found", f"there is nothing at {path}; see /docs for what there is")
