"""Conformance checks for policies and stores of users, with tiny problems to run policies on."""

from __future__ import annotations

from almoner.testing.policies import check_policy
from almoner.testing.problems import TINY
from almoner.testing.stores import check_store

__all__ = ["TINY", "check_policy", "check_store"]
