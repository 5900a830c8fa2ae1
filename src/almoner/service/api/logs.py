"""The decision log as a stream: what off-policy tools read, while it may be long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Annotated, Any, Literal

from litestar import Request, get
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from almoner.exports import as_csv, as_jsonl, decisions
from almoner.service.api.document import ERRORS
from almoner.service.door.access import ADMINISTER

__all__ = ["ROUTES"]

AT_ONCE = 64_000
"""Characters sent at a time: a thread is asked for each piece, which takes longer than a line."""

KINDS = {"csv": ("text/csv; charset=utf-8", as_csv), "jsonl": ("application/x-ndjson", as_jsonl)}


@get(
    "/api/campaigns/{name:str}/log",
    opt={"right": ADMINISTER},
    responses=ERRORS,
)
async def log(
    request: Request[Any, Any, Any],
    name: FromPath[str],
    form: Annotated[Literal["csv", "jsonl"], QueryParameter(name="format")] = "csv",
) -> Stream:
    """Stream all decisions of a campaign with what became of them, as CSV or JSON lines."""
    desk = await request.app.state.desks.desk(name)
    kind, write = KINDS[form]
    pieces = _pieces(write(decisions(desk.agent)))
    return Stream(_in_threads(pieces), headers={"Content-Type": kind})


def _pieces(lines: Iterator[str]) -> Generator[bytes, None, None]:
    gathered: list[str] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= AT_ONCE:
            yield "".join(gathered).encode()
            gathered, size = [], 0
    yield "".join(gathered).encode()


async def _in_threads(pieces: Generator[bytes, None, None]) -> AsyncIterator[bytes]:
    """Yield pieces that are read in threads; let go of the store when the client does."""
    try:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece
    finally:
        pieces.close()


ROUTES = [log]
