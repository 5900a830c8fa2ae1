"""Rules for opening a campaign over HTTP, shared by creation and preview."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from almoner.errors import DifferentTerms, InvalidTerms

__all__ = ["opening"]


@contextmanager
def opening(name: str | None) -> Iterator[None]:
    """Reject a name that cannot be in a URL; reword the error for terms that differ."""
    if name in {".", ".."}:
        raise InvalidTerms(f"name must not be {name!r}, which means a folder in a URL")
    try:
        yield
    except DifferentTerms as error:  # its remedy, to leave terms out, does not fit
        difference, _, _ = str(error).rpartition("; ")
        raise DifferentTerms(f"{difference}; send its own terms, or choose another name") from None
