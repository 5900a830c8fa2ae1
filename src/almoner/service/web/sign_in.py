"""Sign-in and sign-out: an API key starts a session, kept in an HTTP-only cookie."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from almoner.service.api.decoding import check_content_type, read_body
from almoner.service.auth.access import COOKIE
from almoner.service.auth.sessions import LIFETIME
from almoner.service.services import Services
from almoner.service.web.page import SIGN_IN, Page
from almoner.service.web.templating import html

__all__ = ["PAGES"]

FORM = "application/x-www-form-urlencoded"

KEY_COOKIE = "almoner_key"
"""Cookie in which earlier versions kept the key itself; deleted at sign-in and sign-out."""


async def form(request: Request) -> Response:
    """Show the sign-in form."""
    target = request.query_params.get("next", "/")
    return html(request, "sign_in.html", next=_local_path(target), error="")


async def sign_in(request: Request) -> Response:
    """Start a session, if the key is valid."""
    body = await read_body(request.receive)
    check_content_type(request.scope, "a form", FORM)
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    fields = dict(reversed(pairs))  # the first value of a field counts
    key, target = fields.get("key", "").strip(), _local_path(fields.get("next", "/"))
    services: Services = request.app.services
    session = services.access.sessions.begin(key)
    if session is None and services.access.needs_key:
        message = "This key is not valid: it may be mistyped, or revoked."
        return html(request, "sign_in.html", status=401, next=target, error=message)
    response = RedirectResponse(target, 303)
    _set_cookie(request, response, KEY_COOKIE)
    if session is not None:
        _set_cookie(request, response, COOKIE, session, LIFETIME)
    return response


async def sign_out(request: Request) -> Response:
    """End the session."""
    services: Services = request.app.services
    session = services.access.credentials(request.scope).session
    if session is not None:
        services.access.sessions.end(session)
    response = RedirectResponse("/", 303)
    for name in (COOKIE, KEY_COOKIE):
        _set_cookie(request, response, name)
    return response


def _set_cookie(
    request: Request, response: Response, name: str, value: str = "", seconds: int = 0
) -> None:
    """Set a cookie; an empty value with a lifetime of 0 deletes it in the browser."""
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        httponly=True,
        samesite="strict",
        secure=_over_https(request),
    )


def _over_https(request: Request) -> bool:
    """Return whether the browser uses HTTPS, also where a proxy terminates it (by its origin)."""
    return request.scope["scheme"] == "https" or request.headers.get("origin", "").startswith(
        "https:"
    )


def _local_path(target: str) -> str:
    """Return ``target`` if it is a path of this service, else ``/``: no open redirects."""
    local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if local and target.isprintable() else "/"


PAGES = [
    Page(path=SIGN_IN, handler=form, needs_session=False),
    Page(path=SIGN_IN, handler=sign_in, method="POST", needs_session=False),
    Page(path="/sign-out", handler=sign_out, method="POST", needs_session=False),
]
