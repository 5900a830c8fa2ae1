"""The fingerprint changes with code, and not with comments, docstrings or layout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from almoner.experiments import fingerprint

PROGRAM = """
import json, sys
from almoner.experiments.reproduction import concentration, paper, unequal
panels = paper.panels("two-unknown", runs=1, quick=True).cells()
tasks = [panels[0], unequal.routing(runs=1, quick=True).cells()[0]]
for task in tasks:
    task.run()
concentration.Concentration(policy_name="alp", horizon=50, ratio=0.4, runs=2, seed=0).run()
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "almoner"]))
"""

HARMLESS = {
    "almoner",
    "almoner.errors",
    "almoner.experiments",  # says what to run, and the settings hold that
    "almoner.scenarios",  # settings hold the problem
    "almoner.files",
    "almoner.types",  # names of array types
}
"""Modules that are loaded beside the sources, and why no number of a row depends on them."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the package and compute the fingerprint of the copy."""
    copy = tmp_path / "almoner"
    shutil.copytree(fingerprint.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "web"))
    monkeypatch.setattr(fingerprint, "PACKAGE", copy)
    return copy


def fresh() -> str:
    return fingerprint.fingerprint.__wrapped__()


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_comments_docstrings_and_layout_do_not_count(package: Path) -> None:
    before = fresh()
    steps = package / "kernels" / "steps.py"
    steps.write_text(
        "# A comment.\n" + steps.read_text(encoding="utf-8") + "\n\n", encoding="utf-8"
    )
    change(package / "lp.py", '"""', '"""Other words. ')
    change(package / "kernels" / "exact.py", "NEGLIGIBLE = 1e-22", "NEGLIGIBLE = (1e-22)")
    assert fresh() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("kernels/exact.py", "NEGLIGIBLE = 1e-22", "NEGLIGIBLE = 1e-23"),
        ("simulation/oracle.py", "REACH = 4.0", "REACH = 5.0"),
        ("experiments/reproduction/concentration.py", "LEVELS = (0.01,", "LEVELS = (0.02,"),
    ],
)
def test_code_counts(package: Path, name: str, old: str, new: str) -> None:
    before = fresh()
    change(package / name, old, new)
    assert fresh() != before


def test_a_new_file_of_kernels_counts(package: Path) -> None:
    before = fresh()
    (package / "kernels" / "more.py").write_text("LIMIT = 3\n", encoding="utf-8")
    assert fresh() != before


def test_the_list_of_sources_is_complete() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    covered = {
        ".".join(["almoner", *path.relative_to(fingerprint.PACKAGE).with_suffix("").parts])
        for pattern in fingerprint.SOURCES
        for path in fingerprint.PACKAGE.glob(pattern)
    }
    covered |= {name.removesuffix(".__init__") for name in covered}
    loaded = {name for name in json.loads(done.stdout) if not is_settings(name)}
    assert loaded - covered == HARMLESS


def is_settings(name: str) -> bool:
    """Return whether a module of experiments chooses tasks, or handles finished rows."""
    return name.startswith("almoner.experiments.") and name not in {
        "almoner.experiments.cells",
        "almoner.experiments.reproduction.concentration",
    }
