"""UCB-ALP in C, from literal_ucb_alp.c: compiled and run as a process."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

__all__ = ["Measurement", "build", "run"]

SOURCE = Path(__file__).with_name("literal_ucb_alp.c")


class Measurement(NamedTuple):
    """CPU seconds and mean reward of a run."""

    seconds: float
    reward: float


def build(folder: Path) -> Path | None:
    """Compile the program; return None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / SOURCE.stem
    flags = ["-O3", "-march=native"]
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(program), "-lm"], check=True)
    return program


def run(program: Path, *, horizon: int, budget: int, runs: int, seed: int) -> Measurement:
    """Run the program; it measures its own CPU time, without its start."""
    arguments = [str(number) for number in (horizon, budget, runs, seed)]
    done = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True)
    seconds, _, reward = done.stdout.split()
    return Measurement(float(seconds), float(reward))
