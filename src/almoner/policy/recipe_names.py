"""Names of recipes: as the package writes them, and as papers of the field do."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["WRITTEN_AS", "plain_name"]

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
