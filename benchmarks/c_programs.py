"""UCB-ALP in C, literal and as fast as possible: compiled, and run as processes."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import has_avx2

__all__ = ["LITERAL", "VECTOR", "CProgram", "Measurement", "build", "run", "why_without"]


@dataclass(frozen=True)
class CProgram:
    """A source file beside this one, and the sets of flags of which the fastest counts."""

    source: str
    flags: tuple[tuple[str, ...], ...]


LITERAL = CProgram("literal_ucb_alp.c", (("-march=native",),))
VECTOR = CProgram("vector_ucb_alp.c", (("-mavx2", "-mfma", "-mbmi", "-mbmi2"), ("-march=native",)))


class Measurement(NamedTuple):
    """CPU seconds of a round, and mean reward of a run."""

    seconds: float
    reward: float


def why_without(program: CProgram) -> str:
    """Return why a program cannot be run on this machine; empty if it can."""
    if shutil.which("cc") is None:
        return "no C compiler (cc) was found"
    if program is VECTOR and not has_avx2():
        return "this machine has no AVX2"
    return ""


def build(program: CProgram, folder: Path) -> list[Path]:
    """Compile a program with each set of flags that the compiler knows."""
    source = Path(__file__).with_name(program.source)
    built = []
    for number, flags in enumerate(program.flags):
        path = folder / f"{source.stem}-{number}"
        command = ["cc", "-O3", *flags, str(source), "-o", str(path), "-lm"]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            built.append(path)
    return built


def run(path: Path, *, horizon: int, budget: int, runs: int, seed: int) -> Measurement:
    """Run a program; it measures its own CPU time, without its start."""
    arguments = [str(number) for number in (horizon, budget, runs, seed)]
    done = subprocess.run([str(path), *arguments], check=True, capture_output=True, text=True)
    seconds, rounds, reward = done.stdout.split()
    return Measurement(float(seconds) / int(rounds), float(reward))
