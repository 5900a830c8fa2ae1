"""Conformance checks for policies of users, with tiny problems to run them on."""

from __future__ import annotations

from almoner.testing.policies import check_policy
from almoner.testing.problems import TINY

__all__ = ["TINY", "check_policy"]
