"""Shipped conformance checks: what every policy must satisfy, and tiny problems to try it on."""

from __future__ import annotations

from almoner.testing.policies import check_policy
from almoner.testing.problems import TINY

__all__ = ["TINY", "check_policy"]
