"""Insurance: its price against the LP, a stake worked by hand, and the index that it insures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_kernels import plain
from support.problems import PAPER_TEN

import almoner as al
from almoner.kernels.indices import exploration_level, kl_bound, kl_divergence, score_bound
from almoner.kernels.insurance import _price, _set_means, insure
from almoner.kernels.pair_index import index_of, own_bracket_of, own_index_of
from almoner.kernels.pairs import pairs_of
from almoner.kernels.state import (
    EVIDENCE,
    LEFT,
    LEVEL,
    ROUND,
    SEEN_SHARE,
    STAKE,
    Memo,
    State,
    new_memo,
    new_state,
)
from almoner.kernels.steps import SKIP, decide, learn, take
from almoner.policy.lowering import LoweredPolicy, lower

NONE = np.uint64(0)
INSURED = al.Policy(
    rewards=al.InsuredWilson(), contexts=al.EmpiricalContexts(), allocation=al.EagerRounding()
)
"""Without a prior, so that every mean is that of a pair's own rewards."""

Kernels = tuple[LoweredPolicy, State, Memo]


def after(
    counts: Any,
    sums: Any,
    *,
    horizon: int,
    left: int,
    arrivals: Any,
    costs: Any = None,
    policy: al.Policy = INSURED,
    **terms: Any,
) -> Kernels:
    """Return the arguments of the kernels after these rewards and arrivals."""
    counts = np.asarray(counts, float)
    table = np.ones(counts.shape) if costs is None else np.asarray(costs, float)
    lowered = lower(policy, horizon=horizon, budget=float(horizon * 10), costs=table, **terms)
    state = new_state(lowered)
    state.counts[:], state.sums[:], state.context_counts[:] = counts, sums, arrivals
    state.progress[ROUND], state.progress[LEFT] = int(np.sum(arrivals)), left
    state.fit[SEEN_SHARE] = 1.0
    return lowered, state, new_memo(lowered, state)


def plug_in(kernels: Kernels, **terms: Any) -> al.Problem:
    """Return the problem of the rounds left, as estimated with half a reward more for each side."""
    lowered, state, _ = kernels
    remaining = int(lowered.horizon - state.progress[ROUND])
    return al.Problem(
        context_probs=state.context_counts / state.context_counts.sum(),
        reward_means=(state.sums + 0.5) / (state.counts + 1),
        costs=lowered.costs,
        horizon=remaining,
        budget=float(state.progress[LEFT]),
        **terms,
    )


@st.composite
def campaigns(draw: st.DrawFn, *, unequal: bool) -> Kernels:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    counts = rng.integers(0, 30, shape).astype(float)
    costs = rng.integers(1, 9, shape).astype(float) if unequal else None
    if costs is not None:
        costs.flat[0] = 1.0  # so that costs are whole units
    return after(
        counts,
        counts * rng.random(shape),
        horizon=1000,
        left=int(rng.integers(1, 1500)),
        arrivals=rng.integers(1, 60, shape[0]),
        costs=costs,
    )


@pytest.mark.parametrize("unequal", [False, True], ids=["equal costs", "unequal costs"])
def test_the_price_and_the_stake_are_those_of_the_plug_in_problem(unequal: bool) -> None:
    """The bisection stops at a thousand-millionth of the largest price, which is 1."""

    @given(kernels=campaigns(unequal=unequal))
    def check(kernels: Kernels) -> None:
        lowered, state, memo = kernels
        solution = al.solve(plug_in(kernels))
        plain(_set_means)(memo)
        price = plain(_price)(lowered, state, memo, solution.ratio)
        assert price == pytest.approx(solution.price, abs=2**-30)
        insure(lowered, state, memo, plain(pairs_of)(lowered, state, memo))
        reward = max(0.5, 1000 * solution.value)
        stake = max(0.15 * reward, 4 * math.sqrt(reward))
        assert state.fit[STAKE] == pytest.approx(stake, abs=0.01)
        assert 0.0 < state.fit[EVIDENCE] <= 7.5

    check()


