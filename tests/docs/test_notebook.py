"""The notebook runs, and its stored outputs are those that its cells give."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def execute(notebook: dict[str, Any]) -> None:
    spec = importlib.util.spec_from_file_location("nb", ROOT / "docs" / "execute_notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.execute(notebook)


def texts(notebook: dict[str, Any]) -> str:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return "".join(
        "".join(output.get("text") or output["data"].get("text/plain", "[figure]"))
        for output in outputs
    )


def test_the_notebook_gives_its_stored_outputs() -> None:
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    executed = copy.deepcopy(stored)
    execute(executed)
    shown, printed = texts(stored), texts(executed)
    assert shown.count("[figure]") == 2
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", printed), "run python docs/execute_notebook.py"
    for number, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        assert float(number) == pytest.approx(float(other), rel=0.01, abs=0.02)


def test_the_notebook_is_small() -> None:
    assert NOTEBOOK.stat().st_size < 300_000
