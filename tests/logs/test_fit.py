"""Problems fitted to logs, and the ranking of columns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.logs import WORLD, columns_of, make_log

import almoner as al
from almoner.logs.shrinkage import heterogeneity, shrink


def test_a_problem_worked_by_hand() -> None:
    """Weights are 4 and 4/3: means of a are (4·1 + 4/3·0)/(16/3) = 3/4 and of skips 1/2."""
    log = al.Log.read(
        {
            "context": ["x"] * 4,
            "action": ["a", "a", "", ""],
            "reward": [8.0, 0.0, 4.0, 4.0],
            "probability": [0.25, 0.75, 0.75, 0.25],
            "cost": [2.0, 4.0, 0.0, 0.0],
        }
    )
    problem = log.fit(budget=6, horizon=30)
    assert problem.reward_means.tolist() == [[0.75]]  # 6 of 8
    assert problem.default_rewards.tolist() == [0.5]
    assert problem.costs.tolist() == [[2.5]]
    assert problem.ratio == 0.2
    assert problem.fit is not None
    assert problem.fit.reward_range == (0.0, 8.0)
    assert problem.fit.means.tolist() == [[4.0, 6.0]]
    # (4·2)² + (4/3·6)² = 128, and its root over 16/3 is the standard error.
    half = 1.959963984540054 * math.sqrt(128) / (16 / 3)
    assert problem.fit.lows[0, 1] == pytest.approx(6 - half)
    assert problem.fit.highs[0, 1] == pytest.approx(6 + half)


def test_means_of_yes_and_no_have_wilsons_interval() -> None:
    log = al.Log.read(
        {"action": ["a"] * 10 + [""] * 10, "reward": [1] * 3 + [0] * 17},
        context=[],
        design="uniform",
    )
    fit = log.fit(budget=5).fit
    assert fit is not None
    assert fit.lows[0, 1] == pytest.approx(0.1078, abs=5e-5)  # 3 of 10
    assert fit.highs[0, 1] == pytest.approx(0.6032, abs=5e-5)


def test_intervals_cover_the_means() -> None:
    """95 % of 300 logs × 9 pairs, within 3 standard errors."""
    truth = np.column_stack([WORLD.default_rewards, WORLD.reward_means])
    order = [WORLD.contexts.index(name) for name in ("high", "low", "middle")]
    covered = []
    for seed in range(300):
        fit = make_log(800, 5000 + seed).fit(budget=300).fit
        assert fit is not None
        covered.append(
            (fit.lows <= truth[order][:, [0, 2, 1]]) & (fit.highs >= truth[order][:, [0, 2, 1]])
        )
    share = float(np.mean(covered))
    assert abs(share - 0.95) < 3 * math.sqrt(0.95 * 0.05 / (300 * 9))


def test_a_fitted_problem_is_a_problem(tmp_path: Path) -> None:
    problem = make_log(2_000, 1).fit(budget=700)
    for ending in ("toml", "json"):
        problem.to_file(tmp_path / f"shop.{ending}")
        again = al.Problem.from_file(tmp_path / f"shop.{ending}")
        assert again == problem
        assert again.fit is not None
        assert problem.fit is not None
        assert again.fit.counts.tolist() == problem.fit.counts.tolist()
        assert again.fit.splits == problem.fit.splits
    assert problem.replace(budget=100).fit is problem.fit
    assert problem.scaled(100).fit is problem.fit
    assert problem.replace(costs=2.0).fit is None
    runs = al.simulate(problem, al.thrifty(), runs=3)
    assert runs.spend.max() <= problem.budget


def test_a_fitted_problem_is_the_prior_of_a_campaign() -> None:
    problem = make_log(2_000, 1).fit(budget=700)
    prior = problem.prior(memory=0.5)
    assert problem.fit is not None
    assert prior["weight"]["low"]["mail"] == 0.5 * problem.fit.counts[1, 2]
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=list(problem.contexts),
        actions={"mail": 1, "call": 2},
        horizon=100,
        budget=30,
        prior=prior,
    )
    assert agent.decide("high").context == "high"
    with pytest.raises(al.InvalidProblem, match="a prior needs the counts of a log"):
        WORLD.prior()


def test_pairs_without_rows_bring_no_more_than_skipping() -> None:
    columns = columns_of(4_000, 4, design=[[0.5, 0.5, 0.0], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
    problem = al.Log.read(columns).fit(budget=900)
    low = problem.contexts.index("low")
    call = problem.actions.index("call")
    assert problem.reward_means[low, call] == problem.default_rewards[low]
    assert problem.fit is not None
    assert math.isnan(problem.fit.means[low, call + 1])


def noisy_log(seed: int, rows: int = 20_000) -> al.Log:
    """Return a log whose column `kind` tells contexts apart, beside columns of noise."""
    columns = columns_of(rows, seed)
    draws = np.random.default_rng(900 + seed)
    columns["kind"] = columns.pop("context")
    columns["letter"] = draws.choice(list("abcd"), rows)
    columns["number"] = draws.normal(size=rows)
    columns["flag"] = draws.integers(0, 2, rows)
    return al.Log.read(columns, context=["letter", "number", "kind", "flag"])


@pytest.mark.parametrize("seed", range(8))
def test_noise_never_ranks_before_what_matters(seed: int) -> None:
    for budget in (2_000, 8_000):
        problem = noisy_log(seed).fit(budget=budget)
        assert problem.fit is not None
        splits = problem.fit.splits
        assert splits[0].columns == problem.fit.columns == ("kind",)
        assert splits[0].is_worth_it
        assert splits[0].share == 1.0
        assert not any(split.is_worth_it for split in splits[1:])
        assert len(splits) == 4  # no pair adds anything


def test_plans_that_differ_by_rounding_gain_nothing() -> None:
    """All contexts share an effect, so that a plan with contexts serves all of them alike."""
    draws = np.random.default_rng(14)
    rows = 20_000
    left, right = draws.integers(0, 3, rows), draws.integers(0, 2, rows)
    treated = draws.integers(0, 2, rows)
    reward = draws.random(rows) < 0.1 + 0.1 * left + 0.1 * right + 0.1 * treated
    log = al.Log.read(
        {
            "left": left,
            "right": right,
            "action": np.array(["", "a"])[treated],
            "reward": reward.astype(float),
        },
        context=["left", "right"],
        design="uniform",
    )
    fit = log.fit(budget=0.1 * rows).fit
    assert fit is not None
    assert [split.gain for split in fit.splits] == [0.0, 0.0]
    assert all(split.difference > 10 for split in fit.splits)
    assert not any(split.is_worth_it for split in fit.splits)


def test_of_equal_gains_the_columns_that_differ_most_come_first() -> None:
    """Rewards so rare that no difference exceeds chance by three standard errors."""
    draws = np.random.default_rng(0)
    rows = 4_000
    kind, treated = draws.integers(0, 2, (2, rows))
    columns: dict[str, object] = {f"noise {i}": draws.integers(0, 3, rows) for i in range(3)}
    columns |= {
        "kind": kind,
        "action": np.array(["", "a"])[treated],
        "reward": (draws.random(rows) < 0.01 + 0.01 * kind).astype(float),
    }
    log = al.Log.read(
        columns, context=[*(f"noise {i}" for i in range(3)), "kind"], design="uniform"
    )
    fit = log.fit(budget=400).fit
    assert fit is not None
    assert [split.gain for split in fit.splits] == [0.0] * 4
    assert fit.splits[0].columns == ("kind",)


def test_two_columns_that_matter_together_are_a_pair() -> None:
    draws = np.random.default_rng(3)
    rows = 20_000
    left, right = draws.integers(0, 2, (2, rows))
    treated = draws.integers(0, 2, rows)
    reward = draws.random(rows) < 0.2 + 0.1 * (left + right) + 0.3 * treated * left * right
    log = al.Log.read(
        {
            "left": left,
            "right": right,
            "noise": draws.integers(0, 3, rows),
            "action": np.array(["", "a"])[treated],
            "reward": reward.astype(float),
        },
        context=["noise", "left", "right"],
        design="uniform",
    )
    problem = log.fit(budget=5_000)
    assert problem.fit is not None
    assert problem.fit.columns == ("left", "right")
    assert problem.contexts[-1] == "left=1, right=1"
    assert log.fit(budget=5_000, context=["left"]).contexts == ("0", "1")


def test_too_many_contexts_give_way_to_the_best_columns() -> None:
    log = noisy_log(1, rows=6_000)
    assert log.split == ("kind",)
    assert len(log.by("letter", "number", "kind", "flag").contexts) > 60


def test_columns_of_noise_alone_make_no_contexts() -> None:
    columns = columns_of(5_000, 1)
    draws = np.random.default_rng(8)
    log = al.Log.read(
        {**columns, "a": draws.integers(0, 3, 5_000), "b": draws.integers(0, 3, 5_000)},
        context=["a", "b"],
    )
    assert log.fit(budget=2_000).contexts == ("everyone",)


def test_shrinkage_keeps_what_differs_and_drops_what_does_not() -> None:
    draws = np.random.default_rng(1)
    means = draws.normal(0.5, 0.01, (50, 1))
    assert shrink(means, np.full((50, 1), 0.02**2)).std() < 1e-12
    wide = draws.normal(0.5, 0.5, (50, 1))
    assert shrink(wide, np.full((50, 1), 1e-6)) == pytest.approx(wide, abs=1e-4)
    unseen = np.array([[0.2], [-np.inf], [0.4]])
    assert shrink(unseen, np.array([[1e-6], [np.inf], [1e-6]]))[1, 0] == -np.inf


def test_heterogeneity_of_chance_is_standard_normal() -> None:
    """Mean and deviation of 2,000 draws, within 4 standard errors (and the approximation)."""
    draws = np.random.default_rng(2)
    ones, light = np.ones((4, 3)), np.zeros((4, 3))
    found = [heterogeneity(draws.normal(size=(4, 3)), ones, light) for _ in range(2_000)]
    assert np.mean(found) == pytest.approx(0.0, abs=0.1)
    assert np.std(found) == pytest.approx(1.0, abs=0.07)
    assert heterogeneity(np.ones((1, 2)), np.ones((1, 2)), np.zeros((1, 2))) == 0.0


def test_heterogeneity_of_means_with_heavy_tails_is_no_larger() -> None:
    """Student's t with six degrees of freedom has the excess kurtosis 3."""
    draws = np.random.default_rng(2)
    variances, tails = np.full((20, 3), 1.5), np.full((20, 3), 3.0)
    found = [
        heterogeneity(draws.standard_t(6, size=(20, 3)), variances, tails) for _ in range(2_000)
    ]
    assert np.mean(found) == pytest.approx(0.0, abs=0.1)
    assert np.std(found) == pytest.approx(1.0, abs=0.1)