@pytest.mark.parametrize("known", [True, False])
def test_the_price_counts_gains_over_skipping(known: bool) -> None:
    """Skipping brings .5 in the first context: known, or the mean of four rewards."""
    defaults = np.array([0.5, 0.0])
    kernels = after(
        [[9, 9], [9, 9]],
        [[7, 2], [5, 4]],
        horizon=1000,
        left=300,
        arrivals=[60, 40],
        default_rewards=defaults,
        defaults_known=known,
    )
    lowered, state, memo = kernels
    state.skip_counts[:], state.skip_sums[:] = [4, 0], [2, 0]
    solution = al.solve(plug_in(kernels, default_rewards=defaults))
    plain(_set_means)(memo)
    price = plain(_price)(lowered, state, memo, solution.ratio)
    assert price == pytest.approx(solution.price, abs=2**-30)
    assert price == pytest.approx(0.55, abs=2**-30)  # of the second context, which is not all paid


HAND: dict[str, Any] = {"horizon": 1000, "left": 800, "arrivals": [200]}


def test_stake_and_evidence_worked_by_hand() -> None:
    """One context, with money for every round: the price is 0 and the goal is the best mean.

    Nine rewards of sum 7 and one of ½ have the mean ¾; of sum 2, ¼. The campaign brings
    1000 · ¾ = 750, and 15 % of it, 112.5, is more than 4 · √750 = 109.5. The 800 plays left lose
    112.5 by a margin of .140625. Evidence of 1 against a mean of ¾ + .140625 takes
    1/kl(¼, .890625) plays at a loss of ½: 0.44391. For 19 such actions, 8 % of the reward, 60, buys
    60/8.4343 = 7.1138.
    """
    sums = [[7.0] + [2.0] * 19]
    lowered, state, memo = after(np.full((1, 20), 9.0), sums, **HAND)
    insure(lowered, state, memo, plain(pairs_of)(lowered, state, memo))
    kl = 0.25 * math.log(0.25 / 0.890625) + 0.75 * math.log(0.75 / 0.109375)
    assert kl_divergence(0.25, 0.890625) == pytest.approx(kl, rel=1e-14)
    assert state.fit[STAKE] == pytest.approx(112.5, rel=1e-12)
    assert state.fit[EVIDENCE] == pytest.approx(60 / (19 * 0.5 / kl), rel=1e-8)
    assert state.fit[EVIDENCE] == pytest.approx(7.1138, abs=1e-4)


@pytest.mark.parametrize("caution", [0.0, 0.5, 1.0, 4.0])
def test_evidence_is_proportional_to_caution_and_at_most_so_much_of_it(caution: float) -> None:
    """Two actions of which one is worse: the evidence costs .44, and 60 would buy more of it."""
    policy = al.Policy(
        rewards=al.InsuredWilson(caution=caution),
        contexts=al.EmpiricalContexts(),
        allocation=al.EagerRounding(),
    )
    lowered, state, memo = after([[9, 9]], [[7, 2]], **HAND, policy=policy)
    insure(lowered, state, memo, plain(pairs_of)(lowered, state, memo))
    assert state.fit[EVIDENCE] == pytest.approx(7.5 * caution, rel=1e-12)
    assert state.fit[STAKE] == pytest.approx(112.5, rel=1e-12)


def test_a_goal_beyond_every_mean_takes_no_evidence() -> None:
    """Of 20 rounds 16 are left: the stake, 4·√15 = 15.5, is .97 of a reward in each of them."""
    lowered, state, memo = after([[9, 9]], [[7, 2]], horizon=20, left=16, arrivals=[4])
    insure(lowered, state, memo, plain(pairs_of)(lowered, state, memo))
    assert state.fit[STAKE] == pytest.approx(4 * math.sqrt(15), rel=1e-12)
    assert state.fit[EVIDENCE] == 7.5


def test_without_caution_decisions_are_those_without_evidence() -> None:
    """And caution makes a difference on the same problem."""
    problem = PAPER_TEN(1500, 0.5)

    def actions(caution: float, *, erase: bool) -> list[int]:
        lowered = lower(al.thrifty(caution=caution), **problem.terms())
        state, rng = new_state(lowered), np.random.default_rng(3)
        memo, done = new_memo(lowered, state), []
        for t in range(lowered.horizon):
            context = int(rng.choice(len(problem.context_probs), p=problem.context_probs))
            luck, key = rng.random(), np.uint64(rng.integers(2**63))
            action, _ = decide(lowered, state, memo, None, context, key)
            take(lowered, state, memo, None, context, action)
            if action != SKIP:
                reward = float(luck < problem.reward_means[context, action])
                learn(lowered, state, memo, context, action, t, reward, key)
            if erase:
                state.fit[EVIDENCE] = 0.0
            done.append(action)
        return done

    without = actions(0.0, erase=False)
    assert without == actions(1.0, erase=True)
    assert without != actions(1.0, erase=False)


