"""Benchmarks of almoner, and of programs that one would use instead: ``make bench``."""

import os

# One thread each: for arrays this small, numpy's own threads only add CPU time.
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
