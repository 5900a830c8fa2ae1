"""Services: the objects that the handlers of all requests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from almoner.service.agents import AgentPool
from almoner.service.auth.access import Access
from almoner.service.export_pool import ExportPool
from almoner.service.health import Readiness
from almoner.service.metrics import Metrics

__all__ = ["Services"]


@dataclass(frozen=True, kw_only=True)
class Services:
    """Shared objects of one application, and its OpenAPI document."""

    agents: AgentPool
    access: Access
    metrics: Metrics
    readiness: Readiness
    exports: ExportPool
    document: dict[str, Any]