@st.composite
def pairs(draw: st.DrawFn) -> Kernels:
    """A campaign of one pair, with a pooled prior or without, at any stage."""
    count = draw(st.integers(0, 50) | st.just(2_000_000))
    mean = draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1))
    pooled = draw(st.booleans())
    kernels = after(
        [[count]],
        [[count * mean]],
        horizon=1000,
        left=500,
        arrivals=[100],
        policy=al.thrifty() if pooled else INSURED,
    )
    lowered, state, _ = kernels
    state.pending[:] = draw(st.integers(0, 20))
    state.fit[SEEN_SHARE] = draw(st.floats(0.01, 1))
    state.fit[STAKE], state.fit[EVIDENCE] = draw(st.floats(1, 500)), draw(st.floats(0, 65))
    if pooled:
        state.prior_means[:] = draw(st.floats(1e-4, 1 - 1e-4))
        state.prior_counts[:] = draw(st.floats(0.01, 1000))
        state.action_shares[:] = draw(st.floats(0.01, 0.99))
        state.action_fit[LEVEL] = draw(st.floats(0, 5))
    return lowered, state, new_memo(lowered, state)


def own(kernels: Kernels, level: float, *, renew: bool = True) -> float:
    if renew:
        kernels[2].insured[:] = math.nan
    return float(plain(own_index_of)(*kernels, 0, 0, level, NONE))


def uninsured(kernels: Kernels, level: float) -> float:
    lowered, state, memo = kernels
    plainly = state._replace(fit=state.fit.copy())
    plainly.fit[EVIDENCE] = 0.0
    return own((lowered, plainly, memo), level)


LEVELS = st.floats(1, 1000)


@given(kernels=pairs(), level=LEVELS)
def test_insurance_never_lowers_an_index(kernels: Kernels, level: float) -> None:
    """The index for other contexts is the lowest: it has 0.6 of the level, and no insurance."""
    to_others = float(plain(index_of)(*kernels, 0, 0, level, NONE))
    assert to_others <= uninsured(kernels, level) <= own(kernels, level)


@given(kernels=pairs(), one=LEVELS, two=LEVELS)
def test_both_indices_rise_with_the_level(kernels: Kernels, one: float, two: float) -> None:
    low, high = min(one, two), max(one, two)
    assert own(kernels, low) <= own(kernels, high) + 1e-15
    others = [float(plain(index_of)(*kernels, 0, 0, level, NONE)) for level in (low, high)]
    assert others[0] <= others[1] + 1e-15


@given(kernels=pairs(), levels=st.lists(LEVELS, min_size=2, max_size=5))
def test_an_insured_mean_that_is_kept_gives_the_same_index(
    kernels: Kernels, levels: list[float]
) -> None:
    kernels[2].insured[:] = math.nan
    kept = [own(kernels, level, renew=False) for level in levels]
    assert kept == pytest.approx([own(kernels, level) for level in levels], rel=0, abs=1e-14)


@given(kernels=pairs(), levels=st.lists(LEVELS, min_size=2, max_size=4))
def test_a_bracket_of_an_own_index_contains_it(kernels: Kernels, levels: list[float]) -> None:
    """A bracket has the indices for others at its two ends, and may have an insured mean or not."""
    memo, (low, *_, high) = kernels[2], sorted(levels)
    for side, level in ((memo.least, low), (memo.most, high)):
        side[0, 0] = plain(index_of)(*kernels, 0, 0, level, NONE)
    for kept in (False, True):
        for level in levels:
            least, most = plain(own_bracket_of)(*kernels, 0, 0, level)
            assert least - 1e-14 <= own(kernels, level, renew=not kept) <= most + 1e-14


