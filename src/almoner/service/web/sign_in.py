"""Sign-in and sign-out: an API key starts a session, kept in an HTTP-only cookie."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from litestar import Request, Response, get, post
from litestar.datastructures import Cookie
from litestar.response import Redirect

from almoner.service.auth.access import COOKIE, Access
from almoner.service.auth.sessions import LIFETIME
from almoner.service.web.templating import html

__all__ = ["ROUTES", "require_session", "right"]

PATH = "/sign-in"

KEY_COOKIE = "almoner_key"
"""Cookie in which earlier versions kept the key itself; deleted at sign-in and sign-out."""


def right(request: Request[Any, Any, Any]) -> str | None:
    """Return the right of the request's session or key, None without a valid one."""
    access: Access = request.app.state.access
    return access.right_of(request.scope)


def require_session(request: Request[Any, Any, Any]) -> Redirect | None:
    """Redirect requests without a valid session to the sign-in form (a ``before_request`` hook)."""
    if right(request) is not None:
        return None
    return Redirect(f"{PATH}?{urlencode({'next': request.url.path})}", status_code=303)


@get(PATH)
async def form(request: Request[Any, Any, Any]) -> Response[str]:
    """Show the sign-in form."""
    target = request.query_params.get("next", "/")
    return html(request, "sign_in.html", next=_local_path(target), error="")


@post(PATH, status_code=303)
async def sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
    """Start a session, if the key is valid."""
    fields = await request.form()
    key, target = str(fields.get("key", "")).strip(), _local_path(str(fields.get("next", "/")))
    access: Access = request.app.state.access
    session = access.sessions.begin(key)
    if session is None and access.needs_key:
        message = "This key is not valid: it may be mistyped, or revoked."
        return html(request, "sign_in.html", status=401, next=target, error=message)
    cookies = [_cookie(request, KEY_COOKIE)]
    if session is not None:
        cookies.append(_cookie(request, COOKIE, session, LIFETIME))
    return Redirect(target, status_code=303, cookies=cookies)


@post("/sign-out", status_code=303)
async def sign_out(request: Request[Any, Any, Any]) -> Redirect:
    """End the session."""
    access: Access = request.app.state.access
    session = access.credentials(request.scope).session
    if session is not None:
        access.sessions.end(session)
    cookies = [_cookie(request, name) for name in (COOKIE, KEY_COOKIE)]
    return Redirect("/", status_code=303, cookies=cookies)


def _cookie(
    request: Request[Any, Any, Any], name: str, value: str = "", seconds: int = 0
) -> Cookie:
    """Return a cookie; an empty value with a lifetime of 0 deletes it in the browser."""
    return Cookie(
        name,
        value=value,
        path="/",
        max_age=seconds,
        httponly=True,
        samesite="strict",
        secure=_over_https(request),
    )


def _over_https(request: Request[Any, Any, Any]) -> bool:
    """Return whether the browser uses HTTPS, also where a proxy terminates it (by its origin)."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")


def _local_path(target: str) -> str:
    """Return ``target`` if it is a path of this service, else ``/``: no open redirects."""
    local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if local and target.isprintable() else "/"


ROUTES = [form, sign_in, sign_out]
