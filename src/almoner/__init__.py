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

import lazy_loader

__version__ = "0.1.0"

# Modules are imported when one of their names is first used, so that `import almoner` and
# `almoner --help` wait for neither numpy nor numba.
_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
