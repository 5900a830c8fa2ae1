"""Rewards in a unit of their own: given and shown in it, stored in [0, 1]."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import AgentFactory, assert_sentence, observable_state, refused, replayed_state

from almoner import InvalidInput, InvalidTerms, KnownRewards, Policy, rounded
from almoner.errors import Conflict, DifferentTerms
from almoner.live.audit import audit
from almoner.live.export import decisions
from almoner.live.terms.reward_scale import UNSCALED, RewardScale

EUROS: dict[str, Any] = {"reward_range": (0, 350), "currency": "EUR"}


def test_rewards_come_back_as_they_were_given_and_the_log_has_them_from_0_to_1(
    factory: AgentFactory,
) -> None:
    agent = factory.create(**EUROS, default_rewards={"new": 1.75, "returning": 7})
    decision = agent.decide("new")
    agent.reward(decision.id, 37.5)
    agent.reward(decision.id, 37.5)  # the same again
    [event] = [event for event in agent.events() if event.kind == "rewarded"]
    assert event.reward == 37.5 / 350
    [row] = decisions(agent)
    assert row["reward"] == 37.5
    report = agent.report()
    assert (report.reward, report.currency, report.reward_range) == (37.5, "EUR", (0.0, 350.0))
    assert report.contexts[0].actions[0].mean == 37.5
    assert agent.terms.default_rewards == {"new": 0.005, "returning": 0.02}
    assert agent.terms.shown_defaults == {"new": 1.75, "returning": 7.0}
    assert agent.reporter.curve()[-1].reward == 0.0  # before the reward came
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)
    again = factory.open(**EUROS, default_rewards={"new": 1.75, "returning": 7})
    assert observable_state(again) == observable_state(agent)


def test_all_figures_are_those_of_the_same_campaign_in_0_to_1_times_the_range(
    memory: AgentFactory,
) -> None:
    plain = memory.create(default_rewards="learned")
    euros = memory.create(name="euros", default_rewards="learned", **EUROS)
    for index in range(40):
        context = ("new", "returning")[index % 2]
        share = (index % 7) / 8
        one, other = plain.decide(context), euros.decide(context)
        assert (one.action, one.probability) == (other.action, other.probability)
        assert (one.price is None) == (other.price is None)
        assert (other.price or 0) == pytest.approx(350 * (one.price or 0), rel=1e-11)
        plain.reward(one.id, share)
        euros.reward(other.id, 350 * share)
    ones, others = asdict(plain.report()), asdict(euros.report())
    for name in ("reward", "reward_low", "reward_high", "promised", "price", "value"):
        assert others[name] == pytest.approx(350 * ones[name], rel=1e-9), name
    for name in ("spent", "left", "ratio_now", "boundaries", "guessed", "waiting", "pace"):
        assert others[name] == ones[name], name
    pairs = zip(ones["contexts"], others["contexts"], strict=True)
    for one, other in (
        pair for a, b in pairs for pair in zip(a["actions"], b["actions"], strict=True)
    ):
        for name in ("mean", "low", "high", "pooled"):
            assert other[name] == pytest.approx(350 * one[name], rel=1e-9), name
    for before, after in zip(plain.reporter.curve(), euros.reporter.curve(), strict=True):
        assert after.reward == pytest.approx(350 * before.reward, rel=1e-9)
        assert after.price == pytest.approx(350 * (before.price or 0.0), rel=1e-9)


def test_a_range_below_0_has_skips_at_0(memory: AgentFactory) -> None:
    """Of three rewards -50, 0 and 350 the sum is 300; a skip brings 0, which is 1/8 in [0, 1]."""
    agent = memory.create(reward_range=[-50, 350])
    assert agent.look(lambda campaign: campaign.policy.lowered.defaults.tolist()) == [0.125, 0.125]
    for value in (-50, 0, 350):
        agent.reward(agent.decide("new").id, value)
    report = agent.report()
    assert report.reward == 300.0
    assert sum(pair.rewarded for pair in report.contexts[0].actions) <= 3
    assert report.reward_low == report.reward_high == 300.0 or report.waiting


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"reward_range": (0, 0)}, "reward_range must be the least and the largest reward"),
        ({"reward_range": (350, 0)}, "the low end comes first"),
        ({"reward_range": 350}, "reward_range must be the least and the largest reward"),
        ({"reward_range": "0-350"}, "reward_range must be the least"),
        ({"reward_range": (0, 1, 2)}, "reward_range must be the least"),
        ({"reward_range": (0, float("inf"))}, "the high end of reward_range must be finite"),
        ({"reward_range": (-1.7e308, 1.7e308)}, "lie within ±1e+15"),
        ({"reward_range": (0, 1e16)}, "give rewards in a larger unit"),
        ({"reward_range": (1e9, 1e9 + 1)}, "wider than a millionth"),
        ({"reward_range": (10, 350)}, "a skip brings 0, and rewards are between 10 and 350"),
        ({"reward_range": (0, None)}, "the high end of reward_range must be a number"),
        ({"currency": ""}, "currency must be a text of 1 to 12"),
        ({"currency": "EUR "}, "currency must be a text"),
        ({"currency": "a very long currency"}, "currency must be a text"),
        ({"currency": 5}, "currency must be a text"),
        (
            {
                "reward_range": (0, 350),
                "currency": "EUR",
                "default_rewards": {"new": 351, "returning": 0},
            },
            "the default reward of 'new' must be between 0 and 350 EUR, got",
        ),
        (
            {
                "reward_range": (0, 350),
                "policy": Policy(
                    rewards=KnownRewards(means=((0.5,), (0.5,))),
                    contexts=rounded().contexts,
                    allocation=rounded().allocation,
                ),
            },
            "a policy with known means has them from 0 to 1",
        ),
    ],
)
def test_bad_terms_are_refused_in_a_sentence(
    memory: AgentFactory, terms: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidTerms) as raised:
        memory.create(**terms)
    assert_sentence(raised.value)
    assert message in str(raised.value)
    assert memory.store().campaigns() == []


def test_rewards_out_of_range_and_changed_rewards_are_refused(memory: AgentFactory) -> None:
    agent = memory.create(**EUROS)
    decision = agent.decide("new")
    with refused(agent, InvalidInput, r"reward must be between 0 and 350 EUR, got reward=350\.01$"):
        agent.reward(decision.id, 350.01)
    with refused(agent, InvalidInput, "reward must be between 0 and 350 EUR, got reward=-1"):
        agent.reward(decision.id, -1)
    agent.reward(decision.id, 116.0 + 2 / 3)
    agent.reward(decision.id, 116.666666667)  # as it is shown
    with refused(agent, Conflict, r"was rewarded with 116\.666666667, got reward=116\.67;"):
        agent.reward(decision.id, 116.67)


def test_resuming_compares_range_and_currency(memory: AgentFactory) -> None:
    memory.create(**EUROS)
    memory.open(reward_range=[0.0, 350.0])
    with pytest.raises(DifferentTerms, match=r"reward_range=\(0\.0, 350\.0\), got"):
        memory.open(reward_range=(0, 400))
    with pytest.raises(DifferentTerms, match="currency='EUR', got currency='USD'"):
        memory.open(currency="USD")


def test_terms_without_a_range_are_stored_as_before(memory: AgentFactory) -> None:
    agent = memory.create()
    stored = json.loads(agent.store.terms(agent.name) or "")
    new = {"reward_range", "currency", "after", "memory", "prior", "inherited"}
    assert not new & set(stored)
    assert agent.terms.scale is UNSCALED


def test_a_learned_skip_may_have_a_range_without_0(memory: AgentFactory) -> None:
    agent = memory.create(reward_range=(10, 20), default_rewards="learned")
    agent.reward(agent.decide("new").id, 10)
    assert agent.report().reward == 10.0


numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 2))


@given(numbers, numbers, st.floats(0, 1))
def test_conversions_are_inverse_to_each_other(low: float, width: float, share: float) -> None:
    high = low + abs(width) + 0.01 + 1e-6 * max(abs(low), 1.0) * 2
    scale = RewardScale(low, high)
    value = min(high, max(low, round(low + share * (high - low), 2)))
    unit = scale.reward(value)
    assert 0.0 <= unit <= 1.0
    assert scale.value(unit) == pytest.approx(value, rel=1e-11, abs=1e-11 * (high - low))
    assert scale.value(scale.reward(scale.value(unit))) == scale.value(unit)
    total = scale.total(3 * unit, count=3)
    assert total == pytest.approx(3 * value, rel=1e-9, abs=1e-9 * (high - low))
    assert scale.units(total, count=3) == pytest.approx(3 * unit, abs=1e-5)


@given(st.floats(0, 1))
def test_from_0_to_1_nothing_is_converted(unit: float) -> None:
    assert UNSCALED.reward(unit) == UNSCALED.value(unit) == UNSCALED.gain(unit) == unit
    assert UNSCALED.total(unit, count=7) == UNSCALED.units(unit, count=7) == unit


def test_money_of_hand_worked_numbers() -> None:
    scale = RewardScale(0.0, 350.0, "EUR")
    assert [scale.value(scale.reward(value)) for value in (37.5, 0.1, 349.99, 0, 350)] == [
        37.5,
        0.1,
        349.99,
        0.0,
        350.0,
    ]
    assert scale.total(sum([37.5 / 350] * 3), count=3) == 112.5
    assert str(scale) == "between 0 and 350 EUR"
