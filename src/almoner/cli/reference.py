"""The command reference in Markdown, generated from the declarations of the commands.

``python -m almoner.cli.reference`` prints it; ``make docs`` writes it to ``docs/commands.md``, and
a test compares the two. It does not depend on the width of a terminal.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

__all__ = ["command_reference"]

_TITLE = """\
# Commands

Made from the commands themselves by `make docs`: change the program, not this page.
"""


def command_reference() -> str:
    """Return every command with its arguments and options, as Markdown.

    Examples
    --------
    >>> print(command_reference().split("## ")[2].splitlines()[0])
    almoner plan
    """
    from almoner.cli import main

    root = _context(main, "almoner", None)
    return "\n".join([_TITLE, *(_section(context) for context in _walk(root))])


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _walk(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of a command and its subcommands, in the order of --help."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None and not command.hidden:
                yield from _walk(_context(command, name, context))


def _section(context: click.Context) -> str:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    about = inspect.cleandoc(command.help or "")
    parts = [f"## {context.command_path}", f"```\n{usage}\n```", about]
    if isinstance(command, click.Group):
        parts.append(_subcommands(context, command))
    parts.append(_options(context))
    return "\n\n".join(part for part in parts if part) + "\n"


def _subcommands(context: click.Context, group: click.Group) -> str:
    commands = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    rows = [
        (f"[`{name}`](#{_anchor(f'{context.command_path} {name}')})", _summary(command))
        for name, command in commands
        if command is not None and not command.hidden
    ]
    return _table(("command", "what it does"), rows)


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _summary(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ")


def _options(context: click.Context) -> str:
    rows = []
    for option in context.command.get_params(context):
        if isinstance(option, click.Option) and not option.hidden:
            facts = option.to_info_dict()
            names = ", ".join(f"`{name}`" for name in (*facts["opts"], *facts["secondary_opts"]))
            value = "" if facts["is_flag"] or facts["count"] else _value_of(option, facts["type"])
            default = _default(option, facts)
            rows.append((names + value, (facts["help"] or "") + default))
    return _table(("option", "meaning"), rows)


def _value_of(option: click.Option, kind: Mapping[str, Any]) -> str:
    """Return the value of an option in Markdown: its choices, or its type."""
    if option.metavar is not None:
        return f" *{option.metavar}*"
    if "choices" in kind:
        return " " + " or ".join(f"`{choice}`" for choice in kind["choices"])
    return f" *{kind['name'].replace('integer range', 'integer').replace(' ', '-')}*"


def _default(option: click.Option, facts: Mapping[str, Any]) -> str:
    value = option.show_default if isinstance(option.show_default, str) else facts["default"]
    if not option.show_default or value is None:
        return ""
    values = value if isinstance(value, (list, tuple)) else [value]
    return f" Default: {', '.join(f'`{each}`' for each in values)}."


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = (" | ".join(_cell(text) for text in row) for row in [head, ("---", "---"), *rows])
    return "\n".join(f"| {line} |" for line in lines)


def _cell(text: str) -> str:
    """Escape a text for a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(command_reference())
