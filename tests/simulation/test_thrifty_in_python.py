"""A second program of `thrifty` for equal costs, written from its formulas: the same actions.

It keeps no memo, computes every index in every round, and imports nothing of `almoner.kernels`.
Letters: m and n are the mean and the count of a prior, v its variance; t is the round, τ the rounds
left, b the budget left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from support.problems import PAPER_TEN, PAPER_TWO, unit_problems

import almoner as al

TIE = 1e-12

UNIFORM = math.pi**2 / 3
"""Variance of the log-odds of a uniform mean."""


def explore(x: Any) -> Any:
    return np.log(1 + x / (5 + 1.5 * np.log(1 + x)))


def score_bound(p: Any, d: Any) -> Any:
    return (p + d + np.sqrt(d**2 + 2 * d * p * (1 - p))) / (1 + 2 * d)


def kl(p: float, q: float) -> float:
    return float(special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q))


def largest_mean(p: float, level: float) -> float:
    """Return the largest q with kl(p, q) ≤ level, by bisection."""
    low, high = p, 1.0
    for _ in range(60):
        q = (low + high) / 2
        low, high = (q, high) if kl(p, q) <= level else (low, q)
    return low


class Pool:
    """Log-odds of the mean of a pair, μ + α_j + β_k + ε_jk, fitted by `refit`."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.mu, self.alpha, self.beta = 0.0, np.zeros((shape[0], 1)), np.zeros((1, shape[1]))
        self.alpha_variance = self.beta_variance = 1.0
        self.residual, self.borrows = 0.15, False
        self.m, self.n, self.shares = np.full(shape, 0.5), np.zeros(shape), np.zeros(shape)

    def refit(self, counts: Any, sums: Any, proof: float) -> None:
        for _ in range(2):
            self.sweep(*self.linearise(counts, sums))
        self.predict(*self.linearise(counts, sums), counts, sums)
        self.borrows = self.record(counts, sums) >= proof
        if not self.borrows:
            self.n, self.shares = np.zeros(self.n.shape), np.zeros(self.n.shape)

    def record(self, counts: Any, sums: Any) -> float:
        """Return the log-likelihood of all rewards by the predictions, less by uniform means."""
        wins, losses = self.m * self.n, (1 - self.m) * self.n
        predicted = special.betaln(wins + sums, losses + counts - sums)
        predicted = predicted - special.betaln(wins, losses)
        uniform = special.betaln(1 + sums, 1 + counts - sums)
        return float(np.where(counts > 0, predicted - uniform, 0.0).sum())

    def linearise(self, counts: Any, sums: Any) -> tuple[Any, Any]:
        """Return the working log-odds z and their precisions w, 0 without rewards."""
        seen, c = counts > 0, np.maximum(counts, 1)
        m = special.expit(np.clip(self.mu + self.alpha + self.beta, -9, 9))
        prior = 1 / (self.residual * m * (1 - m))
        p = (sums + prior * m) / (c + prior)
        q = p * (1 - p)
        z = special.logit(p) + (sums / c - p) / q
        return np.where(seen, z, 0.0), np.where(seen, 1 / (1 / (c * q) + self.residual), 0.0)

    def sweep(self, z: Any, w: Any) -> None:
        rest = z - self.mu - self.alpha - self.beta
        pull = (w * rest).sum() - self.mu / UNIFORM
        self.mu += np.clip(pull / (1 / UNIFORM + w.sum()), -1, 1)
        rows, seen = w.sum(1, keepdims=True), w.sum(1, keepdims=True) > 0
        precision = rows + 1 / self.alpha_variance
        best = (w * (z - self.mu - self.beta)).sum(1, keepdims=True) / precision
        self.alpha += np.where(seen, np.clip(best - self.alpha, -1, 1), 0.0)
        squares = (self.alpha**2 + 1 / precision)[seen]
        self.alpha_variance = (2.0 + squares.sum()) / (2 + len(squares))
        precision = w.sum(0, keepdims=True) + 1 / self.beta_variance
        best = (w * (z - self.mu - self.alpha)).sum(0, keepdims=True) / precision
        self.beta += np.clip(best - self.beta, -1, 1)
        squares = self.beta**2 + 1 / precision
        self.beta_variance = (2.0 + squares.sum()) / (2 + squares.size)

    def predict(self, z: Any, w: Any, counts: Any, sums: Any) -> None:
        """Predict every pair by the others, and update the variance of ε."""
        above = w * (z - self.mu - self.beta)
        beside = w * (z - self.mu - self.alpha)
        of_context = 1 / (1 / self.alpha_variance + w.sum(1, keepdims=True) - w)
        of_action = 1 / (1 / self.beta_variance + w.sum(0, keepdims=True) - w)
        v = self.residual + of_context + of_action + 1 / (1 / UNIFORM + w.sum())
        effect = of_context * (above.sum(1, keepdims=True) - above)
        effect = effect + of_action * (beside.sum(0, keepdims=True) - beside)
        m = special.expit(np.clip(self.mu + effect, -9, 9))
        q = m * (1 - m)
        pairs = np.count_nonzero(w.sum(1)) * w.shape[1]
        self.m, self.n, self.shares = m, pairs / (pairs + 20) / (v * q), of_action / v
        seen = counts > 0
        c, s, m, q, v = counts[seen], sums[seen], m[seen], q[seen], v[seen]
        prior, psi = 1 / (v * q), special.digamma
        slope = psi(prior) - psi(prior + c) + m * (psi(m * prior + s) - psi(m * prior))
        slope += (1 - m) * (psi((1 - m) * prior + c - s) - psi((1 - m) * prior))
        score = -slope / (v**2 * q)
        expected = (1 - 1 / c) / ((1 + v * q) * (1 / (c * q) + v))
        gradient = 0.15 / self.residual**2 + (expected + 2 * score).sum()
        factor = gradient / (1 / self.residual + expected.sum())
        self.residual = min(UNIFORM, self.residual * min(2.0, max(0.5, factor)))


