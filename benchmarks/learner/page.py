"""Tables of ``docs/learner.md``: ``python -m benchmarks.learner.page`` writes them anew.

A table stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``.
"""

from __future__ import annotations

import re

from benchmarks.learner.rows import FOLDER
from benchmarks.learner.tables import TABLES
from benchmarks.learner.targets import targets

__all__ = ["PAGE", "rewrite"]

PAGE = FOLDER.with_suffix(".md")
BLOCK = re.compile(r"<!-- begin (?P<name>[\w ]+) -->\n.*?<!-- end (?P=name) -->", re.DOTALL)

ALL = {**TABLES, "targets": targets}


def rewrite(text: str) -> str:
    """Return the text of the page with every table made anew from the rows."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- begin {name} -->\n{ALL[name]()}\n<!-- end {name} -->"

    missing = ALL.keys() - {match["name"] for match in BLOCK.finditer(text)}
    if missing:
        raise ValueError(f"the page has no markers for {', '.join(sorted(missing))}")
    return BLOCK.sub(block, text)


def main() -> None:
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
