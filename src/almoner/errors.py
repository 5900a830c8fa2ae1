"""The exceptions of almoner, each with the code that the HTTP API reports.

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
    ├── Conflict                           contradicts the log; nothing was changed
    ├── StoreError                         the store cannot be reached, read or written
    │   └── BrokenLedger                   the log in the store is inconsistent
    └── NotComputable                      the question is sound, but has no exact answer here

and its warnings::

    UserWarning
    ├── OracleOutOfReach                   regret is against the upper bound instead
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
    "OracleOutOfReach",
    "StoreError",
    "UnknownCampaign",
    "UnknownDecision",
    "UntriedPairs",
]


class AlmonerError(Exception):
    """Base of all exceptions of almoner; the message is one sentence for a person."""

    code = "error"


class InvalidInput(AlmonerError, ValueError):
    """A value breaks a rule: the message has its name, the rule, the value and a remedy."""

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
    """The campaign exists, on other terms: the message names the difference."""

    code = "different_terms"


class NotFound(AlmonerError, LookupError):
    """A key, campaign or decision does not exist."""

    code = "not_found"


class UnknownCampaign(NotFound):
    """The store holds no campaign of that name."""

    code = "unknown_campaign"


class UnknownDecision(NotFound):
    """The campaign holds no decision of that id."""

    code = "unknown_decision"


class Conflict(AlmonerError):
    """A request contradicts the log; nothing was changed."""

    code = "conflict"


class StoreError(AlmonerError):
    """The store cannot be reached, read or written; nothing was acknowledged."""

    code = "store_error"


class BrokenLedger(StoreError):
    """The log of a campaign in the store is inconsistent."""

    code = "broken_ledger"


class NotComputable(AlmonerError):
    """The question is sound, but there is no exact answer to it here."""

    code = "not_computable"


class UntriedPairs(UserWarning):
    """Exploration ended before every action was tried in every context."""


class OracleOutOfReach(UserWarning):
    """The exact optimum cannot be computed here, so that regret is against the upper bound."""
