"""Policies as data: reward knowledge × context knowledge × allocation rule × prior."""

from __future__ import annotations

from almoner.policy.base import Policy

__all__ = ["Policy"]
