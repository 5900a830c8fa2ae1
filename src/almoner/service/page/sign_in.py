"""Signing in: a person's key, kept in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from litestar import Request, Response, get, post
from litestar.datastructures import Cookie
from litestar.response import Redirect

from almoner.service.door.access import COOKIE, Access
from almoner.service.page.html import html

__all__ = ["ROUTES", "right", "show_sign_in"]

PATH = "/sign-in"

DAYS = 30
"""After so many days a person signs in again."""


def right(request: Request[Any, Any, Any]) -> str | None:
    """Return what the person at the browser has the right to."""
    access: Access = request.app.state.access
    return access.right_of(request.cookies.get(COOKIE))


def show_sign_in(request: Request[Any, Any, Any]) -> Redirect | None:
    """Send a person without a valid key to the form, and then back; for ``before_request``."""
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
    """Keep the key, if it is valid."""
    given = await request.form()
    key, target = str(given.get("key", "")).strip(), _own(str(given.get("next", "/")))
    access: Access = request.app.state.access
    if access.right_of(key) is None:
        sentence = "This key is not valid: it may be mistyped, or revoked."
        return html(request, "sign_in.html", status=401, next=target, error=sentence)
    cookie = Cookie(
        COOKIE,
        value=key,
        path="/",
        max_age=DAYS * 24 * 3600,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return Redirect(target, status_code=303, cookies=[cookie])


@post("/sign-out", status_code=303)
async def sign_out() -> Redirect:
    """Forget the key."""
    forgotten = Cookie(COOKIE, value="", path="/", max_age=0, httponly=True, samesite="lax")
    return Redirect("/", status_code=303, cookies=[forgotten])


def _own(target: str) -> str:
    """Return a path of this service; never one that leads elsewhere."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if inside and target.isprintable() else "/"


ROUTES = [form, sign_in, sign_out]