def test_so_does_that_of_a_pair_with_millions_of_perfect_rewards() -> None:
    """Its largest mean is 1 and a billionth for each reward, to break ties of such pairs."""
    lowered, state, _ = after(
        [[2e6]], [[2e6]], horizon=10**7, left=10**6, arrivals=[100], policy=al.thrifty()
    )
    state.prior_means[:], state.prior_counts[:] = 0.5, 0.01
    state.fit[STAKE], state.fit[EVIDENCE] = 1.7, 6.5
    kernels = lowered, state, new_memo(lowered, state)
    kept = [own(kernels, level, renew=False) for level in (2000.0, 1000.0)]
    assert kept == [own(kernels, level) for level in (2000.0, 1000.0)]


def insured_pair(*, count: float, mean: float, pending: float, stake: float) -> Kernels:
    kernels = after([[count]], [[count * mean]], horizon=1000, left=500, arrivals=[100])
    _, state, _ = kernels
    state.pending[:], state.fit[STAKE], state.fit[EVIDENCE] = pending, stake, 6.5
    return kernels


def test_the_insured_index_is_the_largest_mean_not_ruled_out_less_the_margin() -> None:
    """A stake of 50 is a margin of .1 for 500 plays; 10 rewards of mean .2 allow kl = .65."""
    kernels = insured_pair(count=10, mean=0.2, pending=0, stake=50)
    assert own(kernels, 500.0) == pytest.approx(kl_bound(0.2, 0.65) - 0.1, rel=1e-14)
    assert own(kernels, 500.0) > uninsured(kernels, 500.0)


def test_pending_rewards_count_as_evidence_but_not_below_none() -> None:
    """Ten more that are on their way halve the evidence asked of each reward."""
    kernels = insured_pair(count=10, mean=0.2, pending=10, stake=50)
    assert own(kernels, 500.0) == pytest.approx(kl_bound(0.2, 0.325) - 0.1, rel=1e-14)
    late = insured_pair(count=10, mean=0.2, pending=-3, stake=50)
    assert own(late, 500.0) == pytest.approx(kl_bound(0.2, 0.65) - 0.1, rel=1e-14)


def test_graded_evidence_rises_with_the_plays_of_the_pair() -> None:
    """After ten plays it is 3.6 + 1.4 log 11 = 6.957; the most that the premium buys limits it."""
    graded = replace(INSURED, rewards=al.InsuredWilson(evidence="graded"))
    for bought, evidence in ((8.5, 3.6 + 1.4 * math.log(11)), (6.5, 6.5)):
        kernels = after([[10]], [[2]], horizon=1000, left=500, arrivals=[100], policy=graded)
        kernels[1].fit[STAKE], kernels[1].fit[EVIDENCE] = 50.0, bought
        largest = kl_bound(0.2, evidence / 10)
        assert own(kernels, 500.0) == pytest.approx(largest - 0.1, rel=1e-14)


def test_without_a_prior_graded_bounds_are_at_eight_tenths_of_their_level() -> None:
    """The margin is a whole reward, so that nothing is insured."""
    graded = replace(INSURED, rewards=al.InsuredWilson(evidence="graded"))
    kernels = after([[10]], [[2]], horizon=1000, left=500, arrivals=[100], policy=graded)
    kernels[1].fit[STAKE], kernels[1].fit[SEEN_SHARE] = 500.0, 1.0
    expected = score_bound(0.2, 0.8 * exploration_level(50.0) / 10)
    assert own(kernels, 500.0) == pytest.approx(expected, rel=1e-14)
    assert plain(index_of)(*kernels, 0, 0, 500.0, NONE) == own(kernels, 500.0)


def test_no_margin_of_a_whole_reward_is_insured() -> None:
    """With 50 plays left the stake is 1 in each: no action can save that much."""
    kernels = insured_pair(count=10, mean=0.2, pending=0, stake=50)
    assert own(kernels, 50.0) == uninsured(kernels, 50.0)


def test_an_untried_pair_is_insured_whatever_its_prior_says() -> None:
    """The prior cannot lock an error in: the largest mean is 1 until the pair has a reward."""
    lowered, state, _ = after(
        [[0]], [[0]], horizon=1000, left=500, arrivals=[100], policy=al.thrifty()
    )
    state.prior_means[:], state.prior_counts[:] = 0.01, 1000.0
    state.fit[STAKE], state.fit[EVIDENCE] = 50.0, 6.5
    memo = new_memo(lowered, state)
    assert own((lowered, state, memo), 500.0) == pytest.approx(0.9)
    assert uninsured((lowered, state, memo), 500.0) < 0.05
