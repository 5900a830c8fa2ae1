"""Benchmark of UCB-ALP: rounds per second beside programs in C, in numpy and with linprog."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import c_programs, linprog_loop, numpy_loop
from benchmarks.c_programs import LITERAL, VECTOR, CProgram
from benchmarks.machine import with_avx512
from benchmarks.measure import alternate, timed
from benchmarks.rounds import TEN, agreement, play, rate
from benchmarks.table import Row, at_least

__all__ = ["ucb_alp"]

SHORT = TEN.scaled(1000)
"""A tenth of the rounds, for the slow programs."""

RUNS = {"almoner": 96, LITERAL.source: 96, VECTOR.source: 960}
"""Runs of a measurement, multiples of the replications that each program plays at once."""

REPEATS = 12

C_BAR, C_AIM, NUMPY_BAR, LINPROG_BAR = 3.5, 6.0, 100.0, 5000.0

VECTOR_BAR = with_avx512(1.2, 0.7)
"""Almoner's lanes use AVX-512 where there is some; the program in C uses AVX2."""


def ucb_alp() -> list[Row]:
    """Return the rates of almoner, two programs in C, numpy, and an LP solver every round."""
    with TemporaryDirectory() as folder:
        built = {program: _built(program, Path(folder)) for program in (LITERAL, VECTOR)}
        programs = {program: paths for program, paths in built.items() if paths}
        best, rewards = _alternating(programs)
    rows = [
        Row(
            what="ucb_alp, almoner",
            figure=rate(best["almoner"]),
            remark=f"{TEN.horizon:,} rounds, one thread, warm",
        )
    ]
    for program in programs:
        literal = program is LITERAL
        rows.append(
            at_least(
                what="ucb_alp, literal C" if literal else "ucb_alp, our best C, AVX2",
                figure=rate(best[program.source]),
                ratio=best[program.source] / best["almoner"],
                bar=C_BAR if literal else VECTOR_BAR,
                aim=C_AIM if literal else None,
                remark=agreement(TEN, rewards[program.source], RUNS[program.source])
                + ("" if literal else "; single precision, sizes of the problem compiled in"),
            )
        )
    return [*rows, *_numpy_and_linprog(best["almoner"])]


def _built(program: CProgram, folder: Path) -> list[Path]:
    """Return the files of a program; none, with a sentence, where it cannot be run."""
    reason = c_programs.why_without(program)
    paths = [] if reason else c_programs.build(program, folder)
    if not paths:
        print(f"{program.source} is left out: {reason or 'the C compiler refuses it'}.")
    return paths


def _alternating(
    programs: dict[CProgram, list[Path]],
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return the CPU seconds of a round of almoner and each program, and the programs' rewards.

    All are measured in turn, a program with each of its sets of flags, of which the fastest counts.
    """
    rewards: dict[str, list[float]] = {program.source: [] for program in programs}

    def time_c(source: str, paths: list[Path]) -> float:
        seed = len(rewards[source])
        size = {"horizon": TEN.horizon, "budget": int(TEN.budget), "runs": RUNS[source]}
        outcomes = [c_programs.run(path, **size, seed=seed) for path in paths]
        rewards[source].append(outcomes[0].reward)  # the same with any flags, as seeds are
        return min(outcome.seconds for outcome in outcomes)

    def time_almoner() -> float:
        return timed(partial(play, "ucb_alp", RUNS["almoner"]))[0] / RUNS["almoner"] / TEN.horizon

    play("ucb_alp", 8)  # compiles
    stopwatches = {"almoner": time_almoner}
    for program, paths in programs.items():
        stopwatches[program.source] = partial(time_c, program.source, paths)
    return alternate(stopwatches, repeats=REPEATS), rewards


def _numpy_and_linprog(ours: float) -> list[Row]:
    """Return the rows of the slow programs, on the same random numbers."""
    numpy, rewards = _play_short(numpy_loop.by_sorting, 60)
    linprog, replayed = _play_short(linprog_loop.by_solver, 3)
    same = "the same rewards as" if replayed == rewards[: len(replayed)] else "OTHER REWARDS THAN"
    note = f"extrapolated from {SHORT.horizon:,} rounds"
    return [
        at_least(
            what="ucb_alp, numpy",
            figure=rate(numpy),
            ratio=numpy / ours,
            bar=NUMPY_BAR,
            remark=f"{agreement(SHORT, rewards)}; {note}",
        ),
        at_least(
            what="ucb_alp, scipy's linprog",
            figure=rate(linprog),
            ratio=linprog / ours,
            bar=LINPROG_BAR,
            remark=f"{same} numpy, run by run; {note}",
        ),
    ]


def _play_short(allocate: numpy_loop.Allocate, runs: int) -> tuple[float, list[float]]:
    """Return the CPU seconds of a round, the best of the runs, and the reward of each."""
    rng = np.random.default_rng(0)
    outcomes = [timed(lambda: numpy_loop.play(SHORT, allocate, rng)) for _ in range(runs)]
    fastest = min(seconds for seconds, _ in outcomes)
    return fastest / SHORT.horizon, [reward for _, reward in outcomes]
