"""Fingerprint of the code that rows are computed by.

The version of almoner identifies releases, but not states of the code between them. Rows computed
by two such states must not be mixed unnoticed.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

__all__ = ["fingerprint"]

PACKAGE = Path(__file__).parents[1]

SOURCES = (
    "checks/*.py",
    "compilation/*.py",
    "experiments/cells.py",
    "experiments/plain_policies.py",
    "experiments/reproduction/concentration.py",
    "experiments/reproduction/served.py",
    "fit.py",
    "jit.py",
    "kernels/**/*.py",
    "lp.py",
    "money.py",
    "policy/*.py",
    "problem.py",
    "simulation/**/*.py",
    "tables.py",
)
"""The files that the rows of given settings depend on; a test proves the list complete."""


@cache
def fingerprint() -> str:
    """Return a hash of the sources, computed once per process.

    Comments, docstrings and layout do not count, so that editing them discards no result.
    """
    paths = [path for pattern in SOURCES for path in sorted(PACKAGE.glob(pattern))]
    texts = [f"{path.name}\n{essence(path.read_text(encoding='utf-8'))}" for path in paths]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def essence(source: str) -> str:
    r"""Return source code without comments, docstrings and layout.

    Examples
    --------
    >>> essence("def half(x):\n    '''Halve.'''\n    return (x / 2)  # not x // 2\n")
    'def half(x):\n    return x / 2'
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [each for each in body if not _is_docstring(each)]
    return ast.unparse(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
