"""The literal C program beside this file: compiled into a folder of its own and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

__all__ = ["Outcome", "build", "run"]

SOURCE = Path(__file__).with_name("literal_ucb_alp.c")


class Outcome(NamedTuple):
    """CPU seconds, and the mean reward of a run."""

    seconds: float
    reward: float


def build(folder: Path) -> Path | None:
    """Return the compiled program, or nothing where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / SOURCE.stem
    flags = ["-O3", "-march=native"]
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(program), "-lm"], check=True)
    return program


def run(program: Path, *, horizon: int, budget: int, runs: int, seed: int) -> Outcome:
    """Run the program; it measures itself, so that starting it does not count."""
    arguments = [str(number) for number in (horizon, budget, runs, seed)]
    done = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True)
    seconds, _, reward = done.stdout.split()
    return Outcome(float(seconds), float(reward))
