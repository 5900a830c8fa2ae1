"""Policies in Python as settings of cells: their class, its source, the object's own numbers."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

from almoner.policy.base import Policy

__all__ = ["describe"]


def describe(policy: Any) -> dict[str, Any]:
    """Return a policy in JSON types, such that a changed policy has another description.

    A policy in Python is described by its class and by hashes: of the source of the class, and of
    the object's attributes. Code that the class calls elsewhere is not looked at.
    """
    if isinstance(policy, Policy):
        return policy.to_dict()
    import joblib  # type: ignore[import-untyped]

    kind = type(policy)
    return {
        "kind": f"{kind.__module__}.{kind.__qualname__}",
        "source": hashlib.sha256(_source(kind).encode()).hexdigest()[:16],
        "attributes": joblib.hash(getattr(policy, "__dict__", None)),
    }


def _source(kind: type[Any]) -> str:
    """Return the source of a class, or its compiled code where there is no file of it."""
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        codes = (getattr(value, "__code__", None) for value in vars(kind).values())
        return repr([(code.co_code, code.co_consts, code.co_names) for code in codes if code])
