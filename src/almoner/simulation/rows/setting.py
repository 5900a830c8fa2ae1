"""A policy on rows as the kernels take it: arguments checked, money on a grid, orders of rows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput, InvalidPolicy
from almoner.money import Grid, decimal_grid
from almoner.policy.base import Policy
from almoner.policy.recipes import recipe
from almoner.policy.row_lowering import GIVEN, LINEAR, LoweredRows, lower_rows
from almoner.policy.rows import REGRESSOR_LIMIT
from almoner.simulation.replications import root_key
from almoner.simulation.rows.rows import Rows
from almoner.types import Ints

if TYPE_CHECKING:
    from almoner.kernels.rows.loop import RowWorld

__all__ = ["Order", "Setting", "orders", "prepare"]


class Order(StrEnum):
    """Orders of the rows: a shuffle for each replication, or that of the file."""

    SHUFFLE = "shuffle"
    FILE = "file"


class Setting(NamedTuple):
    """Rows and a policy on them, as the kernels take them."""

    rows: Rows
    lowered: LoweredRows
    world: RowWorld
    grid: Grid
    root: np.uint64
    order: str


def prepare(
    rows: Rows, policy: Any, budget: float, seed: int, order: str, default: str | None
) -> Setting:
    """Return a checked setting."""
    policy = recipe(policy) if isinstance(policy, str) else policy
    if not isinstance(policy, Policy):
        rule = "be a Policy on rows or the name of one"
        raise checks.refuse("policy", rule, policy, checks.uncalled(policy), InvalidPolicy)
    budget = checks.number("budget", budget, low=0.0)
    root = root_key(checks.whole("seed", seed, low=0))
    order = checks.choice("order", order, Order)
    index = rows.action_index(default)
    grid = _grid(rows, budget)
    lowered = lower_rows(
        policy,
        horizon=len(rows),
        budget=grid.budget,
        features=0 if rows.features is None else rows.features.shape[1],
        learns_skip=bool(rows.skip_rewards.any()),
        default=index,
    )
    _refuse_missing(rows, lowered)
    _refuse_overflow(rows, lowered)
    return Setting(rows, lowered, _world(rows, grid), grid, root, order)


def _grid(rows: Rows, budget: float) -> Grid:
    """Return the grid of all costs; a budget beyond all of them is cut to what can be spent."""
    both = np.concatenate([rows.expected_costs, rows.costs])
    most = len(rows) * float(both.max())
    return decimal_grid(min(budget, most * (1 + 1e-12)), both)


def _world(rows: Rows, grid: Grid) -> RowWorld:
    from almoner.kernels.rows.loop import RowWorld

    count = len(rows)
    scores = np.zeros(rows.rewards.shape) if rows.scores is None else rows.scores
    features = np.zeros((count, 0)) if rows.features is None else rows.features
    return RowWorld(
        rewards=np.column_stack([rows.rewards, rows.skip_rewards]),
        values=np.column_stack([scores, rows.skip_scores, features]),
        costs=grid.costs[:count].copy(),
        bills=grid.costs[count:].copy(),
    )


def _refuse_missing(rows: Rows, lowered: LoweredRows) -> None:
    """Refuse a policy whose columns the rows lack."""
    missing, name, columns = (
        (rows.features, "features", "x*")
        if lowered.model == LINEAR
        else (rows.scores, "scores", "score_*")
    )
    if missing is None:
        raise InvalidInput(
            f"the policy decides by {name}, and the rows have none; name their columns, as in "
            f"{name}=\"{columns}\", or --{name} '{columns}' on the command line"
        )


def _refuse_overflow(rows: Rows, lowered: LoweredRows) -> None:
    """Refuse numbers whose squares, which the models of rewards are made of, are not finite."""
    if lowered.model == GIVEN:
        return
    learned = rows.features if lowered.model == LINEAR else rows.scores
    name = "features" if lowered.model == LINEAR else "scores"
    for what, values in (("rewards", rows.rewards), (name, learned)):
        largest = 0.0 if values is None else float(np.abs(values).max())
        if largest > REGRESSOR_LIMIT:
            rule = f"be between {-REGRESSOR_LIMIT:g} and {REGRESSOR_LIMIT:g} to learn from"
            raise checks.refuse(what, rule, largest, "give them in another unit")


def orders(setting: Setting, first: int, count: int) -> Ints:
    """Return the order of the rows in each of some replications, the same for every policy."""
    everyone = np.arange(len(setting.rows))
    if setting.order == Order.FILE:
        return np.tile(everyone, (count, 1))
    return np.array(
        [
            np.random.default_rng((int(setting.root), run)).permutation(everyone)
            for run in range(first, first + count)
        ]
    )
