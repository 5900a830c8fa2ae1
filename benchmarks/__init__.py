"""What we measure, side by side with what one would use instead: ``make bench``."""

import os

# One thread each: numpy's own threads would do nothing for arrays this small but burn CPU time.
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
