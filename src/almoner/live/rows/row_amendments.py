"""Amendments of a campaign on rows: the market and the models go on with other actions and costs.

Rows of the market keep what they offered. A stopped action is taken out of them, and a new expected
cost replaces the old one. An action that is added or restarted is worth what its model says, where
arrivals have features; rows with scores have none for it, so that the market then samples the
arrivals from the amendment on, which replace the rows of before one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from almoner.kernels.rows.state import (
    CUT,
    FRESH,
    NEXT,
    ROUND,
    ROWS,
    START,
    UNAVAILABLE,
    RowState,
    reset_models,
)
from almoner.live.terms.terms import ROWS as CONTEXT
from almoner.live.terms.terms import Terms
from almoner.policy.row_lowering import CALIBRATED, LoweredRows
from almoner.types import Floats, Ints

__all__ = ["change_expected_costs", "change_offers", "take_over_rows"]


def take_over_rows(state: RowState, before: RowState, policy: LoweredRows) -> None:
    """Copy a state into another one, which has as many actions or more at the end.

    The models of new actions are their priors.
    """
    more, known = state.declared.shape[1], before.declared.shape[1]
    state.progress[:], state.figures[:] = before.progress, before.figures
    state.values[:, :known] = before.values[:, :known]
    state.values[:, more:] = before.values[:, known:]
    state.declared[:, known:] = UNAVAILABLE
    for after, source in ((state.declared, before.declared), (state.costs, before.costs)):
        after[:, :known] = source
    for name in ("gains", "slopes", "spans", "tops"):
        getattr(state.hulls, name)[:, :known] = getattr(before.hulls, name)
    for name in ("sizes", "weights", "price", "kept"):
        getattr(state.hulls, name)[:] = getattr(before.hulls, name)
    regressions = _regressions(policy, known, more)
    columns = before.standards.shape[1]
    state.standards[:, :columns], state.first[:, : 2 + columns] = before.standards, before.first
    early = state.first[policy.warm_up :, 0]
    early[:] = regressions[early.astype(np.int64)]
    if policy.model == CALIBRATED:
        _fill_from_others(state.standards, known)
        _fill_from_others(state.first[:, 2:], known)
    reset_models(policy, state)
    models = before.models
    state.models.covariances[:, regressions] = models.covariances
    state.models.coefficients[:, regressions] = models.coefficients
    state.models.tallies[:, regressions] = models.tallies
    state.models.visits[:] = models.visits


def _regressions(policy: LoweredRows, known: int, more: int) -> Ints:
    """Return the indices that regressions have among those of more actions."""
    bills = known * policy.learns_costs
    return np.array(
        [
            *range(known),
            *range(more, more + policy.learns_skip),
            *range(more + policy.learns_skip, more + policy.learns_skip + bills),
        ],
        np.int64,
    )


def _fill_from_others(table: Floats, known: int) -> None:
    """Let a new action count as the mean of the others, where scores were seen without it."""
    for row in table:
        row[known:] = sum(row[:known].tolist()) / known


def change_offers(state: RowState, before: Terms, after: Terms) -> None:
    """Change what the rows of the market offer after an amendment."""
    rows = state.progress.item(ROWS)
    old = {name: cost for name, cost, _ in before.offers_in(CONTEXT)}
    new = {name: cost for name, cost, _ in after.offers_in(CONTEXT)}
    for column, name in enumerate(after.actions):
        declared = state.declared[:rows, column]
        if name in old and name not in new:
            declared[:] = UNAVAILABLE
        elif name in new and name not in old and after.features:
            declared[:] = new[name]
    if not after.features and new.keys() - old.keys():
        state.progress[START], state.progress[FRESH] = state.progress[ROUND], 0
    if new.keys() != old.keys():
        _make_due(state)
    changed = {name for name in new.keys() & old.keys() if new[name] != old[name]}
    change_expected_costs(
        state, {k: new[name] for k, name in enumerate(after.actions) if name in changed}
    )


def change_expected_costs(state: RowState, costs: Mapping[int, Any]) -> None:
    """Change the expected costs of actions, by column, in the rows that gave none of their own."""
    for column, cost in costs.items():
        declared = state.declared[: state.progress.item(ROWS), column]
        outdated = (declared > UNAVAILABLE) & (declared != cost)
        if outdated.any():
            declared[outdated] = cost
            _make_due(state)


def _make_due(state: RowState) -> None:
    """Let the next arrival value all rows of the market anew, and compute the price."""
    state.progress[NEXT], state.progress[CUT] = 0, 1
