"""Benchmarks of live campaigns on the shop of the trial (`tests/support/shop.py`)."""

import sys
from pathlib import Path

# The shop is a support of the tests, which find it by the same name.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
