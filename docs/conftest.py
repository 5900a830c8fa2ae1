"""Examples in the guides write their files where nobody minds."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each page in a folder of its own."""
    monkeypatch.chdir(tmp_path)
