"""Pages whose tables are made from rows: a block between ``<!-- begin NAME -->`` and its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["rewrite_blocks", "table"]

BLOCK = re.compile(r"<!-- begin (?P<name>[\w ]+) -->\n.*?<!-- end (?P=name) -->", re.DOTALL)


def rewrite_blocks(text: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a page with every block made anew."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- begin {name} -->\n{blocks[name]()}\n<!-- end {name} -->"

    missing = blocks.keys() - {match["name"] for match in BLOCK.finditer(text)}
    if missing:
        raise ValueError(f"the page has no markers for {', '.join(sorted(missing))}")
    return BLOCK.sub(block, text)


def table(
    heading: Sequence[str], lines: Iterable[Sequence[str]], *, rule: Sequence[str] | None = None
) -> str:
    """Return a table in Markdown; without a rule, the first column is text, the others numbers."""
    rule = rule or ["---", *["---:"] * (len(heading) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heading, rule, *lines))
