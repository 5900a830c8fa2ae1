"""Reports of kernels that are being compiled, which takes seconds once after an installation.

Nothing is reported where kernels are found on the disk, nor unless a program asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

__all__ = ["Listener", "begin", "end", "report_to", "show_on", "write_kernels"]

Listener = Callable[[str | None, int], object]
"""Takes the name of a function, or None at the end, and how many functions wait for it."""

_listener: Listener | None = None


def report_to(listener: Listener | None) -> None:
    """Call a function for each kernel, and each step of it, to compile; None ends that."""
    global _listener  # noqa: PLW0603
    _listener = listener


def begin(name: str, *, within: int) -> None:
    """Report that a function is being compiled, for ``within`` functions that call it."""
    if _listener is not None:
        _listener(name, within)


def end() -> None:
    """Report that nothing more is being compiled."""
    if _listener is not None:
        _listener(None, 0)


def show_on(terminal: TextIO) -> None:
    """Show what is being compiled in a line of a terminal, which is removed at the end."""
    if not terminal.isatty():
        return

    def show(name: str | None, within: int) -> None:
        text = "" if name is None else f"compiling kernels, once after an installation: {name} …"
        terminal.write(f"\r\x1b[2K{text}")
        terminal.flush()

    report_to(show)


def write_kernels(write: Callable[[str], object]) -> None:
    """Write a line for each kernel that is being compiled, without its steps."""

    def line(name: str | None, within: int) -> None:
        if name is not None and within == 0:
            write(f"compiling the kernel {name}, once after an installation")

    report_to(line)
