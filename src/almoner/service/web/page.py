"""HTML pages as endpoints: sign-in before the page, error pages after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from almoner.service.endpoint import Endpoint
from almoner.service.web.templating import error_page

__all__ = ["SIGN_IN", "Page"]

SIGN_IN = "/sign-in"


@dataclass(frozen=True, kw_only=True)
class Page(Endpoint):
    """One method on the path of a page; the handler takes the request and the path's parameters.

    Attributes
    ----------
    needs_session
        Whether requests without a valid session or key are redirected to the sign-in form.
    """

    on_error: Callable[[Request, Exception], Response] = error_page
    needs_session: bool = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        request = Request(scope, receive)
        response: Response
        if self.needs_session and request.app.services.access.right_of(scope) is None:
            # The path in the scope is decoded: as an address, its ?, # and % must be quoted again.
            target = urlencode({"next": quote(scope["path"])})
            response = RedirectResponse(f"{SIGN_IN}?{target}", 303)
        else:
            response = await self.handler(request, **scope["path_params"])
        await response(scope, receive, send)
