"""The price: bounded passes over the steps, bisection where they are sorted, kept hulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import any_cost_problems

import almoner as al
from almoner.kernels import price as price_module
from almoner.kernels.draws import round_key
from almoner.kernels.price import ADJACENT, PASSES
from almoner.kernels.state import KEPT_LEAST, UNIT_PRICE, Hulls, new_hulls, new_memo, new_state
from almoner.kernels.steps import decide, take
from almoner.policy.lowering import LoweredPolicy, lower

KERNELS = ("nearness", "_search", "_fill", "_steepest")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Run the search in plain Python, and list the prices at which it passes over all steps."""
    tried: list[float] = []
    for name in KERNELS:
        monkeypatch.setattr(price_module, name, getattr(price_module, name).py_func)
    fill: Any = price_module._fill

    def counted(lowered: LoweredPolicy, hulls: Hulls, price: float) -> Any:
        tried.append(price)
        return fill(lowered, hulls, price)

    monkeypatch.setattr(price_module, "_fill", counted)
    return tried


def hulls_of(slopes: list[float], *, dearest: int = 1) -> tuple[LoweredPolicy, Hulls]:
    """Contexts of equal weight with one step each, of one unit."""
    costs = np.full((len(slopes), 1), 1.0)
    problem = al.Problem(
        context_probs=np.full(len(slopes), 1 / len(slopes)),
        reward_means=np.full(costs.shape, 0.5),
        costs=costs,
        horizon=10,
        budget=5,
    )
    lowered = lower(al.horizon_alp(), **problem.terms())._replace(priced=1, dearest=dearest)
    hulls = new_hulls(lowered)
    assert hulls is not None
    hulls.slopes[:, 0], hulls.spans[:], hulls.sizes[:] = slopes, 1, 1
    hulls.weights[:] = problem.context_probs
    return lowered, hulls


def search(lowered: LoweredPolicy, hulls: Hulls, room: float) -> tuple[float, float, float]:
    kernel: Any = price_module._search  # plain Python, by the fixture
    price, used, tied, _ = kernel(lowered, hulls, room, 1e-12)
    assert used <= room + 1e-12
    if used + tied < room - 1e-12:
        assert price <= hulls.slopes.min()
    return price, used, tied


SPACED = {
    "evenly": np.linspace(0.001, 1, 2000),
    "within 1e-9 of each other": 0.5 + np.linspace(0, 1e-9, 2000),
    "over many magnitudes": np.geomspace(1e-9, 1, 2000),
    "in two clusters": np.concatenate(
        [np.linspace(0.2, 0.2001, 1000), np.linspace(0.8, 0.9, 1000)]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.0, 1e-12, 0.5, 7.0])
@pytest.mark.parametrize("spacing", SPACED)
def test_the_search_halves_instead_of_walking(
    passes: list[float], spacing: str, start: float
) -> None:
    """2,000 slopes: some 11 halvings where they are spread evenly, and never one pass per slope."""
    for room in (0.0013, 0.3001, 0.9999):
        lowered, hulls = hulls_of(SPACED[spacing].tolist())
        hulls.price[0] = start
        passes.clear()
        price, used, tied = search(lowered, hulls, room)
        assert len(passes) <= ADJACENT + 45
        assert used < room <= used + tied + 1e-12
        assert np.abs(SPACED[spacing] - price).min() <= 1e-12


