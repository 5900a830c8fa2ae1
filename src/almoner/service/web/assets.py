"""Static files of the pages: only names that existed at startup are served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litestar import Request
from litestar.datastructures import CacheControlHeader
from litestar.exceptions import NotFoundException
from litestar.static_files import create_static_files_router

__all__ = ["ROUTES"]

FOLDER = Path(__file__).parent / "static"

NAMES = frozenset(
    f"/{file.relative_to(FOLDER).as_posix()}" for file in FOLDER.rglob("*") if file.is_file()
)


async def refuse_unknown(request: Request[Any, Any, Any]) -> None:
    """Answer 404 to unknown names before the file system sees them.

    The file system raises on some names, e.g. with a NUL byte or longer than 255 bytes.
    """
    if str(request.path_params["file_path"]) not in NAMES:
        raise NotFoundException


ROUTES = [
    create_static_files_router(
        "/static",
        [FOLDER],
        cache_control=CacheControlHeader(no_cache=True),
        before_request=refuse_unknown,
    )
]
