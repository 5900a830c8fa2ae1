"""Rendering of templates into HTML responses, with the security headers of every page."""

from __future__ import annotations

import logging
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, NotFoundException
from litestar.types import ExceptionHandlersMap
from markupsafe import Markup, escape

from almoner.errors import AlmonerError
from almoner.service.auth.access import ADMINISTER, Access
from almoner.service.errors import TABLE, refusal, sentence
from almoner.service.web import formatting, svg

__all__ = ["ERROR_PAGES", "HEADERS", "html", "not_found"]

log = logging.getLogger("almoner.service")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every page: only the service's own files, no inline code, no framing, no caching."""

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(
    {name: getattr(formatting, name) for name in ("count", "percent", "plural", "rate", "total")},
    action_colour=svg.action_colour,
)
TEMPLATES.filters["code"] = lambda text: Markup(  # noqa: S704  # escaped before the tags are added
    re.sub("``?(.+?)``?", r"<code>\1</code>", str(escape(text)))
)


def html(
    request: Request[Any, Any, Any], template: str, *, status: int = 200, **context: Any
) -> Response[str]:
    """Return a rendered page; its template sees whether the reader is signed in and administers."""
    access: Access = request.app.state.access
    credentials = access.credentials(request.scope)
    text = TEMPLATES.get_template(template).render(
        here=request.url.path,
        signed_in=credentials.session is not None and credentials.key is not None,
        administers=not access.needs_key or credentials.right == ADMINISTER,
        **context,
    )
    return Response(text, media_type=MediaType.HTML, status_code=status, headers=HEADERS)


def not_found(request: Request[Any, Any, Any], error: NotFoundException) -> Response[Any]:
    """Answer 404: an HTML page to a browser, JSON to a program."""
    media_type = request.accept.best_match([MediaType.JSON, MediaType.HTML])
    if media_type == MediaType.HTML and not f"{request.url.path}/".startswith("/api/"):
        return _error_page(request, error.status_code, sentence(request, error))
    return refusal(request, error)


def _library_error(request: Request[Any, Any, Any], error: AlmonerError) -> Response[str]:
    status, _ = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    return _error_page(request, status, str(error))


def _http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[str]:
    return _error_page(request, error.status_code, error.detail)


def _unexpected_error(request: Request[Any, Any, Any], error: Exception) -> Response[str]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _error_page(request, 500, "this is a mistake in the service; its log says more")


def _error_page(request: Request[Any, Any, Any], status: int, message: str) -> Response[str]:
    title = HTTPStatus(status).phrase.capitalize()
    return html(
        request, "error.html", status=status, title=title, sentence=formatting.sentence(message)
    )


ERROR_PAGES: ExceptionHandlersMap = {
    AlmonerError: _library_error,
    HTTPException: _http_error,
    Exception: _unexpected_error,
}
"""Exception handlers of the pages: each shows the error message as an HTML page."""
