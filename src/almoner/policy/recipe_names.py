"""Names of recipes, as the package and papers of the field write them, and calls of recipes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from almoner import checks
from almoner.errors import InvalidPolicy

__all__ = ["WRITTEN_AS", "parse_call", "plain_name", "write_call"]

WRITTEN_AS = {
    "kl_ucb": "kl_ucb_rounded",
    "klucb": "kl_ucb_rounded",
    "log_plus": "log_plus_rounded",
    "thompson": "thompson_rounded",
    "thompson_sampling": "thompson_rounded",
    "ts": "thompson_rounded",
    "ucb": "ucb_rounded",
    "epsilon_first": "epsilon_first_alp",
    "e_first_alp": "epsilon_first_alp",
    "wilson": "wilson_eager",
    "skip": "skip_always",
    "dual": "dual_descent",
    "ema": "ema_pacing",
    "pid": "pid_pacing",
}
"""Names that the field uses for policies of ours, in plain form."""


def plain_name(name: str, recipes: Iterable[str]) -> str:
    """Return the name of a recipe in plain form: lower case, with underscores.

    A name that no recipe has, and that the field does not use for one, is returned in plain form.

    Examples
    --------
    >>> plain_name("UCB-ALP", ["ucb_alp"]), plain_name("Thompson sampling", ["thompson_rounded"])
    ('ucb_alp', 'thompson_rounded')
    """
    words = str(name).strip().lower().replace("ε", "epsilon").replace("+", " plus")
    plain = "_".join(words.replace("-", " ").replace("_", " ").split())
    return plain if plain in recipes else WRITTEN_AS.get(plain, plain)


_CALL = re.compile(r"(?P<name>[^()]*)\((?P<arguments>[^()]*)\)\s*")
_WORDS = {"true": True, "false": False, "none": None}


def parse_call(text: str) -> tuple[str, dict[str, object]]:
    """Return the name and the arguments of a recipe as text; a name alone has none.

    Examples
    --------
    >>> parse_call("thrifty(caution=2)")
    ('thrifty', {'caution': 2})
    >>> parse_call("UCB-ALP")
    ('UCB-ALP', {})
    """
    text = str(text)
    if "(" not in text and ")" not in text:
        return text, {}
    if (call := _CALL.fullmatch(text)) is None:
        raise _refuse(text)
    arguments: dict[str, object] = {}
    for part in filter(str.strip, call["arguments"].split(",")):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value or not key.isidentifier() or key in arguments:
            raise _refuse(text)
        arguments[key] = _parse_value(value)
    return call["name"], arguments


def write_call(name: str, arguments: dict[str, object]) -> str:
    """Return a recipe as text: its name, and its arguments if any.

    Examples
    --------
    >>> write_call("thrifty", {"caution": 2})
    'thrifty(caution=2)'
    """
    listed = ", ".join(f"{key}={value}" for key, value in arguments.items())
    return f"{name}({listed})" if listed else name


def _parse_value(text: str) -> object:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return _WORDS.get(text.lower(), text.strip("'\""))


def _refuse(text: str) -> InvalidPolicy:
    rule = "be the name of a recipe, with arguments if any, as in thrifty(caution=2)"
    return checks.refuse("policy", rule, text, error=InvalidPolicy)  # type: ignore[return-value]
