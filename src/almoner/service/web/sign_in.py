"""Sign in and out: a key begins a session, kept in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from litestar import Request, Response, get, post
from litestar.datastructures import Cookie
from litestar.response import Redirect

from almoner.service.auth.access import COOKIE, Access
from almoner.service.auth.sessions import LIFETIME
from almoner.service.web.templating import html

__all__ = ["ROUTES", "right", "show_sign_in"]

PATH = "/sign-in"

KEY_COOKIE = "almoner_key"
"""The cookie in which earlier versions kept the key itself; it is taken away."""


def right(request: Request[Any, Any, Any]) -> str | None:
    """Return what the person at the browser has the right to."""
    access: Access = request.app.state.access
    return access.right_of(request.scope)


def show_sign_in(request: Request[Any, Any, Any]) -> Redirect | None:
    """Send a person without a valid session to the form, and then back; for ``before_request``."""
    if right(request) is not None:
        return None
    return Redirect(f"{PATH}?{urlencode({'next': request.url.path})}", status_code=303)


@get(PATH)
async def form(request: Request[Any, Any, Any]) -> Response[str]:
    """Ask for a key."""
    target = request.query_params.get("next", "/")
    return html(request, "sign_in.html", next=_own(target), error="")


@post(PATH, status_code=303)
async def sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
    """Begin a session, if the key is valid."""
    given = await request.form()
    key, target = str(given.get("key", "")).strip(), _own(str(given.get("next", "/")))
    access: Access = request.app.state.access
    session = access.sessions.begin(key)
    if session is None and access.needs_key:
        sentence = "This key is not valid: it may be mistyped, or revoked."
        return html(request, "sign_in.html", status=401, next=target, error=sentence)
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
    """Return a cookie; one without a value takes away what the browser has."""
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
    """Return whether the browser speaks HTTPS: a proxy may end it, the origin still says so."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")


def _own(target: str) -> str:
    """Return a path of this service; never one that leads elsewhere."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if inside and target.isprintable() else "/"


ROUTES = [form, sign_in, sign_out]
