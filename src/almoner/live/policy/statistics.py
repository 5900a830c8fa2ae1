"""Statistics that a policy has learned: counts, sums and pending rewards of every action.

Those of active actions are in the arrays of the kernels, those of stopped ones are kept beside
them, to be reported, and to go on with if the action is restarted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from almoner.kernels.state import OVERALL_MEAN, State
from almoner.live.terms.terms import SKIP_NAME, Terms
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats

__all__ = ["PairStatistics", "PolicyStatistics"]

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


class PolicyStatistics:
    """The statistics of a policy on some terms.

    Attributes
    ----------
    state
        The arrays of the kernels, with a row for each context and a column for each active action.
    contexts, actions
        Contexts and active actions by name, with their indices in the state.
    stopped
        Counts, sums and pending rewards (3, contexts) of the actions that were stopped, by name;
        contexts that came after that may be missing.
    """

    state: State

    def __init__(self, terms: Terms, contexts: dict[str, int], actions: dict[str, int]) -> None:
        self._terms, self.contexts, self.actions = terms, contexts, actions
        self.stopped: dict[str, Floats] = {}

    def by_action(self) -> dict[str, Floats]:
        """Return counts, sums and pending rewards (3, contexts) of every action, by name."""
        state = self.state
        pairs = np.stack([state.counts.T, state.sums.T, state.pending.T], axis=1)
        active = {name: pairs[column] for name, column in self.actions.items()}
        return {**active, **self.of_stopped()}

    def of_stopped(self) -> dict[str, Floats]:
        """Return `stopped`, with zeros for the contexts that came after an action was stopped."""
        contexts = len(self.contexts)
        for name, values in self.stopped.items():
            missing = contexts - values.shape[1]
            if missing:
                self.stopped[name] = np.append(values, np.zeros((3, missing)), axis=1)
        return self.stopped

    def by_pair(self) -> PairStatistics:
        """Return the statistics of all pairs, in the order of the terms' actions."""
        state, names = self.state, self._terms.actions
        if not self._terms.stopped:
            return PairStatistics(state.counts, state.sums, state.prior_means, state.prior_counts)
        learned = self.by_action()
        counts, sums = (np.stack([learned[name][i] for name in names], axis=1) for i in range(2))
        priors = [np.zeros(counts.shape if state.prior_counts.size else (0, 0)) for _ in range(2)]
        if state.prior_counts.size:
            active = [column for column, name in enumerate(names) if name in self.actions]
            priors[0][:, active], priors[1][:, active] = state.prior_means, state.prior_counts
        return PairStatistics(counts, sums, *priors)

    def change_stopped(self, context: str, action: str, change: Sequence[float]) -> None:
        """Add to the count, the sum and the pending rewards of an action that was stopped."""
        if self.contexts[context] >= self.stopped[action].shape[1]:
            self.of_stopped()
        self.stopped[action][:, self.contexts[context]] += change

    def take_over(self, other: PolicyStatistics) -> None:
        """Take over everything that was learned on other terms, for the same contexts."""
        before, after = other.state, self.state
        skips = ("skip_counts", "skip_sums", "skip_pending")
        for name in ("context_counts", *skips, "progress", "fit"):
            getattr(after, name)[...] = getattr(before, name)
        if after.context_effects.size:
            after.context_effects[...] = before.context_effects
        learned = other.by_action()
        for name, column in self.actions.items():
            if name in learned:
                after.counts[:, column], after.sums[:, column] = learned[name][:2]
                after.pending[:, column] = learned.pop(name)[2]
        nothing = np.zeros((3, len(self.contexts)))
        self.stopped = {name: learned.get(name, nothing.copy()) for name in self._terms.stopped}

    def inherit(self) -> None:
        """Take inherited counts and sums for rewards that were seen."""
        state = self.state
        for context, row in self.contexts.items():
            for action, (count, total) in self._terms.inheritance.in_context(context).items():
                if action == SKIP_NAME:
                    state.skip_counts[row], state.skip_sums[row] = count, total
                elif action in self.actions:  # it is not where an amendment has stopped it
                    column = self.actions[action]
                    state.counts[row, column], state.sums[row, column] = count, total
        if self._terms.reward_window is not None:
            self._set_overall_mean(float(state.counts.sum() + state.skip_counts.sum()))

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
        for name, values in self.of_stopped().items():
            values[0], values[2] = came[:, columns[name]], (made - came)[:, columns[name]]
        self._set_overall_mean(float(came.sum()))

    def _set_overall_mean(self, evidence: float) -> None:
        """Set the mean of all decisions, which counts where rewards come within a window."""
        total = float(self.state.sums.sum() + self.state.skip_sums.sum())
        self.state.fit[OVERALL_MEAN] = min(1.0, (total + FIRST_MEAN) / (evidence + 1.0))

    def _inherited_counts(self, columns: dict[str | None, int]) -> Floats:
        """Return the inherited rewards of all pairs, which count as decisions that have matured."""
        counts = np.zeros((len(self.contexts), max(columns.values()) + 1))
        for context, row in self.contexts.items():
            for action, (count, _) in self._terms.inheritance.in_context(context).items():
                counts[row, columns[None if action == SKIP_NAME else action]] = count
        return counts

    def to_dict(self, lowered: LoweredPolicy) -> dict[str, Any]:
        """Return those of active actions as plain values; those of a fit only if there is one."""
        values = self.state._asdict()
        for name in _unused_fields(lowered):
            del values[name]
        table = {name: value.tolist() for name, value in values.items()}
        table["clock"] = table.pop("progress")  # the name in snapshots
        return table

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`, for the same contexts."""
        for name, values in table.items():
            getattr(self.state, "progress" if name == "clock" else name)[...] = values


def _unused_fields(policy: LoweredPolicy) -> tuple[str, ...]:
    """Return the fields of the state that a policy never reads: snapshots leave them out."""
    unused = () if policy.windowed == 1 else ("skip_pending",)
    if policy.pooled == 1:
        return unused
    fitted = policy.windowed == 1 or policy.reward == InsuredWilson.code
    return (*unused, *POOL) if fitted else (*unused, *POOL, "fit")
