"""Every loop of a kernel has an end: none runs until something comes true that may never do so."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import almoner as al
from almoner.kernels.draws import beta, gamma, round_key
from almoner.kernels.indices import kl_bound
from almoner.kernels.state import LAST_PRICE, new_hulls, new_memo, new_state
from almoner.kernels.steps import decide
from almoner.lp import candidates
from almoner.policy.lowering import lower

PACKAGE = Path(al.__file__).parent
DECORATORS = {"jit_entry", "jit", "jit_callable", "jit_inline"}
BISECTION = """
while low < high:
    m = (low + high) // 2
    if rising[m] < limit:
        low = m + 1
    else:
        high = m
"""
STRANGE = [math.nan, math.inf, -math.inf, 0.0, -1.0, 1e308, 5e-324]


def kernels() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every compiled function, with its file and name."""
    for path in [PACKAGE / "lp.py", *sorted((PACKAGE / "kernels").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(one, ast.Name) and one.id in DECORATORS for one in node.decorator_list
            ):
                yield f"{path.name}: {node.name}", node


def compared(loop: ast.While) -> set[str]:
    """Return the names that the condition of a loop compares with ``<``, ``<=``, ``>`` or ``>=``.

    Only those count without which the condition is false: not one of several alternatives.
    """
    tests = [loop.test]
    if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And):
        tests = loop.test.values
    return {
        side.id
        for test in tests
        if isinstance(test, ast.Compare)
        and all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in test.ops)
        for side in (test.left, *test.comparators)
        if isinstance(side, ast.Name)
    }


def counted(loop: ast.While) -> set[str]:
    """Return the names that each pass through a loop moves by a constant other than 0."""
    return {
        line.target.id
        for line in loop.body
        if isinstance(line, ast.AugAssign)
        and isinstance(line.target, ast.Name)
        and isinstance(line.op, (ast.Add, ast.Sub))
        and isinstance(line.value, ast.Constant)
        and line.value.value
    }


def is_bisection(loop: ast.While) -> bool:
    """Return whether each pass moves one end of an interval of whole numbers to its middle."""
    first, *rest = loop.body
    match first, rest:
        case (
            ast.Assign(
                targets=[ast.Name(id=middle)],
                value=ast.BinOp(
                    left=ast.BinOp(left=ast.Name(id=low), op=ast.Add(), right=ast.Name(id=high)),
                    op=ast.FloorDiv(),
                    right=ast.Constant(value=2),
                ),
            ),
            [ast.If(body=[one], orelse=[other])],
        ):
            moves = {ast.unparse(one), ast.unparse(other)}
            return (ast.unparse(loop.test), moves) in (
                (f"{low} < {high}", {f"{low} = {middle} + 1", f"{high} = {middle}"}),
                (f"{low} + 1 < {high}", {f"{low} = {middle}", f"{high} = {middle}"}),
            )
    return False


def endless(kernel: ast.FunctionDef) -> list[int]:
    """Return the lines of the loops that count towards nothing."""
    return [
        node.lineno
        for node in ast.walk(kernel)
        if isinstance(node, ast.While)
        and not (compared(node) & counted(node) or is_bisection(node))
    ]


def test_every_loop_of_a_kernel_counts_towards_its_end() -> None:
    nodes = dict(kernels())
    assert len(nodes) > 50  # or they were not found
    assert {name: endless(node) for name, node in nodes.items() if endless(node)} == {}


@pytest.mark.parametrize(
    ("loop", "ends"),
    [
        ("while True:\n  i += 1", False),
        ("while price < high:\n  price = above", False),
        ("while i < n or price < high:\n  i += 1", False),
        ("while i < n:\n  if tried:\n    i += 1", False),
        ("while i < n and price < high:\n  i += 1", True),
        (BISECTION, True),
        (BISECTION.replace("low = m + 1", "low = m"), False),
    ],
)
def test_a_loop_that_need_not_end_is_noticed(loop: str, ends: bool) -> None:
    (kernel,) = ast.parse(
        "def kernel():\n" + "\n".join(f"  {line}" for line in loop.split("\n"))
    ).body
    assert isinstance(kernel, ast.FunctionDef)
    assert (endless(kernel) == []) == ends


@pytest.mark.parametrize("strange", STRANGE)
def test_searches_and_draws_end_whatever_they_are_given(strange: float) -> None:
    key = np.uint64(round_key(np.uint64(3), 0))
    for call in (gamma, lambda a, k: beta(a, 1.0, k), lambda a, k: beta(1.0, a, k)):
        assert isinstance(call(strange, key), float)
    for mean, level in ((strange, 0.5), (0.5, strange), (strange, strange)):
        assert isinstance(kl_bound(mean, level), float)
    for gains, costs in (([strange, 0.5], [1.0, 2.0]), ([0.5, 0.7], [strange, 2.0])):
        chosen = np.empty(2, np.int64)
        assert candidates(np.array(gains), np.array(costs), chosen) <= 2


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("name", ["thrifty", "ucb_ealp", "kl_ucb_rounded", "greedy"])
@pytest.mark.parametrize("costs", [[[1.0, 1.0]] * 3, [[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]]])
def test_decisions_end_whatever_was_learned(
    costs: list[list[float]], name: str, strange: float
) -> None:
    lowered = lower(al.recipe(name), horizon=50, budget=30.0, costs=np.array(costs))
    state = new_state(lowered)
    state.counts[:], state.sums[:], state.context_counts[:] = 2.0, [[1.0, 0.5]] * 3, 4.0
    state.progress[0] = 12
    for array in (state.sums, state.counts, state.context_counts):
        before, array.flat[1] = array.flat[1], strange
        with np.errstate(all="ignore"):
            memo, hulls = new_memo(lowered, state), new_hulls(lowered)
        if hulls is not None:
            hulls.price[LAST_PRICE] = strange
        for context in range(3):
            action, _ = decide(
                lowered, state, memo, hulls, context, np.uint64(7), np.ones(2, np.bool_)
            )
            assert -1 <= action < 2
        array.flat[1] = before
