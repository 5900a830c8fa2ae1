"""Input checks and the wording of their errors: name, rule, value, remedy.

Each check returns the value in the package's own type, or raises `InvalidInput` (or the narrower
class ``error``) with one sentence.
"""

from almoner.checks.messages import nearest, refuse, shown, uncalled
from almoner.checks.numbers import array, budgets, costs, number, probabilities, whole
from almoner.checks.values import choice, flag, kind, known_keys, listed, names, plain

__all__ = [
    "array",
    "budgets",
    "choice",
    "costs",
    "flag",
    "kind",
    "known_keys",
    "listed",
    "names",
    "nearest",
    "number",
    "plain",
    "probabilities",
    "refuse",
    "shown",
    "uncalled",
    "whole",
]
