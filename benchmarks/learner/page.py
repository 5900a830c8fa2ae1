"""Tables of ``docs/learner.md``: ``python -m benchmarks.learner.page`` writes them anew."""

from __future__ import annotations

from benchmarks.learner.other_tables import OTHER_TABLES
from benchmarks.learner.rows import FOLDER
from benchmarks.learner.tables import TABLES
from benchmarks.learner.targets import targets
from benchmarks.pages import rewrite_blocks

__all__ = ["PAGE", "rewrite"]

PAGE = FOLDER.with_suffix(".md")


def rewrite(text: str) -> str:
    """Return the text of the page with every table made anew from the rows."""
    return rewrite_blocks(text, {**TABLES, **OTHER_TABLES, "targets": targets})


def main() -> None:
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
