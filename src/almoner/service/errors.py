"""One shape for everything that goes wrong: ``{error, message}``, and the status that fits.

400 is a body that is not what the document says, 422 one that is but breaks a rule of the library.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any

from litestar import Request, Response
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    ValidationException,
)
from litestar.params import ParameterKwarg
from litestar.types import ExceptionHandlersMap
from msgspec import Meta, inspect

from almoner import errors
from almoner.service.api.error_messages import objection
from almoner.service.api.responses import ErrorAnswer

__all__ = ["HANDLERS", "TABLE", "Refused", "error_answer", "no_digits", "refusal", "sentence"]

log = logging.getLogger("almoner.service")

TABLE: dict[type[errors.AlmonerError], tuple[int, str]] = {
    errors.AlmonerError: (500, "error"),
    errors.InvalidInput: (422, "invalid_input"),
    errors.InvalidProblem: (422, "invalid_problem"),
    errors.InvalidPolicy: (422, "invalid_policy"),
    errors.InvalidTerms: (422, "invalid_terms"),
    errors.DifferentTerms: (409, "different_terms"),
    errors.NotFound: (404, "not_found"),
    errors.UnknownCampaign: (404, "unknown_campaign"),
    errors.UnknownDecision: (404, "unknown_decision"),
    errors.Conflict: (409, "conflict"),
    errors.StoreError: (503, "store_error"),
    errors.BrokenLedger: (500, "broken_ledger"),
    errors.NotComputable: (422, "not_computable"),
}
"""The status and the word for each error of the library."""

WORDS = {
    400: "malformed",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    431: "headers_too_large",
    503: "not_ready",
}
"""The word for each status that the service itself answers with."""


DECISION = re.compile(r"^/api/campaigns/[^/]+/decisions/([^/]+)/(?:settle|reward|cancel)$")


class Refused(HTTPException):
    """The service refuses a request: ``Refused(413, "the body must …")``."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(detail=message, status_code=status, headers=named)


def no_digits(written: str) -> str:
    """Return in a sentence that this is not the id of a decision."""
    return f"there is no decision {written[:60]!r}; an id is written in digits"


def error_answer(
    status: int, word: str, message: str, headers: dict[str, str] | None = None
) -> Response[ErrorAnswer]:
    """Return an error as a response."""
    return Response(
        ErrorAnswer(error=word, message=message),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def _library(request: Request[Any, Any, Any], error: errors.AlmonerError) -> Response[ErrorAnswer]:
    status, word = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    if status >= 500:
        log.error("%s %s: %s", request.method, request.url.path, error)
    return error_answer(status, word, str(error))


def refusal(request: Request[Any, Any, Any], error: HTTPException) -> Response[ErrorAnswer]:
    """Return what the framework, or the door, has against a request."""
    status = error.status_code
    if status >= 500 and not isinstance(error, Refused):
        return _unexpected(request, error)
    return error_answer(
        status, WORDS.get(status, "refused"), sentence(request, error), error.headers
    )


def sentence(request: Request[Any, Any, Any], error: HTTPException) -> str:
    """Return in a sentence what is wrong with a request."""
    path = request.url.path
    if isinstance(error, Refused):
        return error.detail
    if isinstance(error, NotFoundException):
        if decision := DECISION.search(path):  # not one that the route reads as a number
            return no_digits(decision[1])
        return f"there is nothing at {path}; see /docs for what there is"
    if isinstance(error, MethodNotAllowedException):
        allowed = (error.headers or {}).get("allow", "")
        return f"{path} does not take {request.method}; use {allowed}"
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        if any(entry.get("key") == "data" for entry in error.extra):
            return "the body is missing; send JSON as the document says, see /docs"
        said = [_parameter(request, entry.get("key", "")) for entry in error.extra]
        return (
            "; ".join(filter(None, said)) or "the request must be as the document says; see /docs"
        )
    return error.detail or HTTPStatus(error.status_code).description


def _parameter(request: Request[Any, Any, Any], key: str) -> str | None:
    """Return in a sentence what is wrong with a parameter of the query."""
    field = request.route_handler.parsed_fn_signature.parameters.get(key)
    if field is None or not isinstance(told := field.kwarg_definition, ParameterKwarg):
        return None
    name = told.name or told.query or key
    value: Any = request.query_params.getall(name, [None])[-1]
    if field.annotation is int:
        with suppress(ValueError):
            value = int(value)
    kind = inspect.type_info(Annotated[field.annotation, Meta(ge=told.ge, le=told.le)])
    return objection(kind, value, name=name)


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[ErrorAnswer]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_answer(
        500, "internal_error", "this is a mistake in the service, not in the request; see its log"
    )


HANDLERS: ExceptionHandlersMap = {
    errors.AlmonerError: _library,
    HTTPException: refusal,
    Exception: _unexpected,
}
