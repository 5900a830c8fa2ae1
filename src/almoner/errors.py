"""Everything almoner raises on purpose.

::

    AlmonerError
    ├── InvalidInput (also a ValueError)   a value breaks a rule; nothing was changed
    │   ├── InvalidProblem                 … of a problem, or of the file that describes one
    │   └── InvalidPolicy                  … of a policy, or of a policy on this problem
    └── NotComputable                      the question is sound, but has no exact answer here
"""

from __future__ import annotations

__all__ = ["AlmonerError", "InvalidInput", "InvalidPolicy", "InvalidProblem", "NotComputable"]


class AlmonerError(Exception):
    """Anything almoner raises on purpose; the message is one sentence for a person."""


class InvalidInput(AlmonerError, ValueError):
    """A value breaks a rule: the sentence names it, the rule, what came, and what to do."""


class InvalidProblem(InvalidInput):
    """A problem, or the file that describes it, breaks a rule."""


class InvalidPolicy(InvalidInput):
    """A policy breaks a rule, alone or together with the problem it should run on."""


class NotComputable(AlmonerError):
    """The question is sound, but there is no exact answer to it here."""
