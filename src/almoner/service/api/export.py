"""Stream the decision log as CSV or JSON lines."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from almoner.errors import AlmonerError
from almoner.live.export import as_csv, as_jsonl, decisions
from almoner.service.api.operation import get
from almoner.service.auth.access import ADMINISTER
from almoner.service.export_pool import ExportPool
from almoner.service.services import Services

__all__ = ["OPERATIONS"]

logger = logging.getLogger("almoner.service")

CHUNK = 64_000
"""Characters sent at a time: fetching each chunk from a thread takes longer than writing a line."""

FORMATS = {"csv": ("text/csv; charset=utf-8", as_csv), "jsonl": ("application/x-ndjson", as_jsonl)}


class LogQuery(Struct, forbid_unknown_fields=True):
    """Query parameters of the log."""

    format: Literal["csv", "jsonl"] = "csv"


@get(
    "/api/campaigns/{name}/log",
    right=ADMINISTER,
    media_types=("text/csv", "application/x-ndjson"),
)
async def log(services: Services, name: str, query: LogQuery) -> Response:
    """Stream all decisions of a campaign with their outcomes, as CSV or JSON lines."""
    agent = await services.agents.get(name)
    content_type, write = FORMATS[query.format]
    return _LogStream(services.exports, _chunks(write(decisions(agent.agent))), content_type)


class _LogStream(Response):
    """Sends chunks until the end, or until the client disconnects."""

    def __init__(self, exports: ExportPool, chunks: Iterator[bytes], content_type: str) -> None:
        super().__init__()
        self._exports, self._chunks, self._content_type = exports, chunks, content_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, without reading the log if only its head is wanted."""
        headers = [(b"content-type", self._content_type.encode())]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        if scope["method"] == "HEAD":
            await send(start)
            return await send({"type": "http.response.body"})
        with self._exports.slot():
            chunk = await self._exports.next(self._chunks)  # an error can still change the status
            gone = asyncio.create_task(_disconnected(receive))
            await send(start)
            try:
                while chunk is not None and not gone.done():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    chunk = await self._exports.next(self._chunks)
            except AlmonerError as error:  # without its last chunk, the response is seen to be cut
                return logger.error("%s was cut off: %s", scope["path"], error)
            finally:
                gone.cancel()
            return await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _chunks(lines: Iterator[str]) -> Iterator[bytes]:
    """Join lines to chunks of about `CHUNK` characters."""
    chunk: list[str] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if size >= CHUNK:
            yield "".join(chunk).encode()
            chunk, size = [], 0
    yield "".join(chunk).encode()


OPERATIONS = [log]
