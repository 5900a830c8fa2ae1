"""Replay: the value of any policy on a log, by rejection, or by a model and its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from almoner import checks
from almoner.logs.basis import LEVEL, Basis, refuse_unknown_skips
from almoner.logs.log import Log
from almoner.policy.base import Policy
from almoner.policy.recipes import recipe
from almoner.simulation.python_policy import PlainPolicy, check_methods

__all__ = ["Replay", "replay"]


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The value of a policy, estimated from a log.

    Attributes
    ----------
    policy
        The policy, or the name that it was given by.
    value, low, high
        The reward of ``horizon`` rounds together, with its 95 % interval.
    stderr
        The standard error of the value.
    accepted
        Rows that were accepted, on average over the runs; 0 for a model.
    horizon
        The rounds of a replay: fewer than the arrivals of the log, as rows are rejected, unless
        they were given.
    budget
        The budget of these rounds, of the same size per round as the one asked for.
    spend
        The part of it that was spent, on average.
    runs
        The number of replays.
    basis
        The evidence of the estimate.
    """

    policy: Any
    value: float
    low: float
    high: float
    stderr: float
    accepted: float
    horizon: int
    budget: float
    spend: float
    runs: int
    basis: Basis

    @property
    def per_arrival(self) -> float:
        """The value of one round."""
        return self.value / self.horizon

    @property
    def acceptance(self) -> float:
        """The share of the rows that were accepted."""
        return self.accepted / self.basis.rows

    @classmethod
    def of_rounds(cls, mean: float, stderr: float, *, horizon: int, **fields: Any) -> Replay:
        """Return a replay with the interval of the mean reward of a round."""
        value, error = horizon * mean, horizon * stderr
        return cls(
            value=value,
            low=value - LEVEL * error,
            high=value + LEVEL * error,
            stderr=error,
            horizon=horizon,
            **fields,
        )


def replay(
    log: Log,
    policy: Policy | PlainPolicy | str,
    *,
    budget: float,
    horizon: int | None = None,
    runs: int = 10,
    seed: int = 0,
) -> Replay:
    """Return what a policy would have brought on a log, learning as it goes.

    Rows are accepted at random where the log did what the policy does, so that the accepted ones
    are arrivals that the policy has served itself: on acceptance it is charged, rewarded, and
    learns. Of n rows about n·m are accepted, m being the smallest probability in the log, and the
    budget is cut in proportion. A policy that takes means as known gets those of one half of the
    log, and is replayed on the other, and the other way round.

    Parameters
    ----------
    log
        The log, with every action in every context, and skips or a known reward of skipping.
    policy
        A `Policy`, the name of a recipe, or an object with `decide` and `learn`.
    budget
        The budget of all arrivals of the log together, or of ``horizon`` rounds.
    horizon
        A number of rounds that the log is too short for: means fitted on one half of the log then
        serve as the world of a simulation, and the residuals of the other half correct its value.
        None replays by rejection.
    runs
        Replays, or simulations of each half, over which the value is averaged.
    seed
        Everything random follows from it.

    Examples
    --------
    >>> log = Log.read({
    ...     "context": ["new", "new", "old", "old"] * 500,
    ...     "action": ["coupon", "", "coupon", ""] * 500,
    ...     "reward": [1, 0, 1, 1] * 500}, design="uniform")
    >>> result = replay(log, "thrifty", budget=600)
    >>> result.horizon, round(result.budget, 1), bool(result.spend <= result.budget)
    (932, 279.6, True)
    """
    from almoner.logs.model_residuals import simulate_model
    from almoner.logs.rejection import replay_by_rejection

    checks.kind("log", log, Log, "read one with al.Log.read")
    made = recipe(policy) if isinstance(policy, str) else policy
    if not isinstance(made, Policy):
        check_methods(made)
    budget = checks.number("budget", budget, low=0.0)
    runs, seed = checks.whole("runs", runs), checks.whole("seed", seed, low=0)
    refuse_unknown_skips(log)
    if horizon is None:
        return replay_by_rejection(log, made, policy, budget=budget, runs=runs, seed=seed)
    rounds = checks.whole("horizon", horizon)
    return simulate_model(log, made, policy, budget=budget, horizon=rounds, runs=runs, seed=seed)
