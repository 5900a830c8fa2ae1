"""Print the bars of quality on rows: ``python -m benchmarks.rows [--runs N]``."""

from __future__ import annotations

import argparse

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.rows.bars import all_bars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="shuffles of the prompts")
    bars = list(all_bars(runs=parser.parse_args().runs))
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", "measured", "± s.e.", "bar", "is", ""):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    for bar in bars:
        verdict = "met" if bar.met else "missed"
        figures = (f"{bar.value:.4f}", f"{bar.stderr:.4f}", f"≥ {bar.bar:.4f}")
        table.add_row(bar.what, *figures, verdict, bar.remark)
    console = Console()
    console.width = max(console.width, 130)
    console.print(table)
    missed = sum(not bar.met for bar in bars)
    console.print(f" {len(bars) - missed} of {len(bars)} bars met")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
