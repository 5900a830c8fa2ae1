"""The page of a campaign in every state: its sentences agree with the report and each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.campaign_states import (
    STATES,
    ahead,
    all_cancelled,
    all_reserved,
    behind,
    beyond_the_budget,
    budget_gone,
    closed,
    closed_before_anyone_came,
    closed_while_paused,
    defaults_known,
    good_news_only,
    late_rewards,
    never_available,
    never_given,
    no_budget,
    nobody,
    nobody_in_time,
    none_affordable,
    one_never_came,
    one_unaffordable,
    opened,
    overrun,
    past_the_closing_time,
    past_the_horizon,
    paused,
    paused_from_the_start,
    rest_unusable,
    rest_unusable_with_reserves,
    some_open,
)

import almoner as al
from almoner.live.reports.report import Report
from almoner.service.web import charts
from almoner.service.web.notices import notices
from almoner.service.web.templating import TEMPLATES
from almoner.service.web.views import campaign_view, card


def rendered(agent: al.Agent) -> tuple[Report, str]:
    """Return a report, and the text of its page and of its card in the list."""
    report, terms = agent.report(), agent.terms
    horizon = (
        max(1.0, report.arrivals + report.arrivals_left)
        if isinstance(terms.horizon, al.ClosingTime)
        else float(terms.horizon)
    )
    view = campaign_view(report, horizon, agent.reporter.curve(), [])
    page = TEMPLATES.get_template("campaign.html").render(
        here="/", signed_in=False, administers=True, **view
    )
    listed = card(report, horizon)
    text = " ".join(re.sub("<[^>]+>", " ", re.sub("</?bdi>", "", page)).split())
    return report, f"{text} {listed.sentence} {listed.pace}"


@pytest.fixture(scope="module", params=STATES)
def shown(request: pytest.FixtureRequest) -> tuple[str, Report, str]:
    return (request.param, *rendered(STATES[request.param]()))


@pytest.mark.parametrize(
    ("make", "holds"),
    [
        (nobody, lambda report: not report.arrivals),
        (some_open, lambda report: report.reserved > report.planned > 0 and not report.blocked),
        (all_reserved, lambda report: report.blocked == "reserved" and report.left > 0),
        (budget_gone, lambda report: report.blocked == "budget" and report.spent == 50),
        (rest_unusable, lambda report: report.blocked == "budget" and report.unusable == 2),
        (
            rest_unusable_with_reserves,
            lambda report: report.blocked == "budget" and report.left == 0 < report.unusable,
        ),
        (ahead, lambda report: report.pace > 0.01 and not report.blocked),
        (behind, lambda report: report.pace < -0.01 and not report.blocked),
        (late_rewards, lambda report: report.waiting > 10 and not report.rewarded),
        (good_news_only, lambda report: report.waiting > report.rewarded == report.reward > 0),
        (never_given, lambda report: not report.served and report.arrivals == 300),
        (all_cancelled, lambda report: not report.served and sum(report.skips.values()) < 300),
        (paused, lambda report: report.blocked == "paused"),
        (closed, lambda report: report.blocked == "closed"),
        (past_the_horizon, lambda report: report.blocked == "horizon" and report.arrivals == 80),
        (past_the_closing_time, lambda report: report.blocked == "horizon"),
        (one_unaffordable, lambda report: report.blocked is None),
        (none_affordable, lambda report: report.blocked == "budget"),
        (overrun, lambda report: report.overrun > 0),
    ],
)
def test_the_states_are_what_they_are_called(
    make: Callable[[], al.Agent], holds: Callable[[Report], bool]
) -> None:
    assert holds(make().report())


def amounts(pattern: str, text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(pattern, text)]


NUMBER = r"([\d,]+(?:\.\d+)?)"


def test_money_is_the_same_wherever_it_is_rendered(shown: tuple[str, Report, str]) -> None:
    name, report, text = shown
    for pattern, figure in [
        (rf"(?<!of )(?<![\d.,]){NUMBER} is spent", report.spent),
        (rf"{NUMBER} reserved\b", report.reserved),
        (rf"{NUMBER} is reserved for open", report.reserved),
        (rf"expected to cost {NUMBER}", report.planned),
        (rf"{NUMBER} expected for open decisions", report.planned),
        (rf"{NUMBER} left to reserve", report.left),
        (rf"Left to reserve {NUMBER}", report.left),
        (rf"the {NUMBER} left is less", report.left),
        (rf"Reserved {NUMBER}", report.reserved),
        (rf"Spent {NUMBER} of", report.spent),
        (rf"cheapest action reserves {NUMBER}", report.cheapest),
        (rf"no action reserves less than {NUMBER}", report.cheapest),
    ]:
        for amount in amounts(pattern, text):
            assert amount == pytest.approx(figure, abs=0.005), (name, pattern)
    assert report.spent + report.reserved + report.left == pytest.approx(report.budget)


def test_whether_anything_can_be_given_out_is_said_once_and_correctly(
    shown: tuple[str, Report, str],
) -> None:
    name, report, text = shown
    agent = STATES[name]()
    status = agent.status
    if status == "running":
        decision = agent.decide("new", key="one more")
        assert not (report.blocked and decision.action), "blocked is blocked"
        if decision.reason in {"budget", "horizon"}:
            assert report.blocked in {"budget", "reserved", "horizon"}
    claims = [
        claim
        for claim in (
            "Nothing can be given out now:",
            "Nothing can ever be given out:",
            "The budget is used",
        )
        if claim in text
    ]
    assert len(claims) <= 1
    assert bool(claims) <= (report.blocked in {"budget", "reserved"})
    assert ("frees as bills are settled" in text) == (report.blocked == "reserved")
    if report.blocked == "reserved":
        assert "cannot be given out" not in text, "it can, once bills are settled"
        assert report.left < report.cheapest <= report.budget - report.spent - report.planned
    over = report.arrivals_left <= 0 or report.status == "closed"
    idle = report.blocked is not None and not over
    assert ("Nothing is given out now; this is what" in text) == idle
    if report.blocked in {"budget", "horizon"}:
        assert all(context.served == 0 for context in report.contexts), "no plan without means"
    assert ("No arrival is to be served any more" in text) == over
    assert ("For each arrival to come there is" in text) != over
    assert "held" not in text.replace("withheld", "").split(), "reserve is the word"


def test_the_pace_goes_by_what_is_spent_or_expected(shown: tuple[str, Report, str]) -> None:
    _, report, text = shown
    assert ("the straight line." in text or "on pace" in text.lower()) == (
        report.arrivals > 0 and report.arrivals_left > 0 and report.status != "closed"
    )
    if report.arrivals and report.arrivals_left > 0 and report.status != "closed":
        gone = report.arrivals / (report.arrivals + report.arrivals_left)
        used = (report.spent + report.planned) / report.budget if report.budget else 0.0
        assert report.pace == pytest.approx(used - gone if report.budget else 0.0)
        side = "ahead of" if report.pace > 0 else "behind"
        other = {"ahead of": "behind", "behind": "ahead of"}[side]
        assert f"% {other} the straight line" not in text
        assert (f"% {side} the straight line" in text) != ("on pace" in text.lower())


def test_no_action_is_planned_that_cannot_be_reserved(shown: tuple[str, Report, str]) -> None:
    _, report, text = shown
    funds = report.budget - report.spent - report.planned
    for context in report.contexts:
        for pair in context.actions:
            assert pair.planned == 0 or pair.reserve <= funds + 1e-9
            if "can never be taken" in text and f"“{pair.action}” can never" in text:
                assert (pair.taken, pair.planned) == (0, 0)


ALARM = "Nothing was given out to"
NEVER_SERVED = {"never_given", "never_available", "all_cancelled"}


def test_an_alarm_is_raised_where_nothing_is_given_out_and_nowhere_else(
    shown: tuple[str, Report, str],
) -> None:
    name, _, text = shown
    assert (ALARM in text) == (name in NEVER_SERVED)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            never_given,
            "Nothing was given out to any of 300 arrivals: all because the policy saves the budget "
            "for better use.",
        ),
        (
            never_available,
            "Nothing was given out to any of 300 arrivals: all because no action was available.",
        ),
        (
            none_affordable,
            "Nothing can ever be given out: the cheapest action reserves 1,000, and ",
        ),
        (one_unaffordable, "“car” can never be taken: it reserves 1,000, and the budget is 150."),
        (rest_unusable, "2 is left, but no action reserves less than 50, so it cannot be given "),
        (budget_gone, "The budget is used up: nothing more can be given out."),
        (past_the_horizon, "20 more have come after the horizon of 60 arrivals, and were skipped."),
        (overrun, "Bills have exceeded what was reserved for them by 20.00 in all;"),
        (nobody, "Nobody has come yet; 150.00 is for 400 arrivals."),
        (
            paused_from_the_start,
            "Nobody has been counted yet: 300 came while it was paused; 150.00 is for 400 arr",
        ),
        (closed_before_anyone_came, "It was closed before anyone came; 150.00 is left."),
        (
            closed_while_paused,
            "It was closed before anyone was counted: 300 came while it was paused; 150.00 is left",
        ),
        (nobody_in_time, "Nobody came before it ended; 150.00 is left."),
        (no_budget, "20 of 400 arrivals have come, and 0.00 of 0.00 is spent: on pace."),
        (past_the_horizon, "Arrivals 60 of 60, and 20 after it"),
        (one_never_came, "old has not come yet 100 % would be served"),
        (one_never_came, "new 100 % of arrivals 100 % served"),
        (
            beyond_the_budget,
            "Bills add up to 16.00, which is 6.00 more than the budget of 10.00; no more than ",
        ),
    ],
)
def test_what_each_state_says(make: Callable[[], al.Agent], sentence: str) -> None:
    assert sentence in rendered(make())[1]


def test_the_sum_of_bills_is_shown_where_they_exceed_the_budget(
    shown: tuple[str, Report, str],
) -> None:
    _, report, text = shown
    assert ("Bills add up to" in text) == (report.spent + report.uncharged > report.budget)


def test_no_plan_is_shown_of_a_campaign_that_is_over(shown: tuple[str, Report, str]) -> None:
    _, report, text = shown
    over = report.arrivals_left <= 0 or report.status == "closed"
    assert ("The campaign is over: nobody is served any more." in text) == over
    for phrase in (
        "best plan for these means",
        "best plan for the estimates",
        " Planned ",
        "% served",
        "% would be served",
    ):
        assert (phrase in text) <= (not over)


def test_as_many_arrivals_as_the_horizon_has_room_for(shown: tuple[str, Report, str]) -> None:
    _, _, text = shown
    for come, horizon in re.findall(rf"{NUMBER} of {NUMBER} (?:expected )?arrivals", text):
        assert float(come.replace(",", "")) <= float(horizon.replace(",", ""))


def test_reserves_far_above_costs_are_shown_apart() -> None:
    """149.30 of 150 spent or reserved, and yet far behind: the page says which is which."""
    report, text = rendered(all_reserved())
    assert report.reserved > 6 * report.planned > 0
    assert f"{report.spent + report.planned:.2f} of 150.00 is spent or expected to be" in text
    assert "behind the straight line" in text
    assert f"Nothing can be given out now: {report.reserved:.2f} is reserved for open" in text
    assert "cannot be given out" not in text


def test_settling_frees_what_was_reserved() -> None:
    agent = all_reserved()
    assert agent.report().blocked == "reserved"
    for event in list(agent.events()):
        if event.kind == "decided" and event.action and event.seq > 150:
            agent.settle(event.seq, cost=0.7)
    assert agent.report().blocked is None
    assert agent.decide("new").reason != "budget"


def test_late_rewards_are_no_shortfall() -> None:
    """Every reward yet to come: nothing is said to be missing."""
    for make in (late_rewards, good_news_only, some_open, paused):
        report, text = rendered(make())
        assert report.waiting > 10
        assert not re.search(r"promised by now: (at least )?\d[\d.]* % less", text), make
        assert f"{report.waiting} decisions still wait for one" in text


def test_a_shortfall_that_no_reward_to_come_can_mend_is_rendered() -> None:
    """Rewards of 0 for 60 where half was promised, and two to come."""
    agent = opened(actions={"coupon": 1}, contexts=["new"], budget=400, policy=al.alp(
        context_probs=[1.0], reward_means=[[0.5]]
    ))  # fmt: skip
    for index in range(62):
        decision = agent.decide("new")
        if index < 60:
            agent.reward(decision.id, 0.0)
    report, text = rendered(agent)
    assert (report.waiting, report.promised, report.guessed) == (2, 31.0, 0)
    assert report.reward_low == 0.0 < report.reward_high < 1
    assert re.search(r"31.0 is promised by now: at least 99.\d % less", text)


def test_a_promise_that_rests_on_guesses_is_called_so() -> None:
    report, text = rendered(never_given())
    assert report.guessed == 2
    assert "with 0.5 for 2 pairs of context and action without a reward" in text


def test_what_skips_are_known_to_bring_counts_towards_the_promise() -> None:
    report, text = rendered(defaults_known())
    assert report.reward < report.reward_low == report.reward_high
    assert "with what skips are known to bring" in text


def test_waiting_counts_actions_and_skips_whose_rewards_are_learned() -> None:
    agent = opened(default_rewards="learned")
    skipped = agent.decide_many(["old"] * 7, available=[])
    for decision in skipped[:6]:
        agent.reward(decision.id, 0.0)
    assert agent.report().waiting == 1
    acted = [decision for decision in (agent.decide("old") for _ in range(5)) if decision.action]
    assert agent.report().waiting == 1 + 5, "whatever was decided"
    agent.cancel(acted[0].id)
    assert agent.report().waiting == 5
    agent.reward(acted[1].id, 1.0)
    assert agent.report().waiting == 4


def test_an_alarm_waits_for_a_hundred_arrivals_and_ten_actions_worth() -> None:
    report = never_given().report()
    for idle, ratio, horizon, alarmed in [
        (100, 5.0, 1000, True),
        (99, 5.0, 1000, False),
        (100, 0.05, 1000, False),  # 5 is worth seven actions of 0.7
        (140, 0.05, 1000, True),
        (50, 0.01, 100, True),  # half of the horizon, and nothing yet
    ]:
        changed = replace(
            report, idle={"policy": idle}, arrivals=idle, horizon=report.budget / ratio
        )
        shown = notices(changed, horizon, str)
        assert any(ALARM in notice for notice in shown) == alarmed, (idle, ratio)


def test_an_alarm_after_a_good_start_says_what_it_waits_for() -> None:
    report = replace(never_given().report(), served=7, waiting=5, idle={"policy": 290, "un": 10})
    (notice,) = [notice for notice in notices(report, 1000, str) if ALARM in notice]
    assert notice == (
        "Nothing was given out to the last 300 arrivals: 290 because the policy saves the budget "
        "for better use; 10 because un; 5 decisions still wait for one, and a 0 must be told too."
    )


def test_the_charts_of_every_state_end_where_the_report_is(shown: tuple[str, Report, str]) -> None:
    _, report, _ = shown
    spend = charts.charts(report, 400.0, [], "{:.6f}".format)[0]
    if report.arrivals:
        _, spent, expected, _ = (float(cell.replace(",", "")) for cell in spend.rows[-1])
        assert (spent, expected) == pytest.approx((report.spent, report.spent + report.planned))
