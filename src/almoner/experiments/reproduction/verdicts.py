"""Verdicts on the paper's claims: every claim judged by its criterion on rows of results."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from almoner.experiments.reproduction.claim import PaperClaim
from almoner.experiments.reproduction.claims import CLAIMS
from almoner.experiments.reproduction.criteria import Check, Outcome
from almoner.experiments.reproduction.further_claims import FURTHER_CLAIMS
from almoner.experiments.reproduction.results import Results

__all__ = ["Judgement", "Verdict", "judge", "verdict_of"]


class Verdict(StrEnum):
    """The verdicts on a claim, as the report words them."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNTESTED = "not tested"
    MISSING = "not run"


class Judgement(NamedTuple):
    """A claim with its checks, one per setting, and the verdict on it."""

    claim: PaperClaim
    checks: list[Check]
    verdict: Verdict


def judge(results: Results) -> list[Judgement]:
    """Judge every claim, the paper's first."""
    judged = []
    for claim in (*CLAIMS, *FURTHER_CLAIMS):
        checks = claim.criterion(results) if claim.criterion else []
        judged.append(Judgement(claim, checks, verdict_of(claim, checks)))
    return judged


def verdict_of(claim: PaperClaim, checks: Sequence[Check]) -> Verdict:
    """Return the verdict on a claim from its checks."""
    if claim.criterion is None:
        return Verdict.UNTESTED
    outcomes = {check.outcome for check in checks}
    if not outcomes:
        return Verdict.MISSING
    if outcomes == {Outcome.YES}:
        return Verdict.HOLDS
    return Verdict.PARTLY if outcomes & {Outcome.YES, Outcome.SOME} else Verdict.FAILS
