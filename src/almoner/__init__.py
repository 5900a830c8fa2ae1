"""Spend a fixed budget well, one decision at a time, while learning.

A *problem* generates contexts and rewards. A *policy* is reward knowledge × context knowledge ×
allocation rule. A *run* folds `decide`, `take` and `learn` over a stream of arrivals.

>>> import almoner as al
>>> problem = al.Problem(
...     context_probs=[0.4, 0.6],
...     reward_means=[[0.2, 0.8], [0.1, 0.4]],
...     horizon=1000,
...     budget=400,
... )
>>> round(al.upper_bound(problem)), round(al.optimal_value(problem), 1)
(320, 317.5)
>>> runs = al.simulate(problem, al.thrifty(), runs=200, seed=7)
>>> bool(runs.spend.max() <= problem.budget)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from almoner.client import Client
    from almoner.errors import (
        AlmonerError,
        BrokenLedger,
        Conflict,
        DifferentTerms,
        InvalidInput,
        InvalidPolicy,
        InvalidProblem,
        InvalidTerms,
        NotComputable,
        NotFound,
        StoreError,
        UnknownCampaign,
        UnknownDecision,
        UntriedPairs,
    )
    from almoner.live.agent import Agent
    from almoner.live.async_agent import AsyncAgent
    from almoner.live.closing_time import ClosingTime
    from almoner.live.decision import Decision, Settlement
    from almoner.live.terms import Action
    from almoner.lp import Solution, solve
    from almoner.policy.allocation import (
        AdaptiveLP,
        EagerRounding,
        FixedLP,
        Procrastinate,
        RoundedLP,
        SkipAlways,
    )
    from almoner.policy.base import Policy
    from almoner.policy.contexts import (
        EmpiricalContexts,
        KnownContexts,
        NoContexts,
        TruncatedContexts,
    )
    from almoner.policy.recipes import (
        RECIPES,
        alp,
        ealp,
        ealp2,
        epsilon_first_alp,
        flp,
        greedy,
        horizon_alp,
        kl_ucb_rounded,
        log_plus_rounded,
        pb,
        recipe,
        rounded,
        skip_always,
        thompson_rounded,
        thrifty,
        ucb_alp,
        ucb_ealp,
        ucb_ealp2,
        ucb_flp,
        ucb_pb,
        ucb_rounded,
    )
    from almoner.policy.rewards import (
        KLUCB,
        UCB,
        EmpiricalMean,
        ExploreFirst,
        HorizonUCB,
        KnownRewards,
        LogPlus,
        Thompson,
        Wilson,
    )
    from almoner.problem import Problem
    from almoner.simulation.oracle import exact_value, optimal_value, upper_bound
    from almoner.simulation.python_policy import SKIP, Arrival, PlainPolicy
    from almoner.simulation.runs import Runs, Sample, Trace
    from almoner.simulation.simulate import simulate, trace

__version__ = "0.1.0"

_HOME = {
    "errors": (
        "AlmonerError BrokenLedger Conflict DifferentTerms InvalidInput InvalidPolicy "
        "InvalidProblem InvalidTerms NotComputable NotFound StoreError UnknownCampaign "
        "UnknownDecision UntriedPairs"
    ),
    "problem": "Problem",
    "policy.base": "Policy",
    "policy.rewards": (
        "EmpiricalMean ExploreFirst HorizonUCB KLUCB KnownRewards LogPlus Thompson UCB Wilson"
    ),
    "policy.contexts": "EmpiricalContexts KnownContexts NoContexts TruncatedContexts",
    "policy.allocation": "AdaptiveLP EagerRounding FixedLP Procrastinate RoundedLP SkipAlways",
    "policy.recipes": (
        "RECIPES alp ealp ealp2 epsilon_first_alp flp greedy horizon_alp kl_ucb_rounded "
        "log_plus_rounded pb recipe rounded skip_always thompson_rounded thrifty ucb_alp ucb_ealp "
        "ucb_ealp2 ucb_flp ucb_pb ucb_rounded"
    ),
    "lp": "Solution solve",
    "simulation.oracle": "exact_value optimal_value upper_bound",
    "simulation.simulate": "simulate trace",
    "simulation.runs": "Runs Sample Trace",
    "simulation.python_policy": "Arrival PlainPolicy SKIP",
    "live.agent": "Agent",
    "live.async_agent": "AsyncAgent",
    "client": "Client",
    "live.closing_time": "ClosingTime",
    "live.decision": "Decision Settlement",
    "live.terms": "Action",
}
"""Where each public name lives. Modules are imported when a name of theirs is first asked for, so
that ``import almoner`` and ``almoner --help`` wait for neither numpy nor numba."""

_MODULE_OF = {name: f"almoner.{home}" for home, names in _HOME.items() for name in names.split()}

__all__ = [
    "KLUCB",
    "RECIPES",
    "SKIP",
    "UCB",
    "Action",
    "AdaptiveLP",
    "Agent",
    "AlmonerError",
    "Arrival",
    "AsyncAgent",
    "BrokenLedger",
    "Client",
    "ClosingTime",
    "Conflict",
    "Decision",
    "DifferentTerms",
    "EagerRounding",
    "EmpiricalContexts",
    "EmpiricalMean",
    "ExploreFirst",
    "FixedLP",
    "HorizonUCB",
    "InvalidInput",
    "InvalidPolicy",
    "InvalidProblem",
    "InvalidTerms",
    "KnownContexts",
    "KnownRewards",
    "LogPlus",
    "NoContexts",
    "NotComputable",
    "NotFound",
    "PlainPolicy",
    "Policy",
    "Problem",
    "Procrastinate",
    "RoundedLP",
    "Runs",
    "Sample",
    "Settlement",
    "SkipAlways",
    "Solution",
    "StoreError",
    "Thompson",
    "Trace",
    "TruncatedContexts",
    "UnknownCampaign",
    "UnknownDecision",
    "UntriedPairs",
    "Wilson",
    "alp",
    "ealp",
    "ealp2",
    "epsilon_first_alp",
    "exact_value",
    "flp",
    "greedy",
    "horizon_alp",
    "kl_ucb_rounded",
    "log_plus_rounded",
    "optimal_value",
    "pb",
    "recipe",
    "rounded",
    "simulate",
    "skip_always",
    "solve",
    "thompson_rounded",
    "thrifty",
    "trace",
    "ucb_alp",
    "ucb_ealp",
    "ucb_ealp2",
    "ucb_flp",
    "ucb_pb",
    "ucb_rounded",
    "upper_bound",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'almoner' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
