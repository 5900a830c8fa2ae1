"""Citations of the paper name existing results, and functions cite the result they compute."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
from support.paper_results import CITED, RESULTS

ROOT = Path(__file__).parents[2]
CITATION = re.compile(r"\b(Theorem|Lemma|Algorithm)s? (\d+)(?:(?: to |, | and )(\d+))?")


def cited(text: str) -> set[str]:
    matches = CITATION.findall(text)
    return {f"{kind} {number}" for kind, *numbers in matches for number in numbers if number}


def test_every_citation_names_a_result_of_the_paper() -> None:
    files = [path for folder in ("src", "tests", "docs") for path in (ROOT / folder).rglob("*.*")]
    unknown = {
        str(path.relative_to(ROOT)): strange
        for path in files
        if path.suffix in {".py", ".md"}
        and (strange := cited(path.read_text(encoding="utf-8")) - set(RESULTS))
    }
    assert not unknown


@pytest.mark.parametrize("name", CITED)
def test_a_function_cites_the_result_that_it_computes(name: str) -> None:
    assert CITED[name] in cited(resolve_name(name).__doc__)
