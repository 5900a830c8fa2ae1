"""Names of campaigns, contexts, actions and keys: their limits and checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms

__all__ = [
    "NAME_LIMIT",
    "NAME_RULE",
    "campaign_name",
    "is_name",
    "is_text",
    "name_list",
    "text_rule",
]

NAME_LIMIT = 200
"""Characters of a name, at most."""


def text_rule(limit: int) -> str:
    """Return the rule of `is_text`, for error messages."""
    return f"1 to {limit:,} characters, none of them NUL or half of a surrogate pair"


NAME_RULE = text_rule(NAME_LIMIT)
"""The rule of `is_name`, for error messages."""


def is_name(value: object) -> bool:
    """Return whether a value is short text that every store can hold."""
    return is_text(value, NAME_LIMIT)


def is_text(value: object, limit: int) -> bool:
    """Return whether a value is text of limited length that every store can hold."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= limit
        and "\0" not in value
        and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value))
    )


def name_list(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of distinct names; refuse any other value."""
    unordered = isinstance(value, (set, frozenset))  # another process would see another order
    if isinstance(value, (str, Mapping)) or unordered or not isinstance(value, Iterable):
        raise checks.refuse(name, "be a list of names", value, error=InvalidTerms)
    names = tuple(value)
    for entry in names:
        if not is_name(entry):
            raise checks.refuse(name, f"be names of {NAME_RULE}", entry, error=InvalidTerms)
    return checks.names(name, names, count=len(names), error=InvalidTerms)


def campaign_name(name: Any, term: str = "name") -> str:
    """Return the name of a campaign; refuse a value that cannot be one, as that of ``term``."""
    name = checks.plain(name)
    fits = isinstance(name, str) and 0 < len(name) <= NAME_LIMIT and name.isprintable()
    if not fits or "/" in name:
        rule = f"be a text of 1 to {NAME_LIMIT} printable characters without a slash"
        raise checks.refuse(term, rule, name, error=InvalidTerms)
    return name  # type: ignore[no-any-return]
