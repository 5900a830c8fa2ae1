"""LivePolicy: the policy of a live campaign, run by the simulator's own kernels.

It decides batches of arrivals, and learns rewards as they come. Contexts and actions are array
indices; money is in the kernels' units, except reserves, which are in the ledger's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from math import nan
from typing import Any, NamedTuple, Protocol

import numpy as np

from almoner.errors import InvalidInput, InvalidPolicy
from almoner.jit import specialize
from almoner.kernels.capacity import doubled, first_contexts, new_buffers, set_new_priors
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
from almoner.kernels.state import (
    LEFT,
    OVERALL_MEAN,
    REFIT_AT,
    ROUND,
    VALID_UNTIL,
    new_hulls,
    new_memo,
)
from almoner.kernels.weigh import weigh
from almoner.kernels.window import mature
from almoner.live.policy.must_serve import MustServe, improvement_costs
from almoner.live.terms.terms import LEARNED, SKIP_NAME, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.policy.allocation import Procrastinate
from almoner.policy.base import Policy
from almoner.policy.lowering import LoweredPolicy, cost_bounds, lower
from almoner.policy.rewards import InsuredWilson, KnownRewards, Thompson
from almoner.types import Floats, Ints

__all__ = ["BATCH", "Choice", "LivePolicy", "PairStatistics", "PendingArrival", "Row"]

BATCH = 64
"""The largest number of arrivals decided by one call of the kernel."""

BRIEF = 2_000
"""Pairs of context and action up to which a batch is decided without releasing the GIL."""

Choice = tuple[Sequence[int], Sequence[float]]
"""An action or SKIP, and the code of its reason; its probability and the price of a unit."""

Offer = tuple[str, int, int]
"""An action in a context: its name, its expected cost and its reserve."""

Row = tuple[int, int, int, int]
"""An event as the kernels take it: see `almoner.kernels.live.replay`."""


POOL = ("prior_means", "prior_counts", "action_shares", "context_effects", "action_fit")
"""Fields of the state that only a pooled prior has."""

FIRST_MEAN = 0.05
"""Guess at the overall mean where rewards come within a window, worth one decision."""


class PairStatistics(NamedTuple):
    """Counts, sums and pooled priors of all pairs (contexts, actions), stopped actions included.

    The priors are empty if none is fitted, and those of stopped actions have no weight.
    """

    counts: Floats
    sums: Floats
    prior_means: Floats
    prior_counts: Floats


class PendingArrival(Protocol):
    """An arrival to decide: its context, the actions allowed if not all, key and person if any."""

    context: Any
    available: Any
    key: Any
    visitor: Any


class LivePolicy:
    """A policy with the statistics it has learned.

    Attributes
    ----------
    lowered, state
        The policy as kernels take it, and the statistics it has learned.
    contexts, actions
        Contexts and active actions by name, with their indices in the state.
    stopped
        Counts, sums and pending rewards (3, contexts) of the actions that were stopped, by name.
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
        self.offers: dict[str, list[Offer]] = {}
        self.stopped: dict[str, Floats] = {}
        self.reset(terms.known_contexts if contexts is None else contexts)
        if contexts is None and terms.inherited is not None:
            self._inherit()

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
        self._reserves = reserves * differ
        planned = np.array([improvement_costs(self._terms, name) for name in contexts], np.float64)
        self._buffers = new_buffers(self._lower(contexts, planned))
        # Tells the fit that rows not in use have their priors from.
        self._fit: tuple[float, float] | None = None
        self._use(len(contexts))
        self.per_unit = self._terms.unit.bottom / (self._terms.unit.top * self.lowered.top)

    def _inherit(self) -> None:
        """Take inherited counts and sums for rewards that were seen, and fit the prior to them."""
        state = self.state
        for context, row in self.contexts.items():
            for action, (count, total) in self._terms.inherited_in(context).items():
                if action == SKIP_NAME:
                    state.skip_counts[row], state.skip_sums[row] = count, total
                elif action in self.actions:  # it is not where an amendment has stopped it
                    column = self.actions[action]
                    state.counts[row, column], state.sums[row, column] = count, total
        if self.lowered.windowed:
            self._set_overall_mean(float(state.counts.sum() + state.skip_counts.sum()))
        self._rebuild()
        self._refit()

    def _refit(self) -> None:
        """Fit the prior and the insurance anew to the rewards seen and inherited, if there are any.

        Before the first arrival nothing is known of the contexts' shares but those of the campaign
        before; without one, all are taken for equal.
        """
        counts = self.state.context_counts
        unknown = not counts.any()
        if unknown:
            shares = self._terms.inherited_arrivals(self.contexts)
            counts[:] = shares / shares.sum()
        self.replay([(REFIT, 0, 0, 0)], [0.0])
        if unknown:
            counts[:] = 0.0

    def admit(self, context: str) -> None:
        """Add a context without rewards; costs, and a prior if there is one, are the others'."""
        row = self.contexts[context] = len(self.contexts)
        self.offers[context] = next(iter(self.offers.values()))
        if len(self.contexts) > len(self._buffers.policy.costs):
            self._buffers = doubled(self._buffers)
            self._reserves = np.repeat(self._reserves[:1], len(self._buffers.policy.costs), axis=0)
            self._fit = None
        fit = self.state.fit.item(REFIT_AT), self.state.fit.item(OVERALL_MEAN)
        if fit != self._fit:  # all rows at once: one takes as long
            set_new_priors(self._buffers, row)
            self._fit = fit
        if self._terms.learned_costs:
            self.offers[context] = self._terms.offers_in(context)
            self._buffers.policy.costs[row] = [cost for _, cost, _ in self.offers[context]]
            self._bound_costs()
        self._use(len(self.contexts))

    def _use(self, contexts: int) -> None:
        """Let the kernels use the first ``contexts`` of the allocated rows."""
        self.lowered, self.state, memo, hulls = first_contexts(self._buffers, contexts)
        self._now, self._working = self.lowered, (self.state, memo, hulls)

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        fixed = (self.lowered, *self._working, self._stream)
        grows, pairs = self._terms.new_contexts, self.lowered.costs.size
        takes_long = grows or pairs > BRIEF or self.lowered.reward == Thompson.code
        kernel = advance_without_gil if takes_long else advance
        self._advance = specialize(kernel, *fixed, self._batch, 0, self._reserves, 0)
        self._replay = specialize(replay, *fixed, *self._single)
        if self._terms.spreads:
            self.draw(0)
            self._weigh = specialize(weigh, *fixed, self._batch, self._reserves, 0, self._weighed)
        if self.lowered.windowed:
            self._mature = specialize(mature, *fixed[:3])
        self.is_warm = True

    def choose(
        self,
        arrivals: Sequence[PendingArrival],
        *,
        horizon: int,
        left: int,
        blocked: Sequence[bool] | None = None,
        held: float = 1.0,
    ) -> Iterable[Choice]:
        """Decide for up to `BATCH` arrivals and record them as taken.

        ``horizon`` is the total number of arrivals, ``left`` the money that may be reserved, and
        ``held`` the share of the budget per arrival that the plan may use. For a single arrival,
        ``blocked`` says instead which actions the budget cannot bear.
        """
        batch, size = self._fill(arrivals, horizon, held), len(arrivals)
        reserves, left = self._limits(arrivals[0], left, blocked)
        self._advance(self._now, *self._working, self._stream, batch, size, reserves, left)
        choices, figures = batch.choices, batch.figures
        if size == 1:  # slices would take twice as long
            return (((choices.item(0), choices.item(1)), (figures.item(0), figures.item(1))),)
        return zip(choices[:size].tolist(), figures[:size].tolist(), strict=True)

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
        if horizon != self._now.horizon or held != self._now.held:
            self._now = self.lowered._replace(horizon=horizon, held=held)
        batch = self._batch
        for index, arrival in enumerate(arrivals):  # one by one: there is often just one
            batch.contexts[index] = self.contexts[arrival.context]
            if arrival.available is not None:
                batch.allowed[index] = False
                active = [self.actions[name] for name in arrival.available if name in self.actions]
                batch.allowed[index, active] = True
        return batch

    def weigh(
        self,
        arrival: PendingArrival,
        *,
        horizon: int,
        left: int,
        held: float = 1.0,
        blocked: Sequence[bool] | None = None,
    ) -> tuple[Choice, list[float], list[bool]]:
        """Decide for an arrival, and record nothing.

        Returns the policy's choice, its probability of each action, and which could be taken.
        """
        batch = self._fill((arrival,), horizon, held)
        reserves, left = self._limits(arrival, left, blocked)
        self._weigh(self._now, *self._working, self._stream, batch, reserves, left, self._weighed)
        choices, figures = batch.choices, batch.figures
        choice = (choices.item(0), choices.item(1)), (figures.item(0), figures.item(1))
        spread, options = self._weighed.tolist()
        return choice, spread, [*map(bool, options)]

    def draw(self, lane: int) -> float:
        """Return the uniform draw of a lane for the next arrival."""
        key = np.uint64(round_key(self._stream, self.state.progress.item(ROUND)))
        return float(uniform(key, lane))

    def take(self, context: str, action: int) -> None:
        """Record a decision that was made elsewhere."""
        row = (TAKE, self.contexts[context], action, self.state.progress.item(ROUND))
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
        """Set the evidence of all pairs that has come, and that of all decisions made.

        Both are arrays with a row for each context, and columns for actions, and skips (None).
        """
        state, skip = self.state, columns[None]
        carried = self._inherited_counts(columns)
        came, made = came + carried, made + carried
        active = [columns[name] for name in self.actions]
        state.counts[...] = came[:, active]
        state.pending[...] = made[:, active] - came[:, active]
        state.skip_counts[...] = came[:, skip]
        state.skip_pending[...] = made[:, skip] - came[:, skip]
        for name, values in self.stopped_statistics().items():
            values[0], values[2] = came[:, columns[name]], (made - came)[:, columns[name]]
        self._set_overall_mean(float(came.sum()))
        self._mature(self.lowered, *self._working[:2])

    def _set_overall_mean(self, evidence: float) -> None:
        """Set the mean of all decisions, which counts where rewards come within a window."""
        total = float(self.state.sums.sum() + self.state.skip_sums.sum())
        self.state.fit[OVERALL_MEAN] = min(1.0, (total + FIRST_MEAN) / (evidence + 1.0))

    def _inherited_counts(self, columns: dict[str | None, int]) -> Floats:
        """Return the inherited rewards of all pairs, which count as decisions that have matured."""
        counts = np.zeros((len(self.contexts), max(columns.values()) + 1))
        for context, row in self.contexts.items():
            for action, (count, _) in self._terms.inherited_in(context).items():
                counts[row, columns[None if action == SKIP_NAME else action]] = count
        return counts

    def set_costs(self, costs: Ints) -> None:
        """Set the expected costs (contexts, active actions), in units of money."""
        self._buffers.policy.costs[: len(costs)] = costs
        for context, row in zip(self.contexts, costs.tolist(), strict=True):
            offers = zip(self.offers[context], row, strict=True)
            self.offers[context] = [(name, cost, reserve) for (name, _, reserve), cost in offers]
        self._bound_costs()
        self._use(len(self.contexts))

    def _bound_costs(self) -> None:
        """Compute the least and the largest cost anew, and whatever depends on costs."""
        policy = self._buffers.policy
        costs = policy.costs[: len(self.contexts)]
        policy = policy._replace(**cost_bounds(costs))
        self._buffers.memo.validity[VALID_UNTIL] = 0
        self._buffers = self._buffers._replace(policy=policy, hulls=new_hulls(policy))

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

    def statistics(self) -> dict[str, Floats]:
        """Return counts, sums and pending rewards (3, contexts) of every action, by name."""
        state = self.state
        pairs = np.stack([state.counts.T, state.sums.T, state.pending.T], axis=1)
        active = {name: pairs[column] for name, column in self.actions.items()}
        return {**active, **self.stopped_statistics()}

    def stopped_statistics(self) -> dict[str, Floats]:
        """Return `stopped`, with zeros for the contexts that came after an action was stopped."""
        contexts = len(self.contexts)
        for name, values in self.stopped.items():
            missing = contexts - values.shape[1]
            if missing:
                self.stopped[name] = np.append(values, np.zeros((3, missing)), axis=1)
        return self.stopped

    def pair_statistics(self) -> PairStatistics:
        """Return the statistics of all pairs, in the order of the terms' actions."""
        state, names = self.state, self._terms.actions
        if not self._terms.stopped:
            return PairStatistics(state.counts, state.sums, state.prior_means, state.prior_counts)
        learned = self.statistics()
        counts, sums = (np.stack([learned[name][i] for name in names], axis=1) for i in range(2))
        priors = [np.zeros(counts.shape if state.prior_counts.size else (0, 0)) for _ in range(2)]
        if state.prior_counts.size:
            active = [column for column, name in enumerate(names) if name in self.actions]
            priors[0][:, active], priors[1][:, active] = state.prior_means, state.prior_counts
        return PairStatistics(counts, sums, *priors)

    def take_over(self, other: LivePolicy) -> None:
        """Take over everything that the policy has learned on other terms, for these contexts."""
        before, after = other.state, self.state
        skips = ("skip_counts", "skip_sums", "skip_pending")
        for name in ("context_counts", *skips, "progress", "fit"):
            getattr(after, name)[...] = getattr(before, name)
        if after.context_effects.size:
            after.context_effects[...] = before.context_effects
        learned = other.statistics()
        for name, column in self.actions.items():
            if name in learned:
                after.counts[:, column], after.sums[:, column] = learned[name][:2]
                after.pending[:, column] = learned.pop(name)[2]
        nothing = np.zeros((3, len(self.contexts)))
        self.stopped = {name: learned.get(name, nothing.copy()) for name in self._terms.stopped}
        self._rebuild()
        self._refit()

    def change_stopped(self, context: str, action: str, change: Sequence[float]) -> None:
        """Add to the count, the sum and the pending rewards of an action that was stopped."""
        if self.contexts[context] >= self.stopped[action].shape[1]:
            self.stopped_statistics()
        self.stopped[action][:, self.contexts[context]] += change

    def to_dict(self) -> dict[str, Any]:
        """Return the learned statistics as plain values; those of a fit only if there is one."""
        values = self.state._asdict()
        for name in _unused_fields(self.lowered):
            del values[name]
        table = {name: value.tolist() for name, value in values.items()}
        table["clock"] = table.pop("progress")  # the name in snapshots
        return table

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the statistics that `to_dict` returned, for the same contexts."""
        for name, values in table.items():
            getattr(self.state, "progress" if name == "clock" else name)[...] = values
        self._rebuild()

    def _rebuild(self) -> None:
        """Make the caches anew, after the state was written."""
        lowered, state, _, _ = self._buffers
        self._buffers = self._buffers._replace(
            memo=new_memo(lowered, state), hulls=new_hulls(lowered)
        )
        self._fit = None
        self._use(len(self.contexts))

    def _lower(self, contexts: tuple[str, ...], costs: Floats) -> LoweredPolicy:
        terms, horizon = self._terms, self._terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = max(1, round(horizon.arrivals))
        defaults = None
        if terms.default_rewards != LEARNED and (terms.default_rewards or terms.scale.zero):
            defaults = np.array([terms.default_in(name) for name in contexts])
        lowered = lower(
            _on_actions(terms),
            horizon=horizon,
            budget=float(terms.budget),
            costs=costs,
            default_rewards=defaults,
            defaults_known=defaults is not None,
            learn_defaults=terms.default_rewards == LEARNED,
        )
        if lowered.bottom != 1:
            raise InvalidInput("costs are whole numbers of units, so their grid is")
        # A simulation caps the budget at what its actions can cost; live bills may exceed costs.
        budget = terms.budget
        if terms.default is not None:  # the plan buys improvements with the rest
            budget = max(0, budget - MustServe(terms).expected(horizon))
        lowered = lowered._replace(
            budget=budget // lowered.top, windowed=int(terms.reward_window is not None)
        )
        return _with_any_cost(lowered, terms, costs) if terms.learned_costs else lowered


def _with_any_cost(lowered: LoweredPolicy, terms: Terms, costs: Floats) -> LoweredPolicy:
    """Return a policy whose costs may become any number of units: its unit is that of the money."""
    if isinstance(terms.policy.allocation, Procrastinate):
        raise InvalidPolicy(
            "Procrastinate is defined where every action costs the same, which learned costs do "
            "not; use rounded() or thrifty() instead"
        )
    units = costs.astype(np.int64)
    return lowered._replace(
        top=1,
        budget=terms.budget,
        costs=units,
        priced=1,
        **cost_bounds(units),
    )


def _on_actions(terms: Terms) -> Policy:
    """Return the policy; if it knows the means of all actions, with those of the active ones."""
    policy = terms.policy
    if not (terms.stopped and isinstance(policy.rewards, KnownRewards) and policy.rewards.means):
        return policy
    active = [index for index, name in enumerate(terms.actions) if name not in terms.stopped]
    means = np.asarray(policy.rewards.means)[:, active].tolist()
    return replace(policy, rewards=KnownRewards(means=means))


def _unused_fields(policy: LoweredPolicy) -> tuple[str, ...]:
    """Return the fields of the state that a policy never reads: snapshots leave them out."""
    unused = () if policy.windowed == 1 else ("skip_pending",)
    if policy.pooled == 1:
        return unused
    fitted = policy.windowed == 1 or policy.reward == InsuredWilson.code
    return (*unused, *POOL) if fitted else (*unused, *POOL, "fit")
