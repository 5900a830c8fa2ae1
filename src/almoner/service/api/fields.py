"""Types of the fields of JSON request bodies, with their limits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from almoner.live.terms.names import NAME_LIMIT
from almoner.live.terms.reward_scale import CURRENCY_LIMIT

__all__ = [
    "WHOLE_LIMIT",
    "Amount",
    "Cost",
    "Currency",
    "Duration",
    "Moment",
    "Name",
    "Names",
    "Share",
    "Whole",
]

WHOLE_LIMIT = 2**53
"""Whole numbers below this are exact in the JSON of every language; it may write 100 as 100.0."""

Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
Amount = Annotated[float, Meta(ge=0)]
Cost = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Whole = Annotated[float, Meta(ge=1, lt=WHOLE_LIMIT, multiple_of=1)]
Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Duration = Annotated[str, Meta(min_length=1, max_length=40, examples=["7 days"])]
Currency = Annotated[str, Meta(min_length=1, max_length=CURRENCY_LIMIT, examples=["EUR"])]
Names = Annotated[list[Name], Meta(min_length=1, max_length=10_000)]
