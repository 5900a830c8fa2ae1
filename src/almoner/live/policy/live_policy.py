"""LivePolicy: the policy of a live campaign, run by the simulator's own kernels.

It decides batches of arrivals, and learns rewards as they come. Contexts and actions are array
indices; money is in the kernels' units, except reserves, which are in the ledger's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import nan
from typing import Any

import numpy as np

from almoner.jit import specialize
from almoner.kernels.draws import POLICY, round_key, stream_key, uniform
from almoner.kernels.live import (
    REFIT,
    TAKE,
    ArrivalBatch,
    advance,
    advance_without_gil,
    new_batch,
    replay,
)
from almoner.kernels.packed import Packed, packed
from almoner.kernels.state import LEFT, ROUND
from almoner.kernels.weigh import weigh
from almoner.kernels.window import mature
from almoner.live.policy.choice import Choice, Offer, PendingArrival
from almoner.live.policy.context_rows import ContextRows
from almoner.live.policy.lower_terms import lower_terms
from almoner.live.policy.own_costs import OwnCosts
from almoner.live.policy.statistics import PolicyStatistics
from almoner.live.terms.terms import Terms
from almoner.policy.rewards import Thompson
from almoner.types import Floats, Ints

__all__ = ["BATCH", "LivePolicy", "Row"]

BATCH = 64
"""The largest number of arrivals decided by one call of the kernel."""

BRIEF = 2_000
"""Pairs of context and action up to which a batch is decided without releasing the GIL."""

Row = tuple[int, int, int, int]
"""An event as the kernels take it: see `almoner.kernels.live.replay`."""


class LivePolicy:
    """A policy with the statistics it has learned.

    Attributes
    ----------
    lowered, state
        The policy as kernels take it, and the statistics it has learned.
    contexts, actions
        Contexts and active actions by name, with their indices in the state.
    statistics
        The statistics by action, those of stopped ones included.
    offers
        The active actions in each context: name, expected cost and reserve of each.
    per_unit
        The factor from a price per kernel unit to a price per unit of money.
    """

    def __init__(
        self, terms: Terms, contexts: tuple[str, ...] | None = None, *, amended: bool = False
    ) -> None:
        self._terms, self._amended = terms, amended
        root = np.random.SeedSequence(terms.seed).generate_state(1, np.uint64)[0]
        self._stream = np.uint64(stream_key(root, 0, POLICY))
        self.actions = {name: index for index, name in enumerate(terms.active)}
        self._batch = new_batch(len(terms.active), size=BATCH)
        self._single = np.empty((1, 4), np.int64), np.empty(1)
        self._advance, self._replay, self._weigh = advance, replay, weigh
        self._weighed, self._mature = np.zeros((2, len(terms.active))), mature
        self.is_warm = False
        self._own: OwnCosts | None = None
        self.offers: dict[str, list[Offer]] = {}
        self.reset(terms.known_contexts if contexts is None else contexts)
        if contexts is None and terms.inherited is not None:
            self.statistics.inherit()
            self._rebuild()
            self._refit()

    def reset(self, contexts: tuple[str, ...]) -> None:
        """Start with these contexts and empty statistics."""
        self.contexts = {name: row for row, name in enumerate(contexts)}
        self.offers = {name: self._terms.offers_in(name) for name in contexts}
        offers = np.array(
            [[offer[1:] for offer in self.offers[name]] for name in contexts], np.int64
        )
        costs, reserves = offers[:, :, 0], offers[:, :, 1]
        # Kernels compare costs with the units left; reserves matter only where they differ, or may
        # have differed before an amendment.
        differ = bool((costs != reserves).any()) or bool(self._terms.learned_costs)
        differ = differ or self._amended
        self._rows = ContextRows(lower_terms(self._terms, contexts), reserves * differ)
        self.statistics = PolicyStatistics(self._terms, self.contexts, self.actions)
        self._use_rows()
        self.per_unit = self._terms.unit.bottom / (self._terms.unit.top * self.lowered.top)

    def _use_rows(self) -> None:
        """Let the kernels use the rows of all contexts, after any change of them."""
        self.lowered, self.state, memo, hulls = self._rows.in_use()
        self._now, self._working = self.lowered, (self.state, memo, hulls)
        self._reserves, self.statistics.state = self._rows.reserves, self.state
        arrays = self.lowered, *self._working, self._stream, self._batch
        # To pack takes longer than a call: not where each may bring a new context.
        self._arrays = arrays if self._terms.new_contexts else packed(arrays)

    def _rebuild(self) -> None:
        """Make the caches anew, after the state was written."""
        self._rows.rebuild()
        self._use_rows()

    def _refit(self) -> None:
        """Fit the prior and the insurance anew to the rewards seen and inherited, if there are any.

        Before the first arrival nothing is known of the contexts' shares but those of the campaign
        before; without one, all are taken for equal.
        """
        counts = self.state.context_counts
        unknown = not counts.any()
        if unknown:
            shares = self._terms.inheritance.arrivals(self.contexts)
            counts[:] = shares / shares.sum()
        self.replay([(REFIT, 0, 0, 0)], [0.0])
        if unknown:
            counts[:] = 0.0

    def admit(self, context: str) -> None:
        """Add a context without rewards; costs, and a prior if there is one, are the others'."""
        row = self.contexts[context] = len(self.contexts)
        self.offers[context] = next(iter(self.offers.values()))
        self._rows.add()
        if self._terms.learned_costs:
            self.offers[context] = self._terms.offers_in(context)
            self._rows.set_costs(row, [[cost for _, cost, _ in self.offers[context]]])
        self._use_rows()

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        fixed = (self.lowered, *self._working, self._stream)
        grows, pairs = self._terms.new_contexts, self.lowered.costs.size
        takes_long = grows or pairs > BRIEF or self.lowered.reward == Thompson.code
        kernel = advance_without_gil if takes_long else advance
        self._advance = specialize(kernel, self._arrays, 0, self._reserves, 0)
        self._replay = specialize(replay, *fixed, *self._single)
        if self._terms.spreads:
            self.draw(0)
            self._weigh = specialize(weigh, *fixed, self._batch, self._reserves, 0, self._weighed)
        if self.lowered.windowed:
            self._mature = specialize(mature, *fixed[:3])
        self.is_warm = True

    def warm_up_own_costs(self) -> None:
        """Compile the kernel for arrivals with costs of their own, or load it from the disk."""
        working = (*self._working[:2], self._stream, self._batch)
        self._own = OwnCosts(self.lowered, self._terms, working, self._weighed)

    def choose(
        self,
        arrivals: Sequence[PendingArrival],
        *,
        horizon: int,
        left: int,
        blocked: Sequence[bool] | None = None,
        held: float = 1.0,
        funds: int | None = None,
    ) -> Iterable[Choice]:
        """Decide for up to `BATCH` arrivals and record them as taken.

        ``horizon`` is the total number of arrivals, ``left`` the money that may be reserved, and
        ``held`` the share of the budget per arrival that the plan may use. For a single arrival,
        ``blocked`` says instead which actions the budget cannot bear. An arrival with costs of its
        own comes alone, with the ``funds`` of the plan in units of money.
        """
        batch, size, reserves = self._fill(arrivals, horizon, held), len(arrivals), self._reserves
        if funds is not None and self._weigh_own(arrivals[0], left, blocked, funds):
            choice = self._choice()
            self.take(arrivals[0], choice[0])
            return (choice,)
        if blocked is not None:
            reserves, left = self._limits(arrivals[0], left, blocked)
        last: Choice = self._advance(self._arrays, size, reserves, left)
        if size == 1:
            return (last,)
        choices, figures = batch.choices[:size].T.tolist(), batch.figures[:size].T.tolist()
        return zip(*choices, *figures, strict=True)

    def _limits(
        self, arrival: PendingArrival, left: int, blocked: Sequence[bool] | None
    ) -> tuple[Ints, int]:
        """Return reserves and the money they must fit, so that blocked actions do not."""
        if blocked is None:
            return self._reserves, left
        reserves = np.zeros_like(self._reserves)
        reserves[self.contexts[arrival.context]] = blocked
        return reserves, 0

    def _fill(self, arrivals: Sequence[PendingArrival], horizon: int, held: float) -> ArrivalBatch:
        """Return the batch with these arrivals, and let the kernels use horizon and share."""
        now = self._now
        if horizon != now.horizon or held != now.held:
            self._plan(horizon, held)
        batch, contexts = self._batch, self.contexts
        if len(arrivals) == 1:  # as mostly; a slice takes longer
            batch.contexts[0] = contexts[arrivals[0].context]
            if arrivals[0].available is None:
                return batch
        else:
            batch.contexts[: len(arrivals)] = [contexts[arrival.context] for arrival in arrivals]
        for index in [i for i, a in enumerate(arrivals) if a.available is not None]:
            batch.allowed[index] = False
            names = [name for name in arrivals[index].available if name in self.actions]
            batch.allowed[index, [self.actions[name] for name in names]] = True
        return batch

    def _plan(self, horizon: int, held: float) -> None:
        """Let the kernels plan for a horizon, with a share of the budget per arrival."""
        self._now = self.lowered._replace(horizon=horizon, held=held)
        if isinstance(self._arrays, Packed):
            self._arrays.change("horizon", horizon)
            self._arrays.change("held", held)
        else:
            self._arrays = self._now, *self._arrays[1:]

    def weigh(
        self,
        arrival: PendingArrival,
        *,
        horizon: int,
        left: int,
        held: float = 1.0,
        blocked: Sequence[bool] | None = None,
        funds: int | None = None,
    ) -> tuple[Choice, list[float], list[bool]]:
        """Decide for an arrival, and record nothing; the arguments are those of `choose`.

        Returns the policy's choice, its probability of each action, and which could be taken.
        """
        batch = self._fill((arrival,), horizon, held)
        if funds is None or not self._weigh_own(arrival, left, blocked, funds):
            reserves, left = self._limits(arrival, left, blocked)
            self._weigh(
                self._now, *self._working, self._stream, batch, reserves, left, self._weighed
            )
        spread, options = self._weighed.tolist()
        return self._choice(), spread, [*map(bool, options)]

    def _choice(self) -> Choice:
        """Return the choice for the first arrival of the batch."""
        choices, figures = self._batch.choices, self._batch.figures
        return choices.item(0), choices.item(1), figures.item(0), figures.item(1)

    def _weigh_own(
        self, arrival: PendingArrival, left: int, blocked: Sequence[bool] | None, funds: int
    ) -> bool:
        """Weigh an arrival at its own costs; return False, and do nothing, if none differ."""
        offers = self.offers_to(arrival)
        if offers == self.offers[arrival.context]:
            return False
        working = (*self._working[:2], self._stream, self._batch)
        if self._own is None or self._own.lowered is not self.lowered:
            self._own = OwnCosts(self.lowered, self._terms, working, self._weighed)
        limits = ([reserve for _, _, reserve in offers], left) if blocked is None else (blocked, 0)
        self._own.weigh(self._now, working, arrival.context, offers, limits, funds)
        return True

    def offers_to(self, arrival: PendingArrival) -> list[Offer]:
        """Return the active actions as an arrival has them: at its own costs, where it has any."""
        offers = self.offers[arrival.context]
        if arrival.own_costs is None:
            return offers
        return self._terms.offers_at(arrival.context, offers, arrival.own_costs)

    def draw(self, lane: int) -> float:
        """Return the uniform draw of a lane for the next arrival."""
        key = np.uint64(round_key(self._stream, self.state.progress.item(ROUND)))
        return float(uniform(key, lane))

    def take(self, arrival: PendingArrival, action: int, *, horizon: int | None = None) -> None:
        """Record a decision that was made elsewhere; a policy on rows needs the horizon too."""
        row = (TAKE, self.contexts[arrival.context], action, self.state.progress.item(ROUND))
        self.replay([row], [0.0])

    def replay(self, rows: Sequence[Row], rewards: Sequence[float]) -> None:
        """Fold events, each with the reward it may carry."""
        if not rows:
            return
        table, values = self._single
        if len(rows) == 1:  # new arrays would take longer than the kernel
            table[0], values[0] = rows[0], rewards[0]
        else:
            # Flat, as numpy takes half as long again to look into tuples.
            flat = np.fromiter(chain.from_iterable(rows), np.int64, 4 * len(rows))
            table, values = flat.reshape(-1, 4), np.array(rewards, np.float64)
        self._replay(self.lowered, *self._working, self._stream, table, values)

    def set_evidence(self, columns: dict[str | None, int], came: Floats, made: Floats) -> None:
        """Set the evidence of all pairs: see `PolicyStatistics.set_evidence`."""
        self.statistics.set_evidence(columns, came, made)
        self._mature(self.lowered, *self._working[:2])

    def set_costs(self, costs: Ints) -> None:
        """Set the expected costs (contexts, active actions), in units of money."""
        for context, row in zip(self.contexts, costs.tolist(), strict=True):
            offers = zip(self.offers[context], row, strict=True)
            self.offers[context] = [(name, cost, reserve) for (name, _, reserve), cost in offers]
        self._rows.set_costs(0, costs)
        self._use_rows()

    def set_left(self, units: int) -> None:
        """Set the money that the plan may use, in the kernels' units, as a row SET_LEFT does."""
        self.state.progress[LEFT] = units

    def take_instead(self, context: str, action: str) -> None:
        """Record an action that costs the plan nothing, in place of the skip just recorded."""
        pair = self.contexts[context], self.actions[action]
        self.state.pending[pair] += 1.0
        memo = self._working[1]
        if memo.insured.size:
            memo.insured[pair] = nan

    def units(self, money: int) -> int:
        """Return an amount of the ledger in the kernels' units, rounded down."""
        return money // self.lowered.top

    def take_over(self, other: LivePolicy) -> None:
        """Take over everything that the policy has learned on other terms, for these contexts."""
        self.statistics.take_over(other.statistics)
        self._rebuild()
        self._refit()

    def change_stopped(self, context: str, action: str, change: Sequence[float]) -> None:
        """Add to the count, the sum and the pending rewards of an action that was stopped."""
        self.statistics.change_stopped(context, action, change)

    def to_dict(self) -> dict[str, Any]:
        """Return the learned statistics as plain values; those of a fit only if there is one."""
        return self.statistics.to_dict(self.lowered)

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the statistics that `to_dict` returned, for the same contexts."""
        self.statistics.restore(table)
        self._rebuild()