class Thrifty:
    """Pooled Wilson bounds, insured, eagerly rounded."""

    def __init__(self, problem: al.Problem, caution: float = 1.0) -> None:
        shape = problem.reward_means.shape
        self.horizon, self.caution = problem.horizon, caution
        self.counts, self.sums, self.arrivals = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        self.pool, self.levels = Pool(shape), np.zeros(shape[1])
        self.rewards, self.refit_at = 0, 0.0
        self.stake = self.evidence = 0.0

    def means(self) -> tuple[Any, Any]:
        """Return means and counts of all pairs, with their priors; 1 and 0 if nothing is known."""
        counts = self.counts + self.pool.n
        totals = self.sums + self.pool.n * self.pool.m
        return np.where(counts > 0, totals / np.maximum(counts, 1e-300), 1.0), counts

    def plays(self, rounds_left: float, left: float, t: int) -> Any:
        return np.maximum(1, np.minimum(self.arrivals / t * rounds_left, left))

    def bounds(self, plays: Any, share: float) -> Any:
        means, counts = self.means()
        if not counts.any():
            return np.ones(counts.shape)
        seen, c = counts > 0, np.where(counts > 0, counts, 1.0)
        own, common = explore(plays[:, None] / c), self.pool.shares
        g = (1 - common) * own + common * self.levels
        bounds = np.where(means >= 1, 1 + 1e-9 * counts, score_bound(means, share * g / c))
        return np.where(seen, bounds, 1.0)

    def own_row(self, context: int, plays: Any) -> list[float]:
        share = 1.0 if self.pool.borrows else 0.8
        row: list[float] = self.bounds(plays, share)[context].tolist()
        margin = self.stake / plays[context]
        if self.evidence <= 0 or margin >= 1:
            return row
        for action, bound in enumerate(row):
            count, largest = self.counts[context, action], 1.0
            if count > 0:
                mean = self.sums[context, action] / count
                largest = 1 + 1e-9 * count
                if mean < 1:
                    asked = min(self.evidence, self.caution * (3.6 + 1.4 * math.log(1 + count)))
                    largest = largest_mean(mean, asked / count)
            row[action] = max(bound, largest - margin)
        return row

    def decide(self, arrival: al.Arrival) -> int:
        present, t, left = arrival.context, arrival.round, arrival.budget_left
        self.arrivals[present] += 1
        if left < 1:
            return al.SKIP
        plays = self.plays(arrival.rounds_left, left, t)
        row = self.own_row(present, plays)
        value = max(row)
        values = self.bounds(plays, 0.8).max(axis=1)
        others = (self.arrivals > 0) & (np.arange(len(values)) != present)
        ahead = self.arrivals[others & (values > value + TIE)].sum()
        room = left / arrival.rounds_left * t - ahead
        means = self.means()[0][present]
        floor = max(means[self.counts[present] > 0], default=0.0)
        if (
            left >= arrival.rounds_left
            or ahead == 0
            or room >= self.arrivals[present] / 2
            or (room > TIE * t and np.any(others & (values > floor) & (values < value - TIE)))
        ):
            tied = [action for action, index in enumerate(row) if index >= value - TIE]
            return tied[int(arrival.uniform(1) * len(tied))]
        return al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.counts[arrival.context, action] += 1
        self.sums[arrival.context, action] += reward
        self.rewards += 1
        if self.rewards >= self.refit_at:
            self.refit_at = 1.08 * self.rewards + 1
            t, left = arrival.round, arrival.budget_left - 1
            in_all = self.rewards + min(self.horizon - t, left)
            pairs = int(np.count_nonzero(self.arrivals)) * len(self.levels)
            judged = self.rewards >= max(15, pairs) and in_all >= 20 * pairs
            self.pool.refit(self.counts, self.sums, 4.0 if judged else -math.inf)
            plays = self.plays(self.horizon - t + 1, left, t)[self.arrivals > 0].sum()
            self.levels = explore(plays / (1 + self.counts.sum(axis=0)))
            self.insure(t, left)

    def insure(self, t: int, left: float) -> None:
        """Set the loss that is insured, and the evidence that its premium buys."""
        means, counts = self.means()
        means, shares = (means * counts + 0.5) / (counts + 1), self.arrivals / t
        best, ratio = means.max(axis=1), left / max(1, self.horizon - t)
        low, high = 0.0, 1.0
        if shares.sum() <= ratio:
            high = 0.0
        for _ in range(30 if high else 0):
            price = (low + high) / 2
            low, high = (price, high) if shares[best > price].sum() > ratio else (low, price)
        surplus = np.maximum(0, best - high)
        reward = max(0.5, self.horizon * (high * ratio + (shares * surplus).sum()))
        self.stake = max(0.15 * reward, 4 * math.sqrt(reward))
        margins = self.stake / self.plays(self.horizon - t, left, t)
        cost = 1e-9
        for context, action in np.ndindex(means.shape):
            mean, goal = means[context, action], surplus[context] + high
            rival = goal + margins[context]
            if shares[context] > 0 and mean < goal and rival < 0.999:
                cost += (goal - mean) / kl(mean, rival)
        self.evidence = self.caution * min(8.5, 0.05 * reward / cost)


