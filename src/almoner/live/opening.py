"""Check the terms with which a campaign is created or resumed."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from inspect import signature
from operator import itemgetter
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms, UnknownCampaign
from almoner.live.carry_over import inherit
from almoner.live.reports.reporter import Reporter
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.compare_terms import refuse_differences
from almoner.live.terms.names import campaign_name
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import LEARNED, SKIP_NAME, Terms
from almoner.store import MissingStore, Store, open_store

__all__ = ["agreed_terms", "new_terms", "open_for", "warn_of_oversights"]

log = logging.getLogger("almoner")

REQUIRED = ("contexts", "actions", "horizon", "budget")
"""The terms that a new campaign must have."""

CREATE = f"give {', '.join(REQUIRED)} to create it"


def open_for(
    url: str, arguments: dict[str, Any], *, clock: Callable[[], float] = time.time
) -> Store:
    """Open the store of a campaign; create one only where the terms of a new campaign are sound."""
    if url == "memory:":
        return open_store(url)
    try:
        return open_store(url, create=False)
    except MissingStore as missing:
        if all(arguments.get(term) is None for term in REQUIRED):
            raise UnknownCampaign(f"{missing}, or {CREATE}") from None
        new_terms(arguments, clock=clock)
        return open_store(url)


def agreed_terms(
    store: Store, name: str, arguments: dict[str, Any], *, clock: Callable[[], float] = time.time
) -> tuple[Terms, bool]:
    """Return the terms of a campaign and whether it exists; if not, the terms it would have.

    Refuses everything that `Agent.open` does, and writes nothing.
    """
    stored = store.terms(campaign_name(name))
    if stored is not None:
        terms = Terms.from_json(stored)
        reporter = Reporter(store, name, terms, lambda: int(clock() * 1e6))
        present = partial(reporter.view, lambda campaign: campaign.terms)
        refuse_differences(terms, name, arguments, present)
        return terms, True
    if all(arguments.get(term) is None for term in REQUIRED):
        raise _unknown(name, store.campaigns())
    if not name.strip():  # an existing campaign of such a name can still be opened
        raise checks.refuse("name", "have a visible character", name, error=InvalidTerms)
    return new_terms(arguments, store, clock=clock), False


def new_terms(
    arguments: dict[str, Any],
    store: Store | None = None,
    *,
    clock: Callable[[], float] = time.time,
) -> Terms:
    """Return the checked terms of a new campaign; optional ones may be left out or None.

    The campaign that ``after`` names is read from the store.
    """
    on_rows = arguments.get("scores") or arguments.get("features") is not None
    needed = [term for term in REQUIRED if not (on_rows and term == "contexts")]
    missing = [term for term in needed if arguments.get(term) is None]
    if missing:
        it = "it" if len(missing) == 1 else "them"
        rows = ", or scores or features in place of contexts" if "contexts" in missing else ""
        raise InvalidTerms(f"a new campaign needs {', '.join(missing)}; give {it}{rows}")
    optional = [*signature(make_terms).parameters]
    checks.known_keys("the campaign", arguments, required=(), optional=optional, error=InvalidTerms)
    values = {term: value for term, value in arguments.items() if value is not None}
    terms = make_terms(**{"seed": secrets.randbits(48), **values})
    now = clock()
    terms = inherit(terms, store, round(now * 1e6))
    Campaign(terms)  # refuses a policy that does not fit
    return terms.opened(datetime.fromtimestamp(now, UTC))


def warn_of_oversights(terms: Terms) -> None:
    """Log a warning for actions that can never be taken, and for parts of a prior without use."""
    _warn_unaffordable(terms)
    _warn_unused_prior(terms)


def _warn_unaffordable(terms: Terms) -> None:
    """Log a warning for each action whose reserve exceeds the budget or a cap in every context.

    Most often an amount was given in another unit of money.
    """
    limits = {"the budget": terms.budget}
    if isinstance(terms.pace, dict):
        limits |= {f"the cap of its {period}": cap for period, cap in terms.pace["caps"].items()}
    name, least = min(limits.items(), key=itemgetter(1))
    cheapest: dict[str, int] = {}
    for context in terms.contexts:
        for action, _, reserve in terms.offers_in(context):
            cheapest[action] = min(reserve, cheapest.get(action, reserve))
    for action, reserve in cheapest.items():
        if reserve > least:
            log.warning(
                "action %r can never be taken: it needs %r, and %s is %r",
                action,
                terms.unit.amount(reserve),
                name,
                terms.unit.amount(least),
            )


def _warn_unused_prior(terms: Terms) -> None:
    """Log a warning if a prior has means of pairs that the campaign does not have."""
    means = {} if terms.prior is None else terms.prior["means"]
    actions = {*terms.actions, *([SKIP_NAME] if terms.default_rewards == LEARNED else [])}
    unused = [
        f"{action!r} for {context!r}"
        for context, row in means.items()
        for action in row
        if action not in actions or not (context in terms.contexts or terms.new_contexts)
    ]
    if unused:
        more = f" and {len(unused) - 1:,} more" if len(unused) > 1 else ""
        log.warning(
            "the prior mean of %s%s is not used: the campaign has no such context, or does not "
            "learn such an action",
            unused[0],
            more,
        )


def _unknown(name: str, names: list[str]) -> UnknownCampaign:
    near = checks.nearest(name, names)
    remedy = f"{near} Or {CREATE}" if near else CREATE
    return UnknownCampaign(f"there is no campaign {name!r} in this store; {remedy}")
