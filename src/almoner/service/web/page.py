"""HTML pages as endpoints: sign-in before the page, error pages after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from almoner.service.auth.access import DECIDE
from almoner.service.web.templating import error_page

__all__ = ["SIGN_IN", "Page"]

SIGN_IN = "/sign-in"

Handler = Callable[..., Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """One method on the path of a page.

    Attributes
    ----------
    handler
        Takes the request and the parameters of the path.
    needs_session
        Whether requests without a valid session or key are redirected to the sign-in form.
    on_error
        Turns an exception into a response.
    """

    path: str
    handler: Handler
    method: str = "GET"
    needs_session: bool = True
    on_error: Callable[[Request, Exception], Response] = error_page

    right: ClassVar = DECIDE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        request = Request(scope, receive)
        response: Response
        if self.needs_session and request.app.services.access.right_of(scope) is None:
            target = urlencode({"next": scope["path"]})
            response = RedirectResponse(f"{SIGN_IN}?{target}", 303)
        else:
            response = await self.handler(request, **scope["path_params"])
        await response(scope, receive, send)
