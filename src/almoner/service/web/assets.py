"""Static files of the pages: only names that existed at startup are served."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from almoner.service.errors import nothing_at
from almoner.service.web.page import Page
from almoner.service.web.templating import not_found

__all__ = ["PAGES"]

FOLDER = Path(__file__).parent / "static"

FILES = {file.relative_to(FOLDER).as_posix(): file for file in FOLDER.rglob("*") if file.is_file()}


async def static_file(request: Request, name: str) -> Response:
    """Return a file; answer 404 to unknown names before the file system sees them.

    The file system raises on some names, e.g. with a NUL byte or longer than 255 bytes.
    """
    name = re.sub("/+", "/", name).strip("/")
    if name not in FILES:
        raise nothing_at(request.scope["path"])
    return FileResponse(
        FILES[name],
        headers={"Cache-Control": "no-cache"},
        filename=FILES[name].name,
        content_disposition_type="inline",
    )


PAGES = [
    Page(path="/static/{name:path}", handler=static_file, needs_session=False, on_error=not_found)
]
