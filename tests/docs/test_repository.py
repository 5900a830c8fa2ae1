"""Files at the root of the repository agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version_and_names_the_paper() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert str(citation["version"]) == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]
    [paper] = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == [
        "Wu",
        "Srikant",
        "Liu",
        "Jiang",
    ]


def test_every_task_of_the_makefile_has_a_line_of_help() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    [tasks] = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    helped = re.findall(r"^([a-z-]+):.*## .", text, re.MULTILINE)
    assert sorted(tasks.split()) == sorted(helped)


def test_every_requirement_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\[><=; ]", requirement)[0] for requirement in wanted} - {"almoner"}
    assert names <= pinned


def test_the_configuration_stays_short() -> None:
    assert len((ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()) <= 190
