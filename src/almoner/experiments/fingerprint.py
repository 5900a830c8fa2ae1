"""Sources: a fingerprint of the code that rows follow from, beside their settings.

The version of almoner tells releases apart, but not two states of the code between releases. Rows
that were computed by one must not stand beside rows computed by the other without a word.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

__all__ = ["fingerprint"]

PACKAGE = Path(__file__).parents[1]

SOURCES = (
    "checks.py",
    "experiments/cells.py",
    "experiments/reproduction/theory.py",
    "jit.py",
    "kernels/*.py",
    "lp.py",
    "money.py",
    "policy/*.py",
    "problem.py",
    "simulation/optimum.py",
    "simulation/oracle.py",
    "simulation/regret.py",
    "simulation/replications.py",
    "simulation/runs.py",
    "simulation/simulate.py",
)
"""All that a row may follow from once its settings are given; a test holds it to be complete."""


@cache
def fingerprint() -> str:
    """Return a hash of the sources, the same for as long as this process lives.

    Comments, docstrings and layout do not count, so that to edit them throws no result away.
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
            body[:] = [each for each in body if not _is_text(each)]
    return ast.unparse(tree)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
