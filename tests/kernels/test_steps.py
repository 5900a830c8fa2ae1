"""`decide`, `take` and `learn` on cases small enough to work out by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import almoner as al
from almoner.kernels.draws import round_key, uniform
from almoner.kernels.state import FROZEN, LEFT, ROUND, Memo, State, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, decide, learn, serve_share, take
from almoner.policy.lowering import LoweredPolicy, lower

TWO: dict[str, Any] = {
    "costs": np.ones((2, 2)),
    "context_probs": np.array([0.25, 0.75]),
    "reward_means": np.array([[0.2, 0.8], [0.1, 0.4]]),
}
"""Two contexts, two actions; context 0 is the rarer and the better one."""


def begin(policy: al.Policy, **terms: Any) -> tuple[LoweredPolicy, State, Memo]:
    lowered = lower(policy, **{**TWO, **terms})
    state = new_state(lowered)
    return lowered, state, new_memo(lowered, state)


def key_with(serve: float, tie: float | None = None) -> np.uint64:
    """Return a key whose lane 0 holds ``serve`` and whose lane 1 lies in the same half as ``tie``.

    Lane 0 is the key's upper 53 bits; its lower 11 are free, and each makes another lane 1.
    """
    for low in range(2048):
        key = np.uint64((int(serve * 2**53) << 11) + low)
        if tie is None or (uniform(key, 1) < 0.5) == (tie < 0.5):
            return key
    raise AssertionError(serve)


ALLOCATIONS = {
    "adaptive": al.AdaptiveLP(),
    "fixed": al.FixedLP(),
    "override": al.FixedLP(override=True),
    "procrastinate": al.Procrastinate(),
    "rounded": al.RoundedLP(),
    "eager": al.EagerRounding(),
    "skip": al.SkipAlways(),
}


@pytest.mark.parametrize(
    ("rule", "plentiful", "room", "own", "ahead", "tied", "share"),
    [
        ("adaptive", False, -0.1, 0.4, 0.6, 0.0, 0.0),  # the contexts ahead use it all
        ("adaptive", False, 0.0, 0.4, 0.5, 0.0, 0.0),  # exactly on a boundary
        ("adaptive", False, 0.1, 0.4, 0.4, 0.0, 0.25),
        ("adaptive", False, 0.1, 0.4, 0.4, 0.1, 0.2),  # a common rate with the tied
        ("adaptive", False, 0.5, 0.4, 0.0, 0.1, 1.0),
        ("adaptive", True, -0.1, 0.4, 0.6, 0.0, 1.0),
        ("fixed", False, 0.1, 0.4, 0.4, 0.1, 0.2),
        ("fixed", True, 0.1, 0.4, 0.4, 0.1, 0.2),  # plenty changes nothing
        ("fixed", True, -0.1, 0.4, 0.6, 0.0, 0.0),
        ("override", True, -0.1, 0.4, 0.6, 0.0, 1.0),
        ("override", False, 0.1, 0.4, 0.4, 0.1, 0.2),
        ("procrastinate", False, 0.3, 1.0, 0.0, 0.0, 1.0),
        ("procrastinate", False, 0.3, 1.0, 1.0, 0.0, 0.0),
        ("procrastinate", False, 0.3, 1.0, 0.0, 1.0, 0.5),  # the better of two at random
        ("procrastinate", True, 0.3, 1.0, 1.0, 0.0, 1.0),
        ("rounded", False, 0.19, 0.4, 0.0, 0.0, 0.0),  # below one half
        ("rounded", False, 0.2, 0.4, 0.0, 0.0, 1.0),  # at it
        ("rounded", False, 0.21, 0.4, 0.0, 0.0, 1.0),  # above it
        ("rounded", False, 0.19, 0.4, 0.0, 0.2, 0.0),  # not even first of the tied
        ("rounded", False, 0.3, 0.4, 0.0, 0.2, 0.5),  # first of the tied, but not last
        ("rounded", False, 0.4, 0.4, 0.0, 0.2, 1.0),  # even last of the tied
        ("rounded", True, -0.1, 0.4, 0.6, 0.0, 1.0),
        ("eager", False, 0.01, 0.4, 0.0, 0.3, 1.0),  # nobody ahead
        ("eager", False, 0.19, 0.4, 0.1, 0.0, 0.0),
        ("eager", False, 0.2, 0.4, 0.1, 0.0, 1.0),
        ("eager", True, -0.1, 0.4, 0.6, 0.0, 1.0),
        ("skip", False, 0.5, 0.4, 0.0, 0.0, 0.0),
        ("skip", True, 0.5, 0.4, 0.0, 0.0, 0.0),
    ],
)
def test_each_rule_serves_the_share_that_it_says(
    rule: str, plentiful: bool, room: float, own: float, ahead: float, tied: float, share: float
) -> None:
    contexts = al.NoContexts() if rule in ("procrastinate", "skip") else al.KnownContexts()
    policy = al.Policy(rewards=al.UCB(), contexts=contexts, allocation=ALLOCATIONS[rule])
    lowered = lower(policy, horizon=10, budget=4, **TWO)
    pure: Any = serve_share
    assert pure.py_func(lowered, plentiful, room, own, ahead, tied) == pytest.approx(
        share, abs=1e-12
    )


@pytest.mark.parametrize("rule", ["adaptive", "rounded", "eager"])
def test_a_context_believed_impossible_has_a_share_too(rule: str) -> None:
    policy = al.Policy(rewards=al.UCB(), contexts=al.KnownContexts(), allocation=ALLOCATIONS[rule])
    lowered = lower(policy, horizon=10, budget=4, **TWO)
    pure: Any = serve_share
    assert pure.py_func(lowered, False, 0.0, 0.0, 0.5, 0.0) == 0.0
    assert pure.py_func(lowered, False, 0.1, 0.0, 0.5, 0.0) == 1.0


def test_ucb_alp_by_hand() -> None:
    """T = 5, B = 3, π = (¼, ¾), a = ½; the level in round t is √(½ log t).

    ====  ===  ===  =====================================  =============  ====  ==============
    t     X    b/τ  indices of context 0; of context 1     share of X     draw  done
    ====  ===  ===  =====================================  =============  ====  ==============
    1     1    3/5  1, 1; 1, 1: all tied                   .6/(¾+¼) = .6  .5    0 of two: .6/2
    2     1    2/4  1, 1; 0+.589, 1: contexts tied         .5/(¾+¼) = .5  .25   1: .5
    3     0    1/3  1, 1; .741, 1+.741: ¾ is ahead         ⅓ − ¾ < 0: 0   0     skip: 1
    4     1    1/2  1, 1; .833, 1.833: nobody ahead        ½/¾ = ⅔        .7    skip: ⅓
    5     0    1/1  enough for every round left            1              .9    1 of two: ½
    ====  ===  ===  =====================================  =============  ====  ==============

    The rewards are 0 in round 1, 1 in round 2 and 1 in round 5.
    """
    lowered, state, memo = begin(al.ucb_alp(), horizon=5, budget=3)
    rounds = [
        (1, key_with(0.5, tie=0.0), (0, 0.3), 0.0),
        (1, key_with(0.25), (1, 0.5), 1.0),
        (0, key_with(0.0), (SKIP, 1.0), 0.0),
        (1, key_with(0.7), (SKIP, 1 / 3), 0.0),
        (0, key_with(0.9, tie=1.0), (1, 0.5), 1.0),
    ]
    for t, (context, key, (action, probability), reward) in enumerate(rounds):
        done, chance = decide(lowered, state, memo, new_hulls(lowered), context, key)
        assert done == action
        assert chance == pytest.approx(probability, abs=1e-12)
        take(lowered, state, memo, new_hulls(lowered), context, action)
        if action != SKIP:
            learn(lowered, state, memo, context, action, t, reward, key)
    assert state.progress.tolist() == [5, 0, 0, 0, 0]
    assert state.counts.tolist() == [[0, 1], [1, 1]]
    assert state.sums.tolist() == [[0, 1], [0, 1]]
    assert state.context_counts.tolist() == [0, 0]  # it knows the shares and counts nothing
    assert decide(lowered, state, memo, new_hulls(lowered), 0, key_with(0.0)) == (SKIP, 1.0)


def test_empirical_shares_count_the_arrival() -> None:
    """EALP, T = 10, B = 5. Round 1: all that came is X = 1, out of 1, so its share is 5/10.

    Skip. Round 2, X = 0 (better): weights 1 and 1 out of 2, room 5/9 · 2 = 10/9: served.
    Round 3, X = 1: 1 ahead, own 2, out of 3: room 4/8 · 3 − 1 = ½, share ½/2, all exact in binary.
    """
    lowered, state, memo = begin(al.ealp(), horizon=10, budget=5)
    assert decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.6)) == (SKIP, 0.5)
    take(lowered, state, memo, new_hulls(lowered), 1, SKIP)
    assert decide(lowered, state, memo, new_hulls(lowered), 0, key_with(0.99)) == (1, 1.0)
    take(lowered, state, memo, new_hulls(lowered), 0, 1)
    assert decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.2)) == (1, 0.25)
    assert state.context_counts.tolist() == [1, 1]


def test_truncated_shares_freeze_after_the_round_they_are_told() -> None:
    """Until round 2 one of each came; b/τ = ½ then serves the better half and nobody else."""
    lowered, state, memo = begin(al.ealp2(until=2), horizon=10, budget=4)
    for context in (1, 0, 0, 0):
        take(lowered, state, memo, new_hulls(lowered), context, SKIP)
    assert state.context_counts.tolist() == [1, 1]
    assert state.progress[FROZEN] == 2
    state.progress[LEFT] = 3
    assert decide(lowered, state, memo, new_hulls(lowered), 0, key_with(0.99)) == (1, 1.0)
    assert decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.0)) == (SKIP, 1.0)


def frozen_at(horizon: int, budget: int, shares: tuple[float, float], t: int) -> int:
    lowered, state, memo = begin(al.ealp2(), horizon=horizon, budget=budget)
    state.progress[ROUND] = t - 1
    state.context_counts[:] = np.multiply(shares, t)
    state.context_counts[0] -= 1  # arrives now
    take(lowered, state, memo, new_hulls(lowered), 0, SKIP)
    return int(state.progress[FROZEN])


@pytest.mark.parametrize(
    ("horizon", "share", "gap"), [(30_000_000, 0.5, 0.125), (1_000_000_000, 0.4, 0.075)]
)
def test_the_paper_s_rule_freezes_at_the_first_round_that_meets_it(
    horizon: int, share: float, gap: float
) -> None:
    """ρ = ¼ lies ¼ from 0, and ¼ or .15 from the boundary at the better context's share.

    δ̌ is half of the lesser; J = 2, so t ≥ 64·log³T/δ̌²: 2.1e7 of 3e7 rounds, 1.0e8 of 1e9. The
    other condition, t ≥ log T/δ̌², is met long before.
    """
    due = math.ceil(64 * math.log(horizon) ** 3 / gap**2)
    assert due < horizon
    late, early = due + due // 10_000, due - due // 10_000  # boundaries in floats are not exact
    assert frozen_at(horizon, horizon // 4, (share, 1 - share), late) == late
    assert frozen_at(horizon, horizon // 4, (share, 1 - share), early) == 0


def test_the_paper_s_rule_never_freezes_at_a_boundary_or_within_a_real_horizon() -> None:
    horizon = 30_000_000
    assert frozen_at(horizon, horizon // 4, (0.25, 0.75), horizon) == 0
    assert frozen_at(10_000, 2_500, (0.5, 0.5), 10_000) == 0


@pytest.mark.parametrize("name", al.RECIPES)
def test_nothing_is_bought_without_money_or_after_the_end(name: str) -> None:
    for i, value in ((LEFT, 0), (ROUND, 10)):
        lowered, state, memo = begin(al.RECIPES[name](), horizon=10, budget=10)
        state.progress[i] = value
        for context in (0, 1):
            assert decide(lowered, state, memo, new_hulls(lowered), context, key_with(0.0)) == (
                SKIP,
                1.0,
            )


@pytest.mark.parametrize("name", al.RECIPES)
def test_deciding_changes_neither_state_nor_outcome(name: str) -> None:
    lowered, state, memo = begin(al.RECIPES[name](), horizon=10, budget=5)
    before = [array.copy() for array in state]
    first = decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.3))
    assert decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.3)) == first
    assert all(np.array_equal(now, then) for now, then in zip(state, before, strict=True))


def test_what_is_not_worth_its_money_is_skipped() -> None:
    """Skipping earns .5 in context 1, which no action there beats, however much is left."""
    defaults = np.array([0.0, 0.5])
    for policy in (al.alp(), al.flp(override=True), al.pb(), al.rounded()):
        lowered, state, memo = begin(policy, horizon=4, budget=4, default_rewards=defaults)
        assert decide(lowered, state, memo, new_hulls(lowered), 1, key_with(0.0)) == (SKIP, 1.0)
        assert decide(lowered, state, memo, new_hulls(lowered), 0, key_with(0.0)) == (1, 1.0)


@pytest.mark.parametrize(
    ("policy", "context", "outcomes"),
    [
        (al.ucb_alp(), 1, 3),  # contexts tied, actions tied
        (al.alp(), 1, 2),
        (al.flp(), 1, 2),
        (al.rounded(), 0, 1),
        (al.ucb_rounded(contexts=al.KnownContexts()), 1, 3),  # (.4 − .25)/.75 < ½ ≤ .4/.75
        (al.ucb_pb(), 0, 3),
        (al.thrifty(), 0, 2),
        (al.greedy(), 0, 1),
        (al.skip_always(), 0, 1),
    ],
)
def test_probabilities_are_those_of_what_happens(
    policy: al.Policy, context: int, outcomes: int
) -> None:
    """Over n keys each outcome's frequency is within 4 standard errors √(p(1 − p)/n) of its p."""
    n, (lowered, state, memo) = 4000, begin(policy, horizon=10, budget=4)
    seen = Counter(
        decide(
            lowered, state, memo, new_hulls(lowered), context, np.uint64(round_key(np.uint64(3), t))
        )
        for t in range(n)
    )
    assert len({action for action, _ in seen}) == len(seen) == outcomes
    assert sum(probability for _, probability in seen) == pytest.approx(1)
    for (_, probability), times in seen.items():
        error = math.sqrt(max(0.0, probability * (1 - probability)) / n)
        assert abs(times / n - probability) <= 4 * error + 1e-12


def test_tied_contexts_are_served_at_a_common_rate_which_a_random_order_would_not_do() -> None:
    """Weights .1 and .9, room for .1: a rate of .1 each. In random order the rarer one comes first
    half of the time and is then served for sure, else never: a rate of .5; the other has .0556.
    """
    lowered = begin(al.alp(), horizon=10, budget=1)[0]
    pure: Any = serve_share
    shares = [pure.py_func(lowered, False, 0.1, own, 0.0, 1.0 - own) for own in (0.1, 0.9)]
    assert shares == pytest.approx([0.1, 0.1])
    in_order = [
        (min(1.0, 0.1 / own) + min(1.0, max(0.0, 0.1 - (1.0 - own)) / own)) / 2
        for own in (0.1, 0.9)
    ]
    assert in_order == pytest.approx([0.5, 0.0555556])
    assert np.dot([0.1, 0.9], in_order) == pytest.approx(np.dot([0.1, 0.9], shares))
