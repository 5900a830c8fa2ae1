"""Logs on the command line: options that name the columns of a file, and its loading."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from almoner.logs.log import Log

__all__ = ["as_options", "load_log", "log_options"]

OPTIONS = {
    "context": ("COLUMNS", "Columns that tell contexts apart, with commas; '' for none."),
    "action": ("COLUMN", "Column of the action; an empty one is a skip."),
    "reward": ("COLUMN", "Column of the reward, in any unit."),
    "probability": ("COLUMN", "Column of the probability of the action, its propensity."),
    "cost": ("COST", "Column of the cost, or a cost for all, or name=cost with commas."),
    "skip": ("ACTION", "The action that is skipping."),
    "skip_reward": ("NUMBER", "What skipping brings, if it is known."),
    "design": ("DESIGN", "Without a column of probabilities: uniform, or name=probability, …"),
    "time": ("COLUMN", "Column of the time; without one, rows are in its order."),
}
"""Options of a log: what they take, and the help."""


ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)}|horizon)=(\[[^]]*\]|…|'[^']*'|)")
"""An argument in a message of the package, with what it is given."""


def log_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add LOG, the options that say what its columns are, and --json."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(
        _with_options_in_messages(command)
    )
    for name, (metavar, about) in reversed(OPTIONS.items()):
        flag = f"--{name.replace('_', '-')}"
        kind = float if name == "skip_reward" else str
        command = click.option(flag, name, metavar=metavar, type=kind, help=about)(command)
    return click.argument("file", metavar="LOG")(command)


def _with_options_in_messages(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with errors that name its options instead of arguments in Python."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        from almoner.errors import InvalidInput

        try:
            command(*arguments, **options)
        except InvalidInput as error:
            raise type(error)(as_options(str(error))) from None

    return run


def as_options(message: str) -> str:
    """Return a message of the package with arguments as options of the command line.

    Examples
    --------
    >>> as_options("name it with probability=…, or give context=[] or design='uniform'")
    "name it with --probability …, or give --context '' or --design 'uniform'"
    """

    def option(match: re.Match[str]) -> str:
        value = {"[…]": "…", "[]": "''"}.get(match[2], match[2])
        return f"--{match[1].replace('_', '-')} {value}".rstrip()

    return ARGUMENT.sub(option, message).replace("al.frontier", "almoner frontier")


def load_log(file: str, options: dict[str, Any]) -> Log:
    """Load the log of a file with the columns of the options."""
    from almoner.logs.log import Log

    given = {name: options[name] for name in OPTIONS}
    if given["context"] is not None:
        given["context"] = [name.strip() for name in given["context"].split(",") if name.strip()]
    given["cost"] = _cost(given["cost"])
    if given["design"] is not None and "=" in given["design"]:
        given["design"] = _table("--design", given["design"])
    return Log.read(file, **given)


def _cost(text: str | None) -> str | float | dict[str, float] | None:
    """Return a cost for each action, one for all, or the name of a column."""
    if text is None or "=" not in text:
        try:
            return None if text is None else float(text)
        except ValueError:
            return text
    return _table("--cost", text)


def _table(flag: str, text: str) -> dict[str, float]:
    """Return numbers by name of a text like small=1,large=3."""
    try:
        pairs = [entry.rsplit("=", 1) for entry in text.split(",")]
        return {name.strip(): float(number) for name, number in pairs}
    except ValueError:
        raise click.UsageError(f"{flag} must be like small=1,large=3, got {text!r}") from None
