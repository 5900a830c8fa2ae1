"""Experiments: sweeps of settings, run as cells, saved as rows, drawn as figures."""

from __future__ import annotations

from almoner.experiments.reproduction.figures import reproduce
from almoner.experiments.rows import read_rows, write_rows
from almoner.experiments.sweep import Sweep, run_sweep

__all__ = ["Sweep", "read_rows", "reproduce", "run_sweep", "write_rows"]
