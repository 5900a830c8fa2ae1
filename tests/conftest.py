"""One profile for all properties: the same examples on every machine, and no clock."""

from __future__ import annotations

from hypothesis import settings
from support.agents import memory, place

__all__ = ["memory", "place"]

settings.register_profile("almoner", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("almoner")
