"""Stream the decision log, in threads of its own, to a few clients at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from litestar import Request, Response, get
from litestar.params import FromPath, QueryParameter
from litestar.types import Receive, Scope, Send

from almoner.errors import AlmonerError
from almoner.live.export import as_csv, as_jsonl, decisions
from almoner.service.api.openapi import ERRORS
from almoner.service.auth.access import ADMINISTER
from almoner.service.errors import Refused

__all__ = ["ROUTES", "Exports"]

logger = logging.getLogger("almoner.service")

AT_ONCE = 64_000
"""Characters sent at a time: a thread is asked for each piece, which takes longer than a line."""

THREADS = 2
"""Exports that read at a time; more would take the interpreter from the requests of others."""

MOST = 4
"""Exports under way at a time, those included whose clients are slow to read."""

RETRY_AFTER = 30
"""Seconds after which to ask again when there are more."""

KINDS = {"csv": ("text/csv; charset=utf-8", as_csv), "jsonl": ("application/x-ndjson", as_jsonl)}


class Exports:
    """The exports under way, and the threads that they run in."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="export")
        self.under_way = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Count an export while it is under way; refuse it if there are too many."""
        if self.under_way >= MOST:
            raise Refused(
                503,
                f"{MOST} exports are under way, as many as there may be; ask again in a moment",
                Retry_After=str(RETRY_AFTER),
            )
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1

    async def next(self, pieces: Iterator[bytes]) -> bytes | None:
        """Return the next piece, read in a thread; None at the end."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, next, pieces, None)

    def close(self) -> None:
        """Begin nothing new."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@get(
    "/api/campaigns/{name:str}/log",
    opt={"right": ADMINISTER},
    responses=ERRORS,
)
async def log(
    request: Request[Any, Any, Any],
    name: FromPath[str],
    form: Annotated[Literal["csv", "jsonl"], QueryParameter(name="format")] = "csv",
) -> Response[str]:
    """Stream all decisions of a campaign with what became of them, as CSV or JSON lines."""
    desk = await request.app.state.desks.desk(name)
    kind, write = KINDS[form]
    return _Stream(request.app.state.exports, _pieces(write(decisions(desk.agent))), kind)


class _Stream(Response[str]):
    """Sends pieces until the end, or until the client has gone."""

    def __init__(self, exports: Exports, pieces: Iterator[bytes], kind: str) -> None:
        super().__init__("")
        self._exports, self._pieces, self._kind = exports, pieces, kind

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **more: Any) -> Any:
        """Return what sends it."""
        return self._send

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._exports.slot():
            piece = await self._exports.next(self._pieces)  # an error now is still an answer
            gone = asyncio.create_task(_disconnected(receive))
            headers = [(b"content-type", self._kind.encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            try:
                while piece is not None and not gone.done():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    piece = await self._exports.next(self._pieces)
            except AlmonerError as error:  # the client sees that the end is missing
                logger.error("%s was cut off: %s", scope["path"], error)
                return
            finally:
                gone.cancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _pieces(lines: Iterator[str]) -> Iterator[bytes]:
    gathered: list[str] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= AT_ONCE:
            yield "".join(gathered).encode()
            gathered, size = [], 0
    yield "".join(gathered).encode()


ROUTES = [log]
