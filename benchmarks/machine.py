"""Machine, versions and instruction set that figures belong to."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

from almoner.kernels.lanes.vector import instructions
from almoner.simulation.lanes import describe_lanes

__all__ = ["describe_machine", "has_avx2", "with_avx512"]


def has_avx2() -> bool:
    """Return whether this machine runs programs compiled for AVX2."""
    return instructions() in {"AVX-512", "AVX2"}


def with_avx512(bar: float, otherwise: float) -> float:
    """Return the bar of this machine: the first where it has AVX-512, else the second."""
    return bar if instructions() == "AVX-512" else otherwise


def describe_machine() -> dict[str, str]:
    """Return what figures depend on, by name."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "llvmlite"))
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "load": f"{os.getloadavg()[2]:.1f} processes over 15 minutes, these benchmarks included",
        "instruction set": instructions(),
        "lanes": describe_lanes(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": f"almoner {version('almoner')}, Python {platform.python_version()}, {packages}",
        "C compiler": _compiler(),
    }


def _processor() -> str:
    """Return the processor's name, as far as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _compiler() -> str:
    if shutil.which("cc") is None:
        return "none"
    done = subprocess.run(["cc", "--version"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[0]
