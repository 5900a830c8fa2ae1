"""Rendering of templates into HTML responses, with the security headers of every page."""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from almoner.service.auth.access import ADMINISTER, NOBODY, Access
from almoner.service.errors import Refused, failure, json_error
from almoner.service.web import formatting

__all__ = ["HEADERS", "error_page", "html", "not_found"]

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

NUMBERS = ("count", "exact", "percent", "plural", "rate", "total")
"""Formats of `almoner.service.web.formatting` that templates call."""

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update({name: getattr(formatting, name) for name in NUMBERS})
TEMPLATES.filters.update(isolated=formatting.isolated, visible=formatting.visible)
TEMPLATES.filters["code"] = lambda text: Markup(  # noqa: S704  # escaped before the tags are added
    re.sub("``?(.+?)``?", r"<code>\1</code>", str(escape(text)))
)

HTML_TYPES, JSON_TYPES = {"text/html", "text/*"}, {"application/json", "application/*", "*/*"}


def html(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a rendered page; its template sees whether the reader is signed in and administers."""
    access: Access = request.app.services.access
    try:
        credentials = access.credentials(request.scope)
    except Refused:  # an error page must not fail for the same reason as the page itself
        credentials = NOBODY
    text = TEMPLATES.get_template(template).render(
        here=request.scope["path"],
        signed_in=credentials.session is not None and credentials.key is not None,
        administers=not access.needs_key or credentials.right == ADMINISTER,
        **context,
    )
    return HTMLResponse(text, status, HEADERS)


def error_page(request: Request, error: Exception) -> Response:
    """Return an exception as an HTML page."""
    status, code, message, headers = failure(request, error)
    if code == "internal_error":
        message = "this is a mistake in the service; its log says more"
    page = html(
        request,
        "error.html",
        status=status,
        title=HTTPStatus(status).phrase.capitalize(),
        sentence=formatting.sentence(message),
    )
    page.headers.update(headers)
    return page


def not_found(request: Request, error: Exception) -> Response:
    """Answer 404: an HTML page to a browser, JSON to a program."""
    api = f"{request.scope['path']}/".startswith("/api/")
    if not api and _prefers_html(request.headers.get("accept", "")):
        return error_page(request, error)
    return json_error(request, error)


def _prefers_html(accept: str) -> bool:
    """Return whether an Accept header ranks HTML above JSON; a wildcard for all means JSON."""
    ranked = sorted(accept.lower().split(","), key=_quality, reverse=True)
    media_types = [entry.partition(";")[0].strip() for entry in ranked]
    return next(
        (name in HTML_TYPES for name in media_types if name in HTML_TYPES | JSON_TYPES), False
    )


def _quality(entry: str) -> float:
    match = re.search(r";\s*q=([01](?:\.[0-9]*)?)\s*$", entry)
    return float(match[1]) if match else 1.0
