"""Static files of the pages: only names that existed at startup are served."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from almoner.service.auth.access import DECIDE
from almoner.service.errors import nothing_at
from almoner.service.web.templating import not_found

__all__ = ["ENDPOINTS"]

FOLDER = Path(__file__).parent / "static"

FILES = {file.relative_to(FOLDER).as_posix(): file for file in FOLDER.rglob("*") if file.is_file()}


class _StaticFiles:
    """Serves the files of the folder by name."""

    method, path, right = "GET", "/static/{name:path}", DECIDE
    on_error = staticmethod(not_found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file; answer 404 to other names before the file system sees them.

        The file system raises on some names, e.g. with a NUL byte or longer than 255 bytes.
        """
        file = FILES.get(scope["path_params"]["name"])
        if file is None:
            raise nothing_at(scope["path"])
        response = FileResponse(
            file,
            headers={"Cache-Control": "no-cache"},
            filename=file.name,
            content_disposition_type="inline",
        )
        await response(scope, receive, send)


ENDPOINTS = [_StaticFiles()]
