"""HTML: templates into responses, with the headers that every page has."""

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
from almoner.service.web import formatting

__all__ = ["ERROR_PAGES", "HEADERS", "html", "nowhere"]

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
"""Of every page: only the service's own files, nothing inline, in nobody's frame."""

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(
    {name: getattr(formatting, name) for name in ("count", "percent", "plural", "rate", "total")}
)
TEMPLATES.filters["code"] = lambda text: Markup(  # noqa: S704  # escaped before the tags come in
    re.sub("``?(.+?)``?", r"<code>\1</code>", str(escape(text)))
)


def html(
    request: Request[Any, Any, Any], template: str, *, status: int = 200, **context: Any
) -> Response[str]:
    """Return a page, which knows whether its reader may administer."""
    access: Access = request.app.state.access
    brought = access.credentials(request.scope)
    text = TEMPLATES.get_template(template).render(
        here=request.url.path,
        signed_in=brought.session is not None and brought.key is not None,
        administers=not access.needs_key or brought.right == ADMINISTER,
        **context,
    )
    return Response(text, media_type=MediaType.HTML, status_code=status, headers=HEADERS)


def nowhere(request: Request[Any, Any, Any], error: NotFoundException) -> Response[Any]:
    """Say that nothing has this address: to a browser as a page, to a program as JSON."""
    kind = request.accept.best_match([MediaType.JSON, MediaType.HTML])
    if kind == MediaType.HTML and not f"{request.url.path}/".startswith("/api/"):
        return _error_page(request, error.status_code, sentence(request, error))
    return refusal(request, error)


def _refused(request: Request[Any, Any, Any], error: AlmonerError) -> Response[str]:
    status, _ = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    return _error_page(request, status, str(error))


def _failed(request: Request[Any, Any, Any], error: HTTPException) -> Response[str]:
    return _error_page(request, error.status_code, error.detail)


def _broken(request: Request[Any, Any, Any], error: Exception) -> Response[str]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _error_page(request, 500, "this is a mistake in the service; its log says more")


def _error_page(request: Request[Any, Any, Any], status: int, message: str) -> Response[str]:
    title = HTTPStatus(status).phrase.capitalize()
    return html(
        request, "error.html", status=status, title=title, sentence=formatting.sentence(message)
    )


ERROR_PAGES: ExceptionHandlersMap = {
    AlmonerError: _refused,
    HTTPException: _failed,
    Exception: _broken,
}
"""What goes wrong on a page is shown as a page, in the library's own sentence."""
