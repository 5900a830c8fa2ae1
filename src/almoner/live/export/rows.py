"""Read the decisions of a log with their outcomes, page by page, in bounded memory."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Any

from almoner.errors import BrokenLedger
from almoner.live.agent import Agent
from almoner.live.policy.detail import logged_costs, logged_probabilities
from almoner.live.rows.arrival_row import logged_row
from almoner.live.state.fold import amendment_of
from almoner.live.terms.terms import SKIP_NAME, Terms
from almoner.store.events import AMENDED, CANCELLED, DECIDED, EXPIRED, REWARDED, SETTLED, Event

__all__ = ["COLUMNS", "LoggedDecision", "decisions"]


@dataclass(kw_only=True)  # frozen, it takes three times as long to make
class LoggedDecision:
    """A decision with its outcome so far; the action of a skip is ``skip``.

    ``cost`` is the money charged, or reserved so far; ``reward`` and ``price`` are in the unit of
    the campaign's rewards; ``probabilities`` are those of all options that had one, by name (JSON),
    in a campaign with a hold-out or exploration; ``own_costs`` are the costs that the arrival was
    given, by action (JSON), ``scores`` and ``features`` those of a campaign on rows, by name.
    """

    decision: int
    time: str
    round: int | None
    context: str
    action: str
    action_index: int
    probability: float
    reward: float | None
    cost: float
    available: str
    price: float | None
    settled: bool
    expired: bool
    cancelled: bool
    reason: str | None
    key: str | None
    probabilities: str | None
    own_costs: str | None
    scores: str | None
    features: str | None


_TYPES = {"int": "int64", "str": "string", "float": "float64", "bool": "bool"}

COLUMNS = {
    field.name: _TYPES[str(field.type).removesuffix(" | None")] for field in fields(LoggedDecision)
}
"""The columns of an export with their types."""

PAGE = 2_000
"""Events of the log whose decisions are read at a time: some megabytes with their outcomes."""


def decisions(agent: Agent, after: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the columns of each decision after one of them, as the log is at the first row.

    Deadlines that have passed by then count as if they were recorded. The log is read page by page,
    in bounded memory.

    Examples
    --------
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=10)
    >>> agent.reward(agent.decide("new").id, 1.0)
    >>> [row] = decisions(agent)
    >>> row["action"], row["probability"], row["reward"], row["cost"]
    ('coupon', 1.0, 1.0, 5.0)
    """
    last = agent.store.last(agent.name)
    in_force, lapses = _terms_in_force(agent, last), {}
    if any(terms.expires or terms.reward_window is not None for _, terms in in_force):
        lapses = agent.reporter.lapses()
        last = agent.store.last(agent.name)  # by now others may have recorded them
        in_force = _terms_in_force(agent, last)
    row = _Rows(agent, in_force).row
    while after < last:
        through = min(after + PAGE, last)
        page = agent.store.outcomes(agent.name, after=after, through=through, last=last)
        for decision, events in groupby(page, lambda event: event.decision):
            history = dict(lapses.get(decision or 0, {}))
            try:
                columns = vars(row(history | {event.kind: event for event in events}))
            except (LookupError, TypeError, ValueError, OverflowError) as reason:
                raise BrokenLedger(
                    f"campaign {agent.name!r}: decision {decision} cannot be read ({reason}); "
                    "almoner ledger verify says what is wrong with it"
                ) from reason
            yield columns
        after = through


def _terms_in_force(agent: Agent, last: int) -> list[tuple[int, Terms]]:
    """Return the terms up to an event, each with the number of the event that they follow."""
    terms = agent.opening_terms
    in_force = [(0, terms)]
    for event in agent.store.switches(agent.name, last=last):
        if event.kind == AMENDED:
            terms = terms.amended(amendment_of(event)["terms"])
            in_force.append((event.seq, terms))
    return in_force


class _Rows:
    """Makes the rows of a campaign, from values that all of them share."""

    def __init__(self, agent: Agent, in_force: list[tuple[int, Terms]]) -> None:
        terms = in_force[-1][1]
        self._amount, self._first_id = terms.unit.amount, agent.first_id
        self._scale, self._on_rows = terms.scale, terms.on_rows
        self._index = {name: index for index, name in enumerate(terms.actions)}
        self._amended = [seq for seq, _ in in_force]
        self._active = [terms.active for _, terms in in_force]

    def row(self, history: dict[str, Event]) -> LoggedDecision:
        """Return the row of a decision, given its events by kind."""
        event, settled = history[DECIDED], history.get(SETTLED) or history.get(EXPIRED)
        rewarded, cancelled = history.get(REWARDED), CANCELLED in history
        cost = event.reserve or 0
        if settled is not None:
            cost = settled.charged or 0
        elif cancelled:
            cost = 0
        return LoggedDecision(
            decision=event.seq + self._first_id,
            time=datetime.fromtimestamp(event.at / 1e6, UTC).isoformat(),
            round=event.round,
            context=event.context or "",
            action=SKIP_NAME if event.action is None else event.action,
            action_index=-1 if event.action is None else self._index[event.action],
            probability=event.probability or 0.0,
            reward=None if rewarded is None else self._scale.value(rewarded.reward or 0.0),
            cost=self._amount(cost),
            available=self._available(event),
            price=None if event.price is None else self._scale.gain(event.price),
            settled=SETTLED in history,
            expired=EXPIRED in history,
            cancelled=cancelled,
            reason=event.reason,
            key=event.key,
            probabilities=_as_json(logged_probabilities(event.detail)),
            own_costs=self._own_costs(event),
            **(_row_of(event) if self._on_rows else _NO_ROW),
        )

    def _own_costs(self, event: Event) -> str | None:
        """Return the costs that the arrival had of its own, as amounts."""
        costs = logged_costs(event.detail)
        if costs is None:
            return None
        return _as_json({name: self._amount(units) for name, units in costs.items()})

    def _available(self, event: Event) -> str:
        """Return the actions that the arrival allowed, of those that could be taken then."""
        active = self._active[bisect(self._amended, event.seq) - 1]
        if event.available is None:
            return _listed(active)
        names = json.loads(event.available)
        return _listed(tuple(name for name in names if name in active))


@lru_cache(100)
def _listed(actions: tuple[str, ...]) -> str:
    return json.dumps([SKIP_NAME, *actions])


_NO_ROW = {"scores": None, "features": None}


def _row_of(event: Event) -> dict[str, str | None]:
    """Return the scores or features of an arrival."""
    row, _ = logged_row(event.detail, None)
    return {"scores": _as_json(row.scores), "features": _as_json(row.features)}


def _as_json(table: dict[str, float] | None) -> str | None:
    return None if table is None else json.dumps(table)