def test_means_without_rows_do_not_count_as_equal_ones() -> None:
    means, variances = np.array([[0.1], [0.9]]), np.full((2, 1), 0.01)
    more = (
        np.vstack([means, np.full((50, 1), 0.5)]),
        np.vstack([variances, np.full((50, 1), np.inf)]),
    )
    assert heterogeneity(*more, np.zeros((52, 1))) == heterogeneity(
        means, variances, np.zeros((2, 1))
    )


def test_noise_with_rare_large_rewards_is_no_difference() -> None:
    """Revenue: nine in a thousand buy, and a few large sums lie in labels of few rows."""
    named = set()
    for seed in range(8):
        draws = np.random.default_rng(seed)
        rows = 20_000
        bought = draws.random(rows) < 0.009
        log = al.Log.read(
            {
                "action": np.array(["", "a"])[draws.integers(0, 2, rows)],
                "revenue": np.where(bought, draws.lognormal(4.3, 0.9, rows), 0.0),
                "customer": [f"c{row}" for row in range(rows)],
                "town": [f"t{town}" for town in np.minimum(draws.zipf(1.6, rows), 60)],
            },
            context=["customer", "town"],
            design="uniform",
        )
        fit = log.fit(budget=5_000).fit
        assert fit is not None
        named |= {split.columns for split in fit.splits if split.difference >= 3}
    assert named == set()


def test_free_actions_are_refused() -> None:
    with pytest.raises(al.InvalidInput, match="a problem needs actions that cost more than 0"):
        al.Log.read({**columns_of(500, 1), "cost": 0.0 * columns_of(500, 1)["cost"]}).fit(budget=1)


def test_contexts_of_a_fit_are_names_of_columns() -> None:
    log = al.Log.read(columns_of(500, 1))
    assert log.fit(budget=100, context="context").contexts == log.contexts
    with pytest.raises(al.InvalidInput, match="context must be a list of texts, got context=5"):
        log.fit(budget=100, context=5)  # type: ignore[arg-type]
