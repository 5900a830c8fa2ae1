"""The loop of a simulation on rows: compiled once, and equal to itself in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.plain_kernels import plain
from support.rows import routing_rows

import almoner as al
from almoner.kernels.rows import loop
from almoner.kernels.rows.loop import ROW_FIGURES, play_rows
from almoner.kernels.rows.must_serve import SUMS
from almoner.kernels.rows.state import new_row_state
from almoner.simulation.rows.setting import orders, prepare

CASES: list[tuple[al.Policy, str | None]] = [
    (al.priced(), None),
    (al.priced(), "small"),
    (al.priced(trust=3), None),
    (al.linear(), None),
    (al.linear(), "small"),
    *((make(), None) for make in (al.dual_descent, al.pid_pacing, al.ema_pacing, al.fixed_rate)),
]


def played(kernel: Any, policy: al.Policy, default: str | None) -> list[Any]:
    """Return what two replications write: their figures, and the rounds of the second."""
    setting = prepare(routing_rows(90), policy, 400.0, 3, "shuffle", default)
    written = []
    for run, count in ((0, 2), (1, 1)):
        out = np.zeros((count, ROW_FIGURES + 3))
        rounds = 90 if run else 0
        choices, numbers = np.zeros(rounds, np.int64), np.zeros((rounds, 4))
        with np.errstate(over="ignore"):
            kernel(
                setting.lowered,
                setting.world,
                new_row_state(setting.lowered, actions=3, features=4),
                setting.root,
                run,
                orders(setting, run, count),
                out,
                choices,
                numbers,
                np.zeros(3, np.bool_),
                np.zeros(SUMS + 3),
            )
        written += [out, choices, numbers]
    return written


@pytest.mark.parametrize(("policy", "default"), CASES, ids=repr)
def test_compiled_and_plain_loops_agree(policy: al.Policy, default: str | None) -> None:
    compiled, python = played(play_rows, policy, default), played(plain(play_rows), policy, default)
    for first, second in zip(compiled, python, strict=True):
        assert first == pytest.approx(second, rel=1e-9, abs=1e-12)


def test_one_signature_serves_all_policies_with_and_without_features() -> None:
    """Each takes half a minute to compile."""
    rows = routing_rows(30)
    bare = routing_rows(30, features=None)
    for each, policy in ((rows, "linear"), (rows, "priced"), (bare, "priced")):
        al.simulate(each, policy, budget=50.0, runs=2, default="small")
        al.trace(each, policy, budget=50.0, order="file")
    kernel: Any = loop.play_rows
    assert len(kernel.for_python.signatures) == 1
