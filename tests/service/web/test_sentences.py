"""Sentences and notices about a campaign, from reports written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.reports import money, report

from almoner.live.agent import Agent
from almoner.live.reports.report import RowReport
from almoner.service.web import chart_captions, formatting, notices, sentences


@pytest.mark.parametrize(
    ("pace", "sentence"),
    [
        (0.1, "spending 10 % ahead of the straight line"),
        (-0.042, "spending 4 % behind the straight line"),
        (0.004, "on pace"),
        (-0.0049, "on pace"),
    ],
)
def test_the_pace_in_words(pace: float, sentence: str) -> None:
    assert sentences.pace(report(pace=pace)) == sentence


def test_before_the_first_arrival_and_after_the_last() -> None:
    assert sentences.pace(report(arrivals=0)) == "nobody has come yet"
    over = report(arrivals=200, arrivals_left=0)
    assert sentences.pace(over) == "35 % of the budget spent or expected to be at the end"
    assert (sentences.state(over), sentences.state(report())) == ("finished", "running")
    assert sentences.state(replace(over, status="closed")) == "closed"
    assert sentences.summary(report(arrivals=0), 200, money) == (
        "Nobody has come yet; 100 is for 200 arrivals."
    )


def test_the_summary_is_one_sentence() -> None:
    assert sentences.summary(report(), 200, money) == (
        "50 of 200 arrivals have come, and 35 of 100 is spent or expected to be: "
        "spending 10 % ahead of the straight line."
    )


def test_notices_are_in_a_fixed_order() -> None:
    assert notices.notices(report(), 200, money) == []
    odd = report(status="paused", blocked="paused", unusable=2.0, overrun=1.0)
    assert notices.notices(odd, 40, money) == [
        "10 more have come after the horizon of 40 arrivals, and were skipped.",
        "The campaign is paused: arrivals are skipped, and are not counted.",
        "2 is left, but no action reserves less than 5, so it cannot be given out.",
        "Bills have exceeded what was reserved for them by 1 in all; raise the reserves, and let "
        "none expire before its bill can come.",
    ]


def test_many_actions_that_can_never_be_taken_share_one_sentence() -> None:
    reserves = [(f"a{index}", 100.0 + index) for index in range(51)]
    assert len(notices.never_affordable(reserves[:4], 100.0, money)) == 3, "one each"
    assert notices.never_affordable(reserves, 100.0, money) == [
        "“<bdi>a1</bdi>”, “<bdi>a2</bdi>”, “<bdi>a3</bdi>” and 47 more actions can never be taken: "
        "each reserves more than the budget of 100."
    ]


def test_bills_that_add_up_to_the_budget_are_not_beyond_it() -> None:
    """0.1 + 0.2 is more than 0.3 to a computer."""
    even = report(budget=0.3, spent=0.1, uncharged=0.2, reserved=0.0, left=0.2)
    assert notices.notices(even, 200, formatting.money_format([0.3])) == []


def test_what_became_of_the_arrivals_adds_up() -> None:
    assert sentences.skipped(report()) == "43 skipped"
    assert sentences.skipped(report(served=5)) == "43 skipped, 2 cancelled"
    uncounted = report(served=4, skips={"policy": 40, "horizon": 3, "paused": 8, "closed": 1})
    assert sentences.skipped(uncounted) == (
        "43 skipped, 3 cancelled; 9 more while paused or closed"
    )


def test_what_is_cancelled_is_neither_served_nor_skipped() -> None:
    terms: dict[str, Any] = {"contexts": ["a", "b"], "actions": {"coupon": 1}}
    agent = Agent.open("memory:", name="a", horizon=40, budget=40, seed=1, **terms)
    decisions = [agent.decide("a") for _ in range(10)]
    served = [decision for decision in decisions if not decision.skipped]
    for decision in served[:2]:
        agent.cancel(decision.id)
    agent.pause()
    agent.decide("a")
    assert sentences.skipped(agent.report()) == (
        f"{10 - len(served)} skipped, 2 cancelled; 1 more while paused or closed"
    )


def test_a_reward_window_says_what_is_still_expected() -> None:
    windowed = report(waiting=12, reward_window="7 days", still_expected=0.3)
    assert sentences.waiting(windowed) == (
        "12 decisions still wait for one within 7 days, and 30 % of all rewards are still expected"
    )


def test_good_news_only_is_a_notice() -> None:
    odd = report(waiting=40, rewarded=7, only_good_news=True)
    assert notices.notices(odd, 200, money) == [
        "The 7 rewards so far are all above 0, and 40 decisions had none. If silence means 0, tell "
        "the zeros too, or give the next campaign a reward window: otherwise every mean is too "
        "high, and doing nothing may look best."
    ]


def test_shared_reserves_are_not_said_to_be_within_the_budget() -> None:
    shared = report(risk=0.01, reserved=500.0, left=65.0)
    assert sentences.shares(shared, money) == (
        "Of the budget of 100, 30 is spent, 5 expected for open decisions, which may cost 500 at "
        "most, and 65 left."
    )


def test_the_end_of_reserves_is_told_where_they_keep_all_money() -> None:
    full = report(blocked="reserved", left=2.0, next_expiry="2026-11-22T10:31:00+00:00")
    assert notices.blocked(full, money).endswith(
        " It frees as bills are settled and reserves expire, the next 2026-11-22 10:31 UTC."
    )


def test_shared_reserves_that_admit_no_further_decision_are_not_compared_with_what_is_left() -> (
    None
):
    full = report(blocked="reserved", risk=0.01, reserved=500.0)
    assert notices.blocked(full, money) == (
        "Nothing can be given out now: 500 is reserved for open decisions (expected to cost 5), "
        "and with another one they might cost more than the budget allows, but for the risk of "
        "0.01. It frees as bills are settled."
    )


def test_rewards_of_skips_that_were_to_bring_nothing_are_not_compared_with_the_promise() -> None:
    odd = report(reward=9.0, reward_low=9.0, reward_high=9.0, skip_reward=5.0)
    assert chart_captions.reward_caption(odd, promised=4.0).startswith(
        "Rewards add up to 9 so far, 5 of it for skips, which were to bring nothing; 4.0 is "
        "promised by now: as promised."
    )
    assert notices.notices(odd, 200, money) == [
        "Skips have brought 5, and the campaign takes them to bring nothing, so it overrates its "
        "actions: let the next campaign learn what doing nothing brings."
    ]
    scored = replace(odd, rows=RowReport(price=0.1, value_taken=3.0, value_left=1.0))
    assert notices.notices(scored, 200, money) == [
        "Skips have brought 5. Scores count above what a skip would bring: give that with them, "
        "under “skip”, or the campaign overrates its actions."
    ]
