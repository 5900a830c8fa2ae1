"""Operations for monitoring: health, readiness, Prometheus metrics."""

from __future__ import annotations

from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from almoner.service.api.operation import ERRORS, get
from almoner.service.api.responses import Health
from almoner.service.services import Services

__all__ = ["OPERATIONS"]


@get("/health", errors={})
async def health(services: Services) -> Health:
    """Confirm that the process runs."""
    return Health(status="ok")


@get("/ready", errors={503: ERRORS[503]})
async def ready(services: Services) -> Health:
    """Confirm that the kernels are compiled and the store answers."""
    await services.readiness.check()
    return Health(status="ready")


@get("/metrics", media_types=("text/plain",))
async def metrics(services: Services) -> Response:
    """Return figures for Prometheus."""
    return Response(
        await services.metrics.text(services.agents),
        headers={"Content-Type": CONTENT_TYPE_LATEST},
    )


OPERATIONS = [health, ready, metrics]
