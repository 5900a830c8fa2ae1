"""One profile for all properties: the same examples on every machine, and no clock."""

from __future__ import annotations

from agents import memory, place
from hypothesis import settings

__all__ = ["memory", "place"]

settings.register_profile("almoner", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("almoner")
