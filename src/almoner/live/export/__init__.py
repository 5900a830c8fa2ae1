"""Export of decisions with their outcomes, one row each, for off-policy evaluation.

``probability`` is the propensity of ``action`` given ``context`` and ``available``, skipping being
an action like the others; ``reward`` is empty where none has come.
"""

from __future__ import annotations

from almoner.live.export.files import FORMATS, as_csv, as_jsonl, export, format_of
from almoner.live.export.rows import COLUMNS, LoggedDecision, decisions

__all__ = [
    "COLUMNS",
    "FORMATS",
    "LoggedDecision",
    "as_csv",
    "as_jsonl",
    "decisions",
    "export",
    "format_of",
]
