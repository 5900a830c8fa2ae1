"""Commands of the command line, run in this process."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from almoner.cli import main

TWO, TEN = "scenario:paper-two", "scenario:paper-ten"


def run(*arguments: str) -> Result:
    """Run a command and return its output, exit code and errors."""
    return CliRunner().invoke(main, arguments)


def printed(*arguments: str) -> Any:
    """Run a command with --json and return its value; refuse NaN and infinity, which JSON lacks."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout, parse_constant=refuse)
