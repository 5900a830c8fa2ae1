"""Hypothesis profile of all tests, with the same examples on every machine and no deadline."""

from __future__ import annotations

from hypothesis import settings
from support.agents import factory, memory

__all__ = ["factory", "memory"]

settings.register_profile("almoner", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("almoner")