RARE = al.Problem(
    context_probs=[0.9, 0.04, 0.03, 0.03],
    reward_means=[[0.3], [0.35], [0.6], [0.2]],
    horizon=400,
    budget=60,
)


def assert_same_actions(problem: al.Problem, caution: float, seed: int) -> None:
    one = al.trace(problem, Thrifty(problem, caution), seed=seed)
    two = al.trace(problem, al.thrifty(caution=caution), seed=seed)
    np.testing.assert_array_equal(one.actions, two.actions)
    np.testing.assert_array_equal(one.rewards, two.rewards)
    np.testing.assert_array_equal(one.budget_left, two.budget_left)


@pytest.mark.slow
@pytest.mark.parametrize("caution", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(
    "problem",
    [PAPER_TWO(1000, 0.4), PAPER_TWO(300, 0.41), PAPER_TEN(800, 0.5), PAPER_TEN(300, 0.3), RARE],
    ids=["two", "two-short", "ten", "ten-short", "rare"],
)
def test_a_second_program_takes_the_same_actions(problem: al.Problem, caution: float) -> None:
    assert_same_actions(problem, caution, seed=int(caution))


@settings(max_examples=25)
@given(problem=unit_problems(), seed=st.integers(0, 999))
@pytest.mark.slow
def test_a_second_program_takes_the_same_actions_on_any_problem(
    problem: al.Problem, seed: int
) -> None:
    assert_same_actions(problem.scaled(3 * problem.horizon), 1.0, seed)
