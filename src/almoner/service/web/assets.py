"""Static files of the pages: only names that existed at startup are served."""

from __future__ import annotations

import asyncio
import mimetypes
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from almoner.service.errors import nothing_at
from almoner.service.web.page import Page
from almoner.service.web.templating import not_found

__all__ = ["PAGES"]

FOLDER = Path(__file__).parent / "static"

FILES = {file.relative_to(FOLDER).as_posix(): file for file in FOLDER.rglob("*") if file.is_file()}


async def static_file(request: Request, name: str) -> Response:
    """Return a file; answer 404 to unknown names before the file system sees them.

    The file system raises on some names, e.g. with a NUL byte or longer than 255 bytes. A Range
    header is ignored, as it may be: the files are small, and no malformed one needs an answer.
    """
    name = re.sub("/+", "/", name).strip("/")
    if name not in FILES:
        raise nothing_at(request.scope["path"])
    return Response(
        await asyncio.to_thread(FILES[name].read_bytes),
        headers={"Cache-Control": "no-cache"},
        media_type=mimetypes.guess_type(name)[0] or "text/plain",
    )


PAGES = [
    Page(path="/static/{name:path}", handler=static_file, needs_session=False, on_error=not_found)
]
