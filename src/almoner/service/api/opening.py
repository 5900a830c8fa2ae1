"""Rules of opening a campaign over HTTP, which its preview shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from almoner.errors import DifferentTerms, InvalidTerms

__all__ = ["opening"]


@contextmanager
def opening(name: str | None) -> Iterator[None]:
    """Refuse a name that has no address, and terms other than those of the campaign it names."""
    if name in {".", ".."}:
        raise InvalidTerms(f"name must not be {name!r}, which means a folder in a URL")
    try:
        yield
    except DifferentTerms as error:  # whose remedy, to leave terms out, is none for a whole body
        difference, _, _ = str(error).rpartition("; ")
        raise DifferentTerms(f"{difference}; send its own terms, or choose another name") from None
