"""The screenshot of README.md can be made again."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from support import screenshot


def test_the_screenshot_shows_the_whole_top_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screenshot, "VISITORS", 600)
    file = tmp_path / "page.png"
    screenshot.main(str(file))
    with Image.open(file) as image:
        assert image.width == screenshot.WIDTH
        assert image.height > 1000
        assert len(image.getcolors() or []) > 50, "the page is drawn"
    assert file.stat().st_size < 200_000
