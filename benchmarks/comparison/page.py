"""Tables and figures of ``docs/benchmarks.md``: ``python -m benchmarks.comparison.page``."""

from __future__ import annotations

from benchmarks.comparison.figures import draw
from benchmarks.comparison.rows import FOLDER
from benchmarks.comparison.tables import TABLES
from benchmarks.pages import rewrite_blocks

__all__ = ["PAGE", "rewrite"]

PAGE = FOLDER.with_suffix(".md")


def rewrite(text: str) -> str:
    """Return the text of the page with every block made anew from the rows."""
    return rewrite_blocks(text, TABLES)


def main() -> None:
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for path in draw():
        print(path)


if __name__ == "__main__":
    main()
