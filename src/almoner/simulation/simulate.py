"""Monte-Carlo simulation: of a problem, of an environment of one's own, or on rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol, overload

from almoner import checks
from almoner.errors import InvalidInput, OracleOutOfReach
from almoner.policy.base import Policy
from almoner.problem import FROM_FILE, Problem
from almoner.simulation.own_environment import PlainEnvironment, check_environment
from almoner.simulation.python_policy import PlainPolicy
from almoner.simulation.regret import Against, Benchmark, Estimator
from almoner.simulation.rows.row_runs import RowRuns, RowTrace
from almoner.simulation.rows.rows import Rows
from almoner.simulation.rows.setting import Order
from almoner.simulation.rows.simulate_rows import simulate_rows, trace_rows
from almoner.simulation.runs import Runs, Trace
from almoner.simulation.simulate_problem import check_applies, simulate_against, trace_problem

__all__ = ["Recorded", "simulate", "trace"]


class Recorded(Protocol):
    """Protocol of recorded decisions, such as a `Log`, that a problem can be estimated from."""

    def as_problem(self, *, budget: float) -> Problem:
        """Return the problem of these arrivals with a budget."""


@overload
def simulate(
    problem: Problem | Recorded,
    policy: Policy | PlainPolicy | str,
    *,
    budget: float | None = ...,
    runs: int = ...,
    seed: int = ...,
    against: str = ...,
    estimator: str = ...,
    marks: Sequence[int] = ...,
    threads: int | None = ...,
    progress: Callable[[int], object] | None = ...,
) -> Runs: ...
@overload
def simulate(
    problem: PlainEnvironment,
    policy: Policy | PlainPolicy | str,
    *,
    terms: Problem,
    runs: int = ...,
    seed: int = ...,
    against: str = ...,
    marks: Sequence[int] = ...,
    progress: Callable[[int], object] | None = ...,
) -> Runs: ...
@overload
def simulate(
    problem: Rows,
    policy: Policy | str,
    *,
    budget: float,
    runs: int = ...,
    seed: int = ...,
    against: str = ...,
    order: str = ...,
    default: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[int], object] | None = ...,
) -> RowRuns: ...
def simulate(
    problem: Problem | Rows | Recorded | PlainEnvironment,
    policy: Policy | PlainPolicy | str,
    *,
    terms: Problem | None = None,
    budget: float | None = None,
    runs: int | None = None,
    seed: int = 0,
    against: str | None = None,
    estimator: str | None = None,
    marks: Sequence[int] = (),
    order: str | None = None,
    default: str | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Runs | RowRuns:
    """Simulate independent replications of a policy and measure its regret.

    Parameters
    ----------
    problem
        The problem to simulate, or `Rows`, or a `Log`: then the problem that is fitted to it, or
        any object with ``contexts`` and ``reward`` (an environment in Python; see
        `PlainEnvironment`).
    policy
        A `Policy`, the name of a recipe, or, except on rows, any object with ``decide`` and
        ``learn`` (slow, same seeds; see `PlainPolicy`).
    terms
        On an environment in Python: the problem that the policy is told of, with horizon, budget
        and costs, and the statistics for policies that know them. Regret is against its benchmark;
        an environment that changes makes that a reference, and no optimum.
    budget
        The budget, on rows and on a log; a problem has its own.
    runs
        Number of independent replications: 1,000 if left out, on rows and in Python 20. On rows
        they are shuffles of them.
    seed
        Determines all random draws.
    against
        The benchmark of regret: the exact ``"oracle"``, or the ``"upper bound"`` T·v(B/T); on rows
        the optimum in ``"hindsight"``. Left out, it is the oracle, or the upper bound with a
        warning where the oracle cannot be computed.
    estimator
        On a problem: ``"reduced"`` sums the loss of each action at the price of the budget. It has
        the same mean as ``"raw"``, the benchmark minus the rewards as drawn, and less noise: its
        standard error is smaller by a factor of 2 to 6 on the paper's problems.
    marks
        On a problem: rounds (1 is the first) before which to note the budget left.
    order
        On rows: ``"shuffle"``, or their own order in the ``"file"``.
    default
        On rows: an action in place of skipping. Every arrival gets at least this one while it can
        be paid: its expected cost for the arrivals to come is set aside first.
    threads
        Number of threads that replications run on; one per core if left out.
    progress
        Called with the number of replications finished, each time some are.

    Returns
    -------
    `Runs`, or on rows `RowRuns`.

    Warns
    -----
    OracleOutOfReach
        The exact optimum takes too long, so that regret is against the upper bound.
    UntriedPairs
        A policy that explores first has left a pair untried in some of the runs.

    Examples
    --------
    >>> from almoner import ucb_alp
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.2, 0.8], [0.1, 0.4]],
    ...     horizon=1000, budget=400)
    >>> result = simulate(problem, ucb_alp(), runs=100, seed=7)
    >>> float(result.spend.max())
    400.0
    """
    if isinstance(problem, Rows):
        _refuse_given("rows", estimator=estimator, marks=tuple(marks) or None, terms=terms)
        checks.choice("against", "hindsight" if against is None else against, ["hindsight"])
        return simulate_rows(
            problem,
            policy,  # type: ignore[arg-type]  # checked there
            budget=_needed_budget(budget),
            runs=20 if runs is None else runs,
            seed=seed,
            order=Order.SHUFFLE if order is None else order,
            default=default,
            threads=threads,
            progress=progress,
        )
    problem, world = _world(problem, terms, budget)
    _refuse_given("a problem", order=order, default=default)
    if world is not None:
        _refuse_given("an environment in Python", estimator=estimator, threads=threads)
    check_applies(problem, policy)
    return simulate_against(
        _benchmark(problem, against),
        policy,
        world=world,
        runs=(1000 if world is None else 20) if runs is None else runs,
        seed=seed,
        estimator=Estimator.REDUCED if estimator is None else estimator,
        marks=marks,
        threads=threads,
        progress=progress,
    )


@overload
def trace(
    problem: Problem | Recorded,
    policy: Policy | PlainPolicy | str,
    *,
    budget: float | None = ...,
    seed: int = ...,
    run: int = ...,
) -> Trace: ...
@overload
def trace(
    problem: PlainEnvironment,
    policy: Policy | PlainPolicy | str,
    *,
    terms: Problem,
    seed: int = ...,
    run: int = ...,
) -> Trace: ...
@overload
def trace(
    problem: Rows,
    policy: Policy | str,
    *,
    budget: float,
    seed: int = ...,
    run: int = ...,
    order: str = ...,
    default: str | None = ...,
) -> RowTrace: ...
def trace(
    problem: Problem | Rows | Recorded | PlainEnvironment,
    policy: Policy | PlainPolicy | str,
    *,
    terms: Problem | None = None,
    budget: float | None = None,
    seed: int = 0,
    run: int = 0,
    order: str | None = None,
    default: str | None = None,
) -> Trace | RowTrace:
    """Repeat one replication of `simulate` and return every round of it.

    ``terms`` is that of `simulate` on an environment, ``budget`` that on rows and on a log;
    ``order`` and ``default`` are those on rows.

    Examples
    --------
    >>> from almoner import alp
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=5, budget=5)
    >>> trace(problem, alp(), seed=1).actions.tolist()
    [0, 0, 0, 0, 0]
    """
    if isinstance(problem, Rows):
        return trace_rows(
            problem,
            policy,  # type: ignore[arg-type]  # checked there
            budget=_needed_budget(budget),
            seed=seed,
            run=run,
            order=Order.SHUFFLE if order is None else order,
            default=default,
        )
    problem, world = _world(problem, terms, budget)
    _refuse_given("a problem", order=order, default=default)
    return trace_problem(problem, policy, world=world, seed=seed, run=run)


def _world(
    problem: Any, terms: Problem | None, budget: float | None
) -> tuple[Problem, PlainEnvironment | None]:
    """Return the problem, or the terms and the environment in Python."""
    if callable(getattr(problem, "as_problem", None)):
        _refuse_given("a log", terms=terms)
        fitted: Problem = problem.as_problem(budget=_needed_budget(budget, "logs have"))
        return fitted, None
    _refuse_given("a problem", budget=budget)
    own = any(callable(getattr(problem, method, None)) for method in ("contexts", "reward"))
    if isinstance(problem, Problem) or not own:
        _refuse_given("a problem", terms=terms)
        return checks.kind("problem", problem, Problem, FROM_FILE), None
    world = check_environment(problem)
    if terms is None:
        raise InvalidInput(
            "an environment has no horizon, budget and costs of its own; give terms=Problem(…)"
        )
    return checks.kind("terms", terms, Problem, FROM_FILE), world


def _benchmark(problem: Problem, against: str | None) -> Benchmark:
    """Return the benchmark asked for, or the oracle's, or the upper bound's with a warning."""
    if against is not None:
        return Benchmark(problem, Against(checks.choice("against", against, Against)))
    benchmark = Benchmark.of(problem)
    if benchmark.against == Against.UPPER_BOUND:
        warnings.warn(
            "the exact optimum of this problem takes too long to compute, so that regret is "
            'against the upper bound; give against="upper bound" to choose that',
            OracleOutOfReach,
            stacklevel=3,
        )
    return benchmark


def _needed_budget(budget: float | None, source: str = "rows have") -> float:
    if budget is None:
        raise InvalidInput(f"{source} no budget of their own; give budget=…")
    return budget


def _refuse_given(world: str, **options: object) -> None:
    """Refuse options that the other kind of world takes."""
    for name, value in options.items():
        if value is not None:
            raise checks.refuse(name, f"be left out on {world}", value)
