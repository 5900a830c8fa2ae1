"""Everything almoner raises on purpose.

::

    AlmonerError
    ├── InvalidInput (also a ValueError)   a value breaks a rule; nothing was changed
    │   ├── InvalidProblem                 … of a problem, or of the file that describes one
    │   ├── InvalidPolicy                  … of a policy, or of a policy on this problem
    │   └── InvalidTerms                   … of a campaign
    │       └── DifferentTerms             the campaign exists, on other terms
    ├── NotFound (also a LookupError)
    │   ├── UnknownCampaign                no such campaign in this store
    │   └── UnknownDecision                no such decision in this campaign
    ├── Conflict                           contradicts what the log says; nothing was changed
    ├── StoreError                         the store cannot be reached, read or written
    │   └── BrokenLedger                   what the store holds does not add up
    └── NotComputable                      the question is sound, but has no exact answer here

and what it warns of::

    UserWarning
    └── UntriedPairs                       exploration ended too soon to have tried everything
"""

from __future__ import annotations

__all__ = [
    "AlmonerError",
    "BrokenLedger",
    "Conflict",
    "DifferentTerms",
    "InvalidInput",
    "InvalidPolicy",
    "InvalidProblem",
    "InvalidTerms",
    "NotComputable",
    "NotFound",
    "StoreError",
    "UnknownCampaign",
    "UnknownDecision",
    "UntriedPairs",
]


class AlmonerError(Exception):
    """Anything almoner raises on purpose; the message is one sentence for a person."""

    code = "error"


class InvalidInput(AlmonerError, ValueError):
    """A value breaks a rule: the sentence names it, the rule, what came, and what to do."""

    code = "invalid_input"


class InvalidProblem(InvalidInput):
    """A problem, or the file that describes it, breaks a rule."""

    code = "invalid_problem"


class InvalidPolicy(InvalidInput):
    """A policy breaks a rule, alone or together with the problem it should run on."""

    code = "invalid_policy"


class InvalidTerms(InvalidInput):
    """The terms of a campaign break a rule."""

    code = "invalid_terms"


class DifferentTerms(InvalidTerms):
    """The campaign exists, on other terms: the sentence names the difference."""

    code = "different_terms"


class NotFound(AlmonerError, LookupError):
    """What was asked for does not exist."""

    code = "not_found"


class UnknownCampaign(NotFound):
    """The store holds no campaign of that name."""

    code = "unknown_campaign"


class UnknownDecision(NotFound):
    """The campaign holds no decision of that id."""

    code = "unknown_decision"


class Conflict(AlmonerError):
    """What is said contradicts what the log says already; nothing was changed."""

    code = "conflict"


class StoreError(AlmonerError):
    """The store cannot be reached, read or written; nothing was acknowledged."""

    code = "store_error"


class BrokenLedger(StoreError):
    """What the store holds does not add up."""

    code = "broken_ledger"


class NotComputable(AlmonerError):
    """The question is sound, but there is no exact answer to it here."""

    code = "not_computable"


class UntriedPairs(UserWarning):
    """Exploration ended before every action was tried in every context; the rest counts as 1."""
