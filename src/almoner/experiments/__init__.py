"""Experiments: settings as data, then rows, then figures."""

from __future__ import annotations

from almoner.experiments.reproduction.figures import reproduce
from almoner.experiments.rows import read_rows, write_rows
from almoner.experiments.sweep import Sweep, run_sweep

__all__ = ["Sweep", "read_rows", "reproduce", "run_sweep", "write_rows"]
