"""Reports of campaigns with a pace or a default: limits now, and the plan against a solver."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.agents import AgentFactory

import almoner as al
from almoner.live.estimates.estimates import Estimates
from almoner.live.estimates.plans import plan_at
from almoner.live.reports.report import CapReport
from almoner.live.terms.parse_terms import make_terms

MONDAY = datetime(2026, 11, 16, 10, tzinfo=UTC).timestamp()
MEAN = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    costs=st.lists(
        st.tuples(st.integers(0, 3), st.integers(3, 5), st.integers(3, 9)), min_size=2, max_size=2
    ),
    means=st.lists(st.tuples(MEAN, MEAN, MEAN), min_size=2, max_size=2),
    ratio=st.sampled_from([3.0, 3.5, 4.2, 6.0, 20.0]),
    share=st.sampled_from([0.2, 0.5, 0.75]),
)
def test_a_plan_with_a_default_is_the_best_that_serves_everybody(
    costs: list[tuple[int, int, int]],
    means: list[tuple[float, float, float]],
    ratio: float,
    share: float,
) -> None:
    """By a general solver: the probabilities of a context sum to 1.

    The default is the cheapest action here, so that the solver has no reason to take less.
    """
    terms = make_terms(
        contexts=["a", "b"],
        actions={
            name: {"a": costs[0][column], "b": costs[1][column]}
            for column, name in enumerate(("small", "medium", "large"))
        },
        horizon=100, budget=10_000, unit=1, default="small",
    )  # fmt: skip
    probs, table = np.array([share, 1 - share]), np.array(costs, dtype=float)
    estimates = Estimates(probs, np.array(means), table, np.zeros(2), ratio)
    plan = plan_at(terms, estimates, reserves=table.astype(np.int64), funds=10_000)
    weights = np.repeat(probs, 3)
    best = linprog(
        -weights * np.array(means).ravel(),
        A_ub=[weights * table.ravel()],
        b_ub=[ratio],
        A_eq=np.kron(np.eye(2), np.ones(3)),
        b_eq=np.ones(2),
        method="highs",
    )
    assert best.status == 0
    assert plan.value == pytest.approx(-best.fun, abs=1e-9)
    assert plan.probabilities.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert probs @ (plan.probabilities * table).sum(axis=1) <= ratio + 1e-9


def test_a_ratio_below_the_default_serves_a_part() -> None:
    """Money for half of the defaults: half of the rounds, each worth 0.4 for 2."""
    terms = make_terms(
        contexts=["a"], actions={"small": 2, "large": 5},
        horizon=10, budget=10, unit=1, default="small",
    )  # fmt: skip
    costs = np.array([[2.0, 5.0]])
    estimates = Estimates(np.ones(1), np.array([[0.4, 0.9]]), costs, np.zeros(1), 1.0)
    plan = plan_at(terms, estimates, reserves=costs.astype(np.int64), funds=10)
    assert plan.probabilities.tolist() == [[0.5, 0.0]]
    assert (plan.value, plan.price) == (0.2, 0.2)
    assert plan.boundaries.tolist() == [2.0, 5.0]


def test_the_report_shows_the_caps_of_now(memory: AgentFactory) -> None:
    agent = memory.create(
        pace={"day": 12, "week": 50, "zone": "Europe/Berlin"}, clock=lambda: MONDAY
    )
    taken = agent.decide_many(["new"] * 3, available=["coupon"])
    agent.settle(taken[0].id, cost=1)
    report = agent.report()
    assert report.caps == [
        CapReport(period="day", cap=12.0, used=6.0, left=6.0,
                  ends="2026-11-17T00:00:00+01:00", holds_back=False),
        CapReport(period="week", cap=50.0, used=6.0, left=44.0,
                  ends="2026-11-23T00:00:00+01:00", holds_back=False),
    ]  # fmt: skip
    assert report.blocked is None
    agent.decide_many(["new"] * 10)
    report = agent.report()
    assert (report.blocked, report.caps[0].left) == ("pace", 0.0)
    assert agent.decide("new").reason == "pace"


def test_the_report_says_that_a_cap_holds_the_plan_back(memory: AgentFactory) -> None:
    """A day has a tenth of the arrivals, and its cap a hundredth of the money."""
    opens = datetime.fromtimestamp(MONDAY, UTC)
    closes = al.ClosingTime(
        opens=opens.replace(hour=0), at=opens.replace(day=26, hour=0), arrivals=1000
    )
    terms = {"horizon": closes, "budget": 1000, "clock": lambda: MONDAY}
    paced = memory.create(**terms, pace={"day": 10})
    assert [cap.holds_back for cap in paced.report().caps] == [True]
    assert memory.open(name="free", **{**_shop(), **terms}).report().caps == []
    assert paced.report().price > memory.open(name="free").report().price


def _shop() -> dict[str, object]:
    return {"contexts": ["new", "returning"], "actions": {"mail": 1.0, "coupon": 5.0}, "seed": 1}


def test_more_money_changes_no_plan_that_a_cap_holds_back(memory: AgentFactory) -> None:
    """With a risk, older decisions are expected to cost less, and the cap knows nothing of that."""
    now = [MONDAY]
    coupon = al.Action(cost=1, reserve=5, expires="7 days")
    opens = datetime(2026, 11, 16, tzinfo=UTC)
    closes = al.ClosingTime(opens=opens, at=opens.replace(day=26), arrivals=900)
    agent = memory.create(
        actions={"mail": 0.5, "coupon": coupon}, budget=500, risk=0.01, pace={"day": 30},
        horizon=closes,
        clock=lambda: now[0],
    )  # fmt: skip
    for visit in range(40):
        decision = agent.decide("new", available=["coupon"] if visit % 2 else ["mail"])
        if decision.action is not None:
            agent.reward(decision.id, float(visit % 3 == 0))
        now[0] += 3600
    (_, before, after) = agent.preview_amendment(budget=5_000)
    assert [cap.holds_back for cap in before.caps + after.caps] == [True, True]
    assert agent.look(lambda campaign: campaign.committed) != before.planned * 1e6
    assert 0 < before.contexts[0].actions[1].planned < 1
    for one, other in zip(before.contexts, after.contexts, strict=True):
        plans = [[action.planned for action in side.actions] for side in (one, other)]
        assert plans[0] == pytest.approx(plans[1], abs=1e-9)


def test_the_report_of_an_even_spend(memory: AgentFactory) -> None:
    agent = memory.create(pace="even", horizon=100, budget=60)
    agent.decide_many(["new"] * 10)
    (cap,) = agent.report().caps
    assert (cap.period, cap.ends) == ("even", None)
    assert cap.cap == pytest.approx(60 * 1.2 * 11 / 100)
    assert cap.used == 60 - agent.report().left


def test_the_report_of_a_default(memory: AgentFactory) -> None:
    agent = memory.create(default="mail", budget=40)
    report = agent.report()
    assert report.default == "mail"
    assert [context.served for context in report.contexts] == [1.0, 1.0]
    assert {pair.planned for context in report.contexts for pair in context.actions} == {0.0, 1.0}


@pytest.mark.parametrize("budget", [0.3, 2.0, 9.0])
def test_with_a_hold_out_the_plan_spends_the_budget_on_the_others(budget: float) -> None:
    """By a general solver: an arrival is of a context, and held out or not."""
    terms = make_terms(
        contexts=["a", "b"], actions={"mail": 1, "coupon": 5}, horizon=100, budget=200,
        default_rewards="learned", holdout=0.4,
    )  # fmt: skip
    probs, table = np.array([0.7, 0.3]), np.array([[1.0, 5.0], [1.0, 5.0]])
    means, idle = np.array([[0.2, 0.5], [0.35, 0.4]]), np.array([0.1, 0.3])
    estimates = Estimates(probs, means, table, idle, budget)
    plan = plan_at(terms, estimates, reserves=table.astype(np.int64), funds=200)
    weights = np.repeat(0.6 * probs, 2)
    best = linprog(
        -weights * (means - idle[:, None]).ravel(),
        A_ub=np.vstack([weights * table.ravel(), np.kron(np.eye(2), np.ones(2))]),
        b_ub=[budget, 1, 1],
    )
    assert plan.value == pytest.approx(probs @ idle - best.fun)
    assert 0.6 * probs @ (plan.probabilities * table).sum(axis=1) <= budget + 1e-9
    assert plan.ratio == budget
    dearest = 0.6 * (0.7 * 5 + 0.3 * 5)  # what brings most, for all who are not held out
    assert plan.boundaries[-1] == pytest.approx(dearest)
