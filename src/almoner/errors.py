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


class InvalidInput(AlmonerError, ValueError):
    """A value breaks a rule: the sentence names it, the rule, what came, and what to do."""


class InvalidProblem(InvalidInput):
    """A problem, or the file that describes it, breaks a rule."""


class InvalidPolicy(InvalidInput):
    """A policy breaks a rule, alone or together with the problem it should run on."""


class InvalidTerms(InvalidInput):
    """The terms of a campaign break a rule."""


class DifferentTerms(InvalidTerms):
    """The campaign exists, on other terms: the sentence names the difference."""


class NotFound(AlmonerError, LookupError):
    """What was asked for does not exist."""


class UnknownCampaign(NotFound):
    """The store holds no campaign of that name."""


class UnknownDecision(NotFound):
    """The campaign holds no decision of that id."""


class Conflict(AlmonerError):
    """What is said contradicts what the log says already; nothing was changed."""


class StoreError(AlmonerError):
    """The store cannot be reached, read or written; nothing was acknowledged."""


class BrokenLedger(StoreError):
    """What the store holds does not add up."""


class NotComputable(AlmonerError):
    """The question is sound, but there is no exact answer to it here."""


class UntriedPairs(UserWarning):
    """Exploration ended before every action was tried in every context; the rest counts as 1."""
