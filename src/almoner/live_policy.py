"""LivePolicy: the policy of a live campaign, played by the simulator's own kernels.

They are asked for a line of requests at a time, and told of rewards as they come. Contexts are rows
there, and actions places; money is in the kernels' own units, but for reserves, which are the
ledger's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np

from almoner.checks import Floats
from almoner.closing import ClosingTime
from almoner.compiled import direct
from almoner.core.draws import POLICY, stream_key
from almoner.core.live import advance, advance_at_length, new_line, replay
from almoner.core.room import doubled, first_contexts, new_room
from almoner.core.state import ROUND, new_hulls, new_memo
from almoner.errors import InvalidInput
from almoner.policy.plan import Plan, make_plan
from almoner.policy.rewards import Thompson
from almoner.terms import LEARNED, Terms

__all__ = ["PLACES", "Choice", "LivePolicy", "Row", "Visitor"]

PLACES = 64
"""How many requests can stand in line."""

BRIEF = 2_000
"""Pairs of context and action up to which a line is decided before another thread must run."""

Choice = tuple[Sequence[int], Sequence[float]]
"""An action or SKIP and why it is a skip; its probability and the price of a unit of money."""

Offer = tuple[str, int, int]
"""An action in a context: its name, its expected cost and its reserve."""

Row = tuple[int, int, int, int]
"""What the kernels are told of an event: see `almoner.core.live.replay`."""


class Visitor(Protocol):
    """Who asks for a decision: the context, the actions allowed if not all, the key if any."""

    context: Any
    available: Any
    key: Any


class LivePolicy:
    """A policy with all that it has learned.

    Attributes
    ----------
    plan, state
        The policy as kernels take it, and what it has learned.
    contexts, actions
        Contexts by name, with their rows in the state, and actions, with their places there.
    offers
        The actions in each context: name, expected cost and reserve of each.
    per_unit
        What to multiply a price by to have it in terms of money.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        root = np.random.SeedSequence(terms.seed).generate_state(1, np.uint64)[0]
        self._stream = np.uint64(stream_key(root, 0, POLICY))
        self.actions = {name: place for place, name in enumerate(terms.actions)}
        self._line = new_line(len(terms.actions), places=PLACES)
        self._one = np.empty((1, 4), np.int64), np.empty(1)
        self._advance, self._replay = advance, replay
        self.offers: dict[str, list[Offer]] = {}
        self.lay_out(terms.contexts)

    def lay_out(self, contexts: tuple[str, ...]) -> None:
        """Begin with these contexts, of which nothing is known yet."""
        self.contexts = {name: row for row, name in enumerate(contexts)}
        self.offers = {name: self._terms.offers_in(name) for name in contexts}
        offers = np.array(
            [[offer[1:] for offer in self.offers[name]] for name in contexts], np.int64
        )
        costs, reserves = offers[:, :, 0], offers[:, :, 1]
        # Kernels see to it that costs fit what is left, so they need not do it again.
        self._reserves = reserves * bool((costs != reserves).any())
        self._room = new_room(self._make_plan(contexts, costs.astype(np.float64)))
        self._look_at(len(contexts))
        self.per_unit = self._terms.unit.bottom / (self._terms.unit.top * self.plan.top)

    def admit(self, context: str) -> None:
        """Add a context of which nothing is known yet; it costs the same as the others."""
        self.contexts[context] = len(self.contexts)
        self.offers[context] = next(iter(self.offers.values()))
        if len(self.contexts) > len(self._room.plan.costs):
            self._room = doubled(self._room)
            self._reserves = np.repeat(self._reserves[:1], len(self._room.plan.costs), axis=0)
        self._look_at(len(self.contexts))

    def _look_at(self, contexts: int) -> None:
        """Have kernels see this many of the contexts that there is room for."""
        self.plan, self.state, memo, hulls = first_contexts(self._room, contexts)
        self._now, self._working = self.plan, (self.state, memo, hulls)

    def warm_up(self) -> None:
        """Get the kernels ready: from the disk, or compiled, which takes seconds."""
        fixed = (self.plan, *self._working, self._stream)
        grows, pairs = self._terms.new_contexts, self.plan.costs.size
        takes_long = grows or pairs > BRIEF or self.plan.reward == Thompson.code
        kernel = advance_at_length if takes_long else advance
        self._advance = direct(kernel, *fixed, self._line, 0, self._reserves, 0)
        self._replay = direct(replay, *fixed, *self._one)

    def choose(self, visitors: Sequence[Visitor], *, horizon: int, left: int) -> Iterable[Choice]:
        """Decide for up to `PLACES` visitors, of ``horizon`` in all, and book what was decided.

        ``left`` is what may be reserved.
        """
        if horizon != self._now.horizon:
            self._now = self.plan._replace(horizon=horizon)
        line, size = self._line, len(visitors)
        for place, visitor in enumerate(visitors):  # one by one: there is often just one
            line.contexts[place] = self.contexts[visitor.context]
            if visitor.available is not None:
                line.allowed[place] = False
                line.allowed[place, [self.actions[name] for name in visitor.available]] = True
        self._advance(self._now, *self._working, self._stream, line, size, self._reserves, left)
        choices, odds = line.choices, line.odds
        if size == 1:  # which slices would take twice as long for
            return (((choices.item(0), choices.item(1)), (odds.item(0), odds.item(1))),)
        return zip(choices[:size].tolist(), odds[:size].tolist(), strict=True)

    def replay(self, rows: Sequence[Row], rewards: Sequence[float]) -> None:
        """Fold in what has happened."""
        if not rows:
            return
        table, values = self._one
        if len(rows) == 1:  # new arrays would take longer than the kernel
            table[0], values[0] = rows[0], rewards[0]
        else:
            # Flat, as numpy takes half as long again to look into tuples.
            flat = np.fromiter(chain.from_iterable(rows), np.int64, 4 * len(rows))
            table, values = flat.reshape(-1, 4), np.array(rewards, np.float64)
        self._replay(self.plan, *self._working, self._stream, table, values)

    def units(self, money: int) -> int:
        """Return an amount of the ledger in the kernels' units, rounded down."""
        return money // self.plan.top

    @property
    def arrivals(self) -> int:
        """How many arrivals were booked."""
        return self.state.clock.item(ROUND)

    def to_dict(self) -> dict[str, Any]:
        """Return what it has learned, as plain values."""
        return {name: value.tolist() for name, value in self.state._asdict().items()}

    def restore(self, table: dict[str, Any]) -> None:
        """Go to where `to_dict` was called, with the same contexts."""
        for name, values in table.items():
            getattr(self.state, name)[...] = values
        plan, state, _, _ = self._room
        self._room = self._room._replace(memo=new_memo(plan, state), hulls=new_hulls(plan))
        self._look_at(len(self.contexts))

    def _make_plan(self, contexts: tuple[str, ...], costs: Floats) -> Plan:
        terms, horizon = self._terms, self._terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = max(1, round(horizon.arrivals))
        defaults = None
        if isinstance(terms.default_rewards, dict):
            defaults = np.array([terms.default_rewards[name] for name in contexts])
        plan = make_plan(
            terms.policy,
            horizon=horizon,
            budget=float(terms.budget),
            costs=costs,
            default_rewards=defaults,
            defaults_known=defaults is not None,
            learn_defaults=terms.default_rewards == LEARNED,
        )
        if plan.bottom != 1:
            raise InvalidInput("costs are whole numbers of units, so their grid is")
        # A simulation has no use for more than its actions can cost; bills may exceed costs.
        return plan._replace(budget=terms.budget // plan.top)
