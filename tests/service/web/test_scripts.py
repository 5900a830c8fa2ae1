"""Unit tests of the page's scripts, run by node's own test runner."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from almoner.service.web import assets

NEED_A_PAGE = {
    *("campaign", "campaigns", "create", "draw_chart", "edit", "form_rows", "message", "updates"),
}
"""Scripts that do little beyond the DOM: the tests of the pages run them in a browser."""

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


def run_node(*arguments: str) -> str:
    program = shutil.which("node")
    if program is None:
        raise RuntimeError("the page's scripts are tested in node: apt install nodejs")
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_scripts_pass_their_unit_tests(file: Path) -> None:
    report = run_node("--test", "--test-reporter=tap", str(file))
    counts = dict(re.findall(r"^# (\w+) (\d+)$", report, re.MULTILINE))
    assert int(counts["pass"]) > 1, report
    assert counts["pass"] == counts["tests"], report


@pytest.mark.parametrize("file", sorted(assets.FOLDER.glob("*.mjs")), ids=lambda file: file.name)
def test_scripts_parse(file: Path) -> None:
    run_node("--check", str(file))


def test_every_script_has_unit_tests_or_needs_a_page() -> None:
    tested = {
        name
        for file in TESTS
        for name in re.findall(r"static/(\w+)\.mjs", file.read_text(encoding="utf-8"))
    }
    assert tested | NEED_A_PAGE == {file.stem for file in assets.FOLDER.glob("*.mjs")}
    assert not tested & NEED_A_PAGE
