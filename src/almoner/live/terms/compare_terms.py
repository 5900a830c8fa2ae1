"""Comparison of the terms that a caller gives with those that a campaign was opened with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from almoner import checks
from almoner.errors import DifferentTerms, InvalidTerms
from almoner.live.terms.action import Action
from almoner.live.terms.parse_terms import parse_term
from almoner.live.terms.terms import Terms
from almoner.live.terms.written_terms import written_terms
from almoner.live.times.closing_time import ClosingTime
from almoner.policy.base import Policy
from almoner.policy.priors import Pooled
from almoner.policy.recipes import described, thrifty, wilson_eager
from almoner.policy.rewards import InsuredWilson

__all__ = ["refuse_differences"]


def refuse_differences(
    stored: Terms,
    campaign: str,
    terms: dict[str, Any],
    read_present: Callable[[], Terms] | None = None,
) -> None:
    """Refuse terms that differ from those of a campaign, and name the first one that does.

    Each term may be the one that it was opened with, or the present one, after amendments.
    """
    written = written_terms(stored)
    checks.known_keys(
        "the campaign", terms, required=(), optional=list(written), error=InvalidTerms
    )
    first = ("unit", "contexts", "reward_range", "currency")  # the others are read in them
    for term in (*first, *terms):
        if terms.get(term) is None:
            continue
        fields = parse_term(term, terms[term], stored.contexts, stored.unit, stored.scale)
        changed = replace(stored, **fields)
        if isinstance(stored.horizon, ClosingTime) and stored.horizon.opens is not None:
            changed = changed.opened(stored.horizon.opens)
        value = written_terms(changed)[term]
        if value != written[term] and not _is_former_default(written[term], value):
            if read_present is not None and value == written_terms(read_present())[term]:
                continue
            path, was, got = _difference(term, written[term], value)
            raise DifferentTerms(
                f"campaign {campaign!r} was opened with {path}={was}, got {path}={got}; leave it "
                "out to resume the campaign, or choose another name"
            )


def _is_former_default(was: Any, got: Any) -> bool:
    """Return whether `thrifty` is asked of a campaign with a rule that it stood for before.

    Such a campaign goes on as it began. The first of these rules had no caution.
    """
    if not isinstance(was, Policy) or not isinstance(got, Policy):
        return False
    caution = getattr(got.rewards, "caution", None)
    if caution is None or got != thrifty(caution=caution):
        return False
    flat = replace(got, rewards=InsuredWilson(caution=caution, evidence="flat"), prior=Pooled())
    return was == flat or (was == wilson_eager() and got == thrifty())


def _difference(path: str, was: Any, got: Any) -> tuple[str, str, str]:
    """Return the innermost part in which two values of a term differ, and both values of it."""
    if isinstance(was, Action) and isinstance(got, Action):
        part = next(f.name for f in fields(Action) if getattr(was, f.name) != getattr(got, f.name))
        return _difference(f"{path}.{part}", getattr(was, part), getattr(got, part))
    if isinstance(was, Mapping) and isinstance(got, Mapping):
        if set(was) != set(got):
            return path, str(list(was)), str(list(got))
        name = next(name for name in was if was[name] != got[name])
        return _difference(f"{path}[{name!r}]", was[name], got[name])
    return path, _shown(was), _shown(got)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_shown(part)}" for name, part in value.items()) + "}"
    if isinstance(value, Policy):
        return described(value)
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)
