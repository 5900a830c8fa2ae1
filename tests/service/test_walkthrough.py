"""The guide to the service does what it shows: its curl commands, and its Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from support.live_service import in_thread

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "http-service.md"
SESSION = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HERE = "http://127.0.0.1:8000"


def commands(text: str) -> list[tuple[str, str]]:
    """Every curl command with the line of output shown under it, if any."""
    pairs: list[tuple[str, str]] = []
    for session in SESSION.findall(text):
        for line in session.splitlines():
            if line.startswith("$ "):
                pairs.append((line.removeprefix("$ "), ""))
            else:
                pairs[-1] = pairs[-1][0], line
    return pairs


def pattern(shown: str) -> re.Pattern[str]:
    """Return a pattern for a line of output: an ellipsis is anything, and JSON may have spaces."""
    parts = [re.sub(r"([,:]) ", r"\1", part.strip()) for part in shown.split("…")]
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)


def test_the_walk_through_works_as_it_is_shown() -> None:
    assert shutil.which("curl"), "the guide's commands need curl: install it"
    text = GUIDE.read_text(encoding="utf-8")
    shown = commands(text)
    assert len(shown) >= 10
    with in_thread() as url:
        for command, output in shown:
            done = subprocess.run(
                ["bash", "-c", command.replace(HERE, url)],
                capture_output=True,
                text=True,
                check=True,
            )
            printed = re.sub(r"([,:]) ", r"\1", done.stdout)
            assert pattern(output).search(printed), f"$ {command}\n{done.stdout}"
        for example in PYTHON.findall(text):
            assert HERE in example
            resumed = f"{url}/api/campaigns/spring/resume"
            subprocess.run(["curl", "-sf", "-X", "POST", resumed], check=True, capture_output=True)
            exec(example.replace(HERE, url), {})  # noqa: S102