@given(
    slopes=st.lists(st.floats(1e-30, 1e5), min_size=1, max_size=40),
    room=st.floats(0, 1.2),
    start=st.floats(0, 1e6),
    dearest=st.sampled_from([1, 1000, 2**52]),
)
def test_no_slopes_take_more_passes_than_the_bound(
    slopes: list[float], room: float, start: float, dearest: int
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        tried = passes.__wrapped__(monkeypatch)  # type: ignore[attr-defined]
        lowered, hulls = hulls_of(slopes, dearest=dearest)
        hulls.price[0] = start
        search(lowered, hulls, room)
        assert len(tried) < PASSES


def unsorted(hulls: Hulls) -> Hulls:
    """The same hulls without the sorted steps: worked out anew and searched in every round."""
    return hulls._replace(ranked=np.empty(0), filled=np.zeros(1), kept=hulls.kept.copy())


@given(
    problem=any_cost_problems(),
    name=st.sampled_from(["alp", "flp", "rounded"]),
    seed=st.integers(0, 2**32),
    masked=st.booleans(),
)
@pytest.mark.slow
def test_sorted_steps_and_kept_hulls_decide_like_a_search_in_every_round(
    problem: al.Problem, name: str, seed: int, masked: bool
) -> None:
    """To the end of the budget, with requests that allow only some actions in between."""
    lowered = lower(al.recipe(name), **problem.terms())._replace(priced=1)
    kept = new_hulls(lowered)
    assert kept is not None
    fresh = new_hulls(lowered)
    assert fresh is not None
    state, rng = new_state(lowered), np.random.default_rng(seed)
    memo, searched = new_memo(lowered, state), unsorted(fresh)
    for t in range(lowered.horizon):
        context = int(rng.choice(len(problem.context_probs), p=problem.context_probs))
        key = np.uint64(round_key(np.uint64(seed), t))
        allowed: Any = rng.random(lowered.costs.shape[1]) < 0.7 if masked and t % 3 else None
        chosen = decide(lowered, state, memo, kept, context, key, allowed)
        expected = decide(lowered, state, memo, searched, context, key, allowed)
        assert chosen[0] == expected[0]
        assert chosen[1] == pytest.approx(expected[1], abs=1e-9)
        if allowed is None:
            assert kept.price[UNIT_PRICE] == pytest.approx(searched.price[UNIT_PRICE], abs=1e-9)
        take(lowered, state, memo, kept, context, chosen[0])


UNEQUAL = al.Problem(
    context_probs=[0.3, 0.3, 0.4],
    reward_means=[[0.3, 0.9], [0.2, 0.5], [0.4, 0.6]],
    costs=[[1, 2], [1, 3], [2, 4]],
    horizon=40,
    budget=30,
)


@pytest.mark.parametrize("name", ["alp", "flp", "rounded"])
def test_with_known_statistics_only_two_hulls_are_worked_out_in_a_round(name: str) -> None:
    lowered = lower(al.recipe(name), **UNEQUAL.terms())
    state, hulls = new_state(lowered), new_hulls(lowered)
    assert hulls is not None
    memo, key = new_memo(lowered, state), np.uint64(7)
    decide(lowered, state, memo, hulls, 0, key)
    assert hulls.kept[KEPT_LEAST] == lowered.dearest
    hulls.gains[2] = 123.0  # would be overwritten
    take(lowered, state, memo, hulls, 0, 0)
    decide(lowered, state, memo, hulls, 1, key)
    assert hulls.gains[2].tolist() == [123.0, 123.0]


@pytest.mark.parametrize("name", ["ealp", "ucb_alp", "thrifty", "thompson_rounded"])
def test_a_policy_that_learns_works_out_every_hull(name: str) -> None:
    lowered = lower(al.recipe(name), **UNEQUAL.terms())
    hulls = new_hulls(lowered)
    assert hulls is not None
    assert len(hulls.ranked) == 0


@pytest.mark.parametrize(("budget", "price"), [(4, 0.4), (6, 0.4), (10, 0.0), (3, 0.8)])
def test_the_reported_price_is_what_one_more_unit_is_worth(budget: int, price: float) -> None:
    """Boundaries at 4 of 10 and at 10: the slope to the right of them, from any start."""
    problem = al.Problem(
        context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10, budget=budget
    )
    lowered = lower(al.alp(), **problem.terms())._replace(priced=1)
    state = new_state(lowered)
    for start in (0.0, 0.5, 9.0):
        sorted_once, fresh = new_hulls(lowered), new_hulls(lowered)
        assert sorted_once is not None
        assert fresh is not None
        for hulls in (sorted_once, unsorted(fresh)):
            hulls.price[0] = start
            decide(lowered, state, new_memo(lowered, state), hulls, 0, np.uint64(1))
            assert hulls.price[UNIT_PRICE] == pytest.approx(price)
