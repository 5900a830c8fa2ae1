"""A service of the same framework that answers a constant: the upper limit of its speed.

``python -m benchmarks.constant`` prints its address.
"""

from __future__ import annotations

import socket

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from almoner.live.decision import Decision

__all__ = ["main"]

CONSTANT = Decision(
    id=1,
    context="new",
    action="coupon",
    probability=1.0,
    reserved=5.0,
    price=0.1,
    budget_left=1995.0,
    reason=None,
)


async def constant(request: Request) -> Response:
    return Response(msgspec.json.encode(CONSTANT), media_type="application/json")


def main() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        app = Starlette(routes=[Route("/constant", constant, methods=["POST"])])
        config = uvicorn.Config(app, access_log=False, log_level="warning")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
