"""Steps of a run on rows: probabilities, money left, and the same state by the log alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.plain_kernels import plain

import almoner as al
from almoner.kernels.draws import POLICY, round_key, stream_key
from almoner.kernels.rows.state import LEFT, ROUND, Row, RowState, new_row_state
from almoner.kernels.rows.steps import SKIP, decide_row, learn_bill, learn_row, take_row
from almoner.policy.row_lowering import LoweredRows, lower_rows

ALL, NONE = np.ones(3, np.bool_), np.zeros(0)


@pytest.fixture(autouse=True)
def silent_overflow() -> Any:
    """Let the random draws wrap around, as they do when compiled."""
    with np.errstate(over="ignore"):
        yield


def key_of(t: int, run: int = 0) -> np.uint64:
    return np.uint64(plain(round_key)(plain(stream_key)(np.uint64(5), run, POLICY), t))


def setting(policy: al.Policy, **terms: Any) -> tuple[LoweredRows, RowState]:
    lowered = lower_rows(policy, horizon=200, budget=3000, features=1, **terms)
    return lowered, new_row_state(lowered, actions=3, features=1)


def random_row(rng: np.random.Generator) -> Row:
    scores = rng.random(3) * np.array([0.5, 0.8, 1.0])
    return Row(np.array([*scores, 0.0, rng.normal()]), rng.integers(5, 60, 3))


def play(lowered: LoweredRows, state: RowState, rounds: int, *, times: int = 1) -> None:
    """Play rounds whose actions and outcomes are given, and decide each so many times."""
    rng = np.random.default_rng(8)
    for t in range(rounds):
        row = random_row(rng)
        for _ in range(times):
            plain(decide_row)(lowered, state, row, ALL, key_of(t), NONE)
        plain(take_row)(lowered, state, row, int(row.costs[t % 3]), key_of(t))
        plain(learn_row)(lowered, state, row, t % 3, float(rng.random()))
        plain(learn_bill)(lowered, state, row, t % 3, float(row.costs[t % 3] + 2))


@pytest.mark.parametrize("policy", [al.priced(), al.linear(), al.priced(trust=4)], ids=repr)
def test_the_probability_is_that_of_the_spread_and_of_the_frequency(policy: al.Policy) -> None:
    """Over 600 keys, within 5 standard deviations; a row at the price has two options."""
    lowered, state = setting(policy)
    play(lowered, state, 60)
    rng = np.random.default_rng(2)
    for _ in range(5):
        row, spread = random_row(rng), np.zeros(3)
        plain(decide_row)(lowered, state, row, ALL, key_of(60), spread)
        assert 0 <= spread.min() <= spread.sum() <= 1 + 1e-12
        counts = np.zeros(4)
        for run in range(600):
            action, probability = plain(decide_row)(lowered, state, row, ALL, key_of(60, run), NONE)
            counts[action] += 1
            expected = 1 - spread.sum() if action == SKIP else spread[action]
            assert probability == pytest.approx(expected)
        shares = np.append(spread, 1 - spread.sum())
        error = 5 * np.sqrt(shares * (1 - shares) / 600) + 1e-12
        assert (np.abs(counts / 600 - shares) <= error).all()


def test_equal_rows_are_divided_at_the_rate_of_the_lp() -> None:
    """A budget of 15 a round and rows of cost 50: three in ten."""
    lowered, state = setting(al.priced())
    row, spread = Row(np.array([0.5, -1.0, -1.0, 0.0, 0.0]), np.array([50, 50, 50])), np.zeros(3)
    plain(decide_row)(lowered, state, row, ALL, key_of(0), spread)
    assert spread.tolist() == pytest.approx([0.3, 0.0, 0.0])


def test_actions_that_do_not_fit_are_not_taken() -> None:
    lowered, state = setting(al.greedy_scores())
    row = Row(np.array([0.1, 0.5, 0.9, 0.0, 0.0]), np.array([5, 10, 20]))
    for fits, expected in (([1, 1, 1], 2), ([1, 1, 0], 1), ([1, 0, 0], 0), ([0, 0, 0], SKIP)):
        chosen = plain(decide_row)(lowered, state, row, np.array(fits, np.bool_), key_of(0), NONE)
        assert chosen == (expected, 1.0)


def test_after_the_horizon_everybody_is_skipped() -> None:
    lowered, state = setting(al.priced())
    state.progress[ROUND] = 200
    row = random_row(np.random.default_rng(1))
    assert plain(decide_row)(lowered, state, row, ALL, key_of(200), NONE) == (SKIP, 1.0)


@pytest.mark.parametrize("policy", [al.priced(), al.linear(), al.priced(trust=4)], ids=repr)
def test_deciding_again_changes_nothing(policy: al.Policy) -> None:
    """Prices, models and the market agree to the last bit: a live arrival may be weighed first."""
    lowered, decided = setting(policy)
    _, folded = setting(policy)
    play(lowered, decided, 80)
    play(lowered, folded, 80, times=2)
    assert decided.progress[LEFT] == folded.progress[LEFT]
    assert np.array_equal(decided.figures, folded.figures)
    assert np.array_equal(decided.values, folded.values)
    for name in ("covariances", "coefficients", "tallies", "visits"):
        first, second = (getattr(state.models, name) for state in (decided, folded))
        assert np.array_equal(first, second)
