"""Intervals where persons arrive more than once: worked by hand, and their coverage."""

from __future__ import annotations

import math
import re
from collections import defaultdict

import numpy as np
import pytest
from support.agents import AgentFactory

import almoner as al
from almoner.live.audit import audit
from almoner.live.estimates.clusters import clustered_variance
from almoner.live.estimates.group_sums import GroupSums
from almoner.live.estimates.lift import compare, group_mean
from almoner.store.events import REWARDED
from almoner.types import Floats, Ints

RUNS = 800
SLACK = 4 * math.sqrt(0.95 * 0.05 / RUNS)
"""Four standard errors of a coverage of 95 %."""


def sums(rewards: Floats) -> GroupSums:
    return GroupSums(len(rewards), float(rewards.sum()), float((rewards**2).sum()))


def test_a_variance_worked_by_hand() -> None:
    """Two groups with 3 and 1 of 4 arrivals each and 2 arrivals alone, one of which brings 1.

    The mean is 5/10; (1 − ½)² + (0 − ½)² = ½ alone; (3 − 2)² + (1 − 2)² = 2 between the groups,
    times 2/1 and (t/z)² for one degree of freedom, by the expansion of t.
    """
    alone, first, second = (np.array(r) for r in ([1.0, 0], [1.0, 1, 1, 0], [1.0, 0, 0, 0]))
    groups = [sums(first), sums(second)]
    variance = clustered_variance(sums(np.concatenate([alone, first, second])), groups)
    z = 1.959964
    student = z + (z**3 + z) / 4 + (5 * z**5 + 16 * z**3 + 3 * z) / 96
    student += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    assert variance == pytest.approx((0.5 + 4 * (student / z) ** 2) / 100)


def test_a_single_group_counts_as_one_arrival() -> None:
    group = sums(np.array([1.0, 0, 0, 0]))
    assert clustered_variance(group, [group]) == 0.25 * 0.75
    low, high = group_mean(group, [group])[1:]
    assert low < 0.05
    assert high > 0.8


def test_without_persons_the_variance_is_that_of_arrivals() -> None:
    rewards = np.array([1.0, 0, 0.5, 0, 0])
    assert clustered_variance(sums(rewards), []) == pytest.approx(rewards.var() / 5)


def by_group(rewards: Floats, groups: Ints) -> list[GroupSums]:
    return [sums(rewards[groups == number]) for number in np.unique(groups)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("persons", "visits", "held_out"), [(2_000, 4, 0.1), (400, 10, 0.3), (3_000, 1, 0.2)]
)
def test_the_interval_covers_where_the_same_persons_come_again(
    persons: int, visits: int, held_out: float
) -> None:
    """Persons differ in their rates, from 0 to 60 %; the lift is a third of the rate of each."""
    rng, covered, naive = np.random.default_rng(17), 0, 0
    for _ in range(RUNS):
        rates = 0.6 * rng.random(persons) ** 3
        is_held, group = rng.random(persons) < held_out, rng.integers(64, size=persons)
        arrived = np.repeat(np.arange(persons), rng.integers(1, 2 * visits, size=persons))
        chance = np.where(is_held, rates, rates * 4 / 3)[arrived]
        rewards = (rng.random(len(arrived)) < chance).astype(np.float64)
        arms = [is_held[arrived] == held for held in (False, True)]
        groups = [by_group(rewards[arm], group[arrived][arm]) for arm in arms]
        lift = compare(*map(group_mean, (sums(rewards[arm]) for arm in arms), groups))
        plain = compare(*(group_mean(sums(rewards[arm])) for arm in arms))
        covered += lift.low <= 0.05 <= lift.high
        naive += plain.low <= 0.05 <= plain.high
    assert covered / RUNS == pytest.approx(0.95, abs=SLACK)
    if visits > 1:
        assert naive / RUNS < 0.95 - SLACK


def test_the_log_has_a_group_of_each_person_and_the_report_uses_it(factory: AgentFactory) -> None:
    agent = factory.create(horizon=400, budget=200, holdout=0.3, default_rewards="learned")
    rng, rewards = np.random.default_rng(1), {}
    for number in range(300):
        person = None if number % 3 == 0 else f"c-{number % 40}"
        decision = agent.decide("new", person=person)
        rewards[decision.id] = float(rng.random() < 0.3)
        if number % 5:
            agent.reward(decision.id, rewards[decision.id])
    groups: dict[bool, dict[int, list[float]]] = {held: defaultdict(list) for held in (False, True)}
    everybody: dict[bool, list[float]] = {False: [], True: []}
    told = {event.decision: event for event in agent.events() if event.kind == REWARDED}
    seen = defaultdict(set)
    for event in agent.events():
        if event.kind != "decided":
            continue
        held, number = event.reason == "holdout", (event.round or 0)
        value = rewards[event.seq + agent.first_id] if event.seq in told else 0.0
        everybody[held].append(value)
        if number % 3 == 0:
            assert '"group"' not in (event.detail or "")
            continue
        group = int((event.detail or "").split('"group":')[1].rstrip("}"))
        seen[number % 40].add(group)
        groups[held][group].append(value)
        if event.seq in told:
            assert told[event.seq].detail == f'{{"group":{group}}}'
    assert all(len(numbers) == 1 for numbers in seen.values())  # the same for each person
    means = [
        group_mean(
            sums(np.array(everybody[held])), [sums(np.array(r)) for r in groups[held].values()]
        )
        for held in (False, True)
    ]
    for reader in (agent, factory.open()):
        lift = reader.final_report().lift
        assert lift is not None
        assert (lift.lift, lift.low, lift.high) == pytest.approx(compare(*means))
    audit(agent.store, factory.name)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (0, "is for a person of the group 64, which cannot be"),
        (1, "is for the group 64 of persons, and its decision for "),
    ],
)
def test_an_audit_finds_a_group_that_cannot_be(
    row: int, message: str, memory: AgentFactory
) -> None:
    agent = memory.create(holdout=0.3)
    agent.reward(agent.decide("new", person="c-81").id, 1.0)
    log = agent.store._logs[memory.name]  # type: ignore[attr-defined]
    detail = re.sub(r'("group": ?)\d+', r"\g<1>64", log.rows[row].detail)
    log.rows[row] = log.rows[row]._replace(detail=detail)
    with pytest.raises(al.BrokenLedger, match=re.escape(message)):
        audit(agent.store, memory.name)
