"""Campaigns that begin with what an earlier one, a prior or a log has taught."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, assert_sentence, observable_state, replayed_state
from support.clock import Clock

import almoner as al
from almoner.kernels.state import REFIT_AT
from almoner.live.audit import audit
from almoner.live.export import export
from almoner.live.rewards.cohorts import EDGES

LEARNED: dict[str, Any] = {"default_rewards": "learned", "horizon": 200, "budget": 200.0}


def teach(agent: al.Agent, rounds: int = 40) -> None:
    """Reward every decision: coupons for those who return bring most."""
    for number in range(rounds):
        context = ("new", "returning")[number % 2]
        decision = agent.decide(context)
        brings = {"coupon": 0.75, "mail": 0.25, None: 0.0}[decision.action]
        agent.reward(decision.id, brings * (number % 3) / 2)


def learned(agent: al.Agent) -> dict[str, dict[str, tuple[float, float]]]:
    """Return count and sum of each pair, skips included, from the log."""
    pairs: dict[str, dict[str, tuple[float, float]]] = {}
    for event in agent.events():
        if event.kind == "rewarded":
            row = pairs.setdefault(event.context or "", {})
            count, total = row.get(event.action or "skip", (0.0, 0.0))
            row[event.action or "skip"] = count + 1, total + (event.reward or 0.0)
    return pairs


def statistics(agent: al.Agent) -> dict[str, dict[str, tuple[float, float]]]:
    """Return count and sum of each pair with a count above 0 in the state."""

    def read(campaign: Any) -> dict[str, dict[str, tuple[float, float]]]:
        state, pairs = campaign.state, {}
        for context, row in campaign.contexts.items():
            each = {
                name: (state.counts.item(row, column), state.sums.item(row, column))
                for name, column in campaign.policy.actions.items()
            }
            each["skip"] = state.skip_counts.item(row), state.skip_sums.item(row)
            pairs[context] = {name: pair for name, pair in each.items() if pair[0] > 0}
        return {context: row for context, row in pairs.items() if row}

    return agent.look(read)  # type: ignore[no-any-return]


def times(factor: float, pairs: dict[str, dict[str, tuple[float, float]]]) -> dict[str, Any]:
    return {
        context: {action: (factor * n, factor * s) for action, (n, s) in row.items()}
        for context, row in pairs.items()
    }


def test_counts_and_sums_of_the_campaign_before_are_inherited_at_its_weight(
    factory: AgentFactory,
) -> None:
    first = factory.create(**LEARNED)
    teach(first)
    name = first.name
    second = factory.create(**LEARNED, name=f"{name}-2", after=name)
    assert statistics(second) == times(0.75, learned(first))
    assert second.terms.memory == 0.75
    teach(second)
    assert observable_state(second) == replayed_state(second)
    again = factory.open(name=f"{name}-2")
    assert observable_state(again) == observable_state(second)
    audit(second.store, second.name)
    teach(first)  # late rewards of the first change nothing of the second
    assert factory.open(name=f"{name}-2").terms == second.terms


def test_what_was_inherited_is_inherited_in_turn(memory: AgentFactory) -> None:
    first = memory.create(**LEARNED)
    teach(first)
    second = memory.create(**LEARNED, name="second", after=first.name, memory=0.5)
    before = statistics(second)
    third = memory.create(**LEARNED, name="third", after="second", memory=0.5)
    assert statistics(third) == times(0.5, before) == times(0.25, learned(first))
    report = third.report()
    assert report.inherited == pytest.approx(10.0)  # a quarter of 40 rewards
    assert report.inherited_from == "second"
    pairs = {(c.context, a.action): a for c in report.contexts for a in c.actions}
    count, total = statistics(third)["new"]["mail"]
    mail = pairs["new", "mail"]
    assert (mail.inherited, mail.rewarded, mail.mean) == (count, 0, None)
    assert mail.pooled is not None
    weight = mail.borrowed or 0.0
    assert min(total / count, mail.pooled) >= 0
    assert count + weight > 0


def test_terms_given_again_are_accepted_and_others_refused(memory: AgentFactory) -> None:
    first = memory.create(**LEARNED)
    teach(first)
    prior = al.Prior(means={"new": {"mail": 0.3}}, weight=20)
    terms = {**LEARNED, "name": "second", "after": first.name, "prior": prior}
    memory.create(**terms)
    teach(first)
    memory.create(**terms)
    memory.create(**terms, memory=0.75)
    memory.open(name="second", prior={"means": {"new": {"mail": 0.3}}, "weight": 20})
    others: list[tuple[dict[str, Any], str]] = [
        ({"memory": 0.5}, "memory=0.75, got memory=0.5"),
        ({"after": "third"}, "got after='third'"),
        ({"prior": al.Prior(means={"new": {"mail": 0.4}}, weight=20)}, "0.3, got"),
        ({"prior": al.Prior(means={"new": {"mail": 0.3}})}, "weight"),
    ]
    for other, message in others:
        with pytest.raises(al.DifferentTerms) as raised:
            memory.open(name="second", **other)
        assert_sentence(raised.value)
        assert message in str(raised.value)


def test_a_prior_counts_as_rewards_seen(factory: AgentFactory) -> None:
    """Of 50 rewards with a mean of 0.3 the sum is 15; a skip counts where it is learned."""
    prior = al.Prior(means={"new": {"mail": 0.3, "skip": 0.1}, "other": {"mail": 0.9}})
    agent = factory.create(**LEARNED, prior=prior)
    assert statistics(agent) == {"new": {"mail": (50.0, 15.0), "skip": (50.0, 5.0)}}
    plain = factory.create(name=f"{agent.name}-b", prior=prior)
    assert statistics(plain) == {"new": {"mail": (50.0, 15.0)}}
    assert agent.report().inherited == 100.0
    teach(agent, 10)
    assert observable_state(agent) == replayed_state(agent)
    stored = json.loads(agent.store.terms(agent.name) or "")
    assert stored["inherited"]["pairs"] == {"new": {"mail": [50.0, 15.0], "skip": [50.0, 5.0]}}


def test_prior_and_campaign_before_add_up(memory: AgentFactory) -> None:
    first = memory.create(**LEARNED)
    teach(first)
    prior = al.Prior(means={"new": {"mail": 0.5}}, weight=10)
    second = memory.create(**LEARNED, name="second", after=first.name, memory=1, prior=prior)
    count, total = learned(first)["new"]["mail"]
    assert statistics(second)["new"]["mail"] == (count + 10, total + 5)


def test_a_weight_or_a_memory_of_0_teaches_nothing(memory: AgentFactory) -> None:
    first = memory.create(**LEARNED)
    teach(first)
    prior = al.Prior(means={"new": {"mail": 0.5}}, weight=0)
    second = memory.create(**LEARNED, name="second", after=first.name, memory=0, prior=prior)
    assert statistics(second) == {}
    assert second.report().inherited == 0.0


def test_a_campaign_before_without_rewards_is_warned_of(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    taught, empty = memory.create(**LEARNED), memory.create(**LEARNED, name="empty")
    teach(taught)
    prior = al.Prior(means={"new": {"coupon": 0.5}})
    memory.create(**LEARNED, name="second", after=taught.name, memory=0)
    assert not caplog.messages
    memory.create(**LEARNED, name="third", after=empty.name, prior=prior)
    assert caplog.messages == ["campaign 'empty' has no rewards yet: nothing is inherited from it"]


@pytest.mark.parametrize(
    "policy", ["thrifty", "wilson-eager", "ucb-rounded", "thompson-rounded", "greedy"]
)
def test_every_policy_folds_what_it_inherits_the_same_way(
    memory: AgentFactory, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 10)
    prior = al.Prior(means={"new": {"mail": 0.2, "coupon": 0.6}, "returning": {"mail": 0.1}})
    agent = memory.create(policy=policy, prior=prior)
    teach(agent, 30)
    assert observable_state(agent) == replayed_state(agent)
    again = memory.open()  # from a snapshot
    assert observable_state(again) == observable_state(agent)
    one, other = agent.decide("new", key="a"), again.decide("new", key="a")
    assert one == other
    audit(agent.store, agent.name)


def test_the_fit_is_due_again_at_the_first_reward(memory: AgentFactory) -> None:
    prior = al.Prior(means={"new": {"mail": 0.2}}, weight=1_000)
    agent = memory.create(prior=prior)
    assert agent.look(lambda campaign: campaign.state.fit[REFIT_AT]) == 1.0
    assert agent.look(lambda campaign: campaign.state.context_counts.tolist()) == [0.0, 0.0]


def test_contexts_that_were_added_are_known_to_the_next_campaign(factory: AgentFactory) -> None:
    terms: dict[str, Any] = {**LEARNED, "new_contexts": True, "contexts": ["new"]}
    first = factory.create(**terms)
    teach(first)  # adds "returning"
    second = factory.create(**terms, name=f"{first.name}-2", after=first.name)
    assert second.terms.contexts == ("new",)
    assert second.look(lambda campaign: [*campaign.contexts]) == ["new", "returning"]
    assert statistics(second) == times(0.75, learned(first))
    for context in ("new", "third", "returning", "fourth", "third"):
        second.reward(second.decide(context).id, 0.5)
    assert observable_state(second) == replayed_state(second)
    again = factory.open(name=f"{first.name}-2")
    assert observable_state(again) == observable_state(second)
    declared = factory.create(**LEARNED, name=f"{first.name}-3", after=f"{first.name}-2")
    assert {*statistics(declared)} == {"new", "returning"}


def test_an_amendment_keeps_what_was_inherited(factory: AgentFactory) -> None:
    prior = al.Prior(means={"new": {"mail": 0.2, "coupon": 0.6, "skip": 0.1}}, weight=40)
    agent = factory.create(**LEARNED, prior=prior)
    agent.amend(budget=300, add={"call": al.Action(cost=2)}, note="before the first arrival")
    assert statistics(agent) == {
        "new": {"mail": (40.0, 8.0), "coupon": (40.0, 24.0), "skip": (40.0, 4.0)}
    }
    teach_all(agent)
    agent.amend(stop=["mail"])
    teach_all(agent)
    assert observable_state(agent) == replayed_state(agent)
    assert observable_state(factory.open()) == observable_state(agent)
    audit(agent.store, agent.name)
    after = factory.create(**LEARNED, name=f"{agent.name}-2", after=agent.name, memory=1)
    count, _ = statistics(after)["new"]["mail"]
    assert count >= 40.0  # stopped, and still known


def teach_all(agent: al.Agent) -> None:
    for number in range(20):
        decision = agent.decide(("new", "returning")[number % 2])
        agent.reward(decision.id, number % 3 / 2)


def test_a_strong_prior_decides(memory: AgentFactory) -> None:
    """Both cost 1; the means of the prior are reversed, and so are the choices."""
    terms: dict[str, Any] = {"actions": {"a": 1.0, "b": 1.0}, "contexts": ["new"], "horizon": 50}
    for good, bad in (("a", "b"), ("b", "a")):
        prior = al.Prior(means={"new": {good: 0.6, bad: 0.1}}, weight=500)
        agent = memory.create(**terms, name=good, prior=prior)
        assert {agent.decide("new").action for _ in range(20)} == {good}


def test_rewards_in_money_are_converted_between_ranges(memory: AgentFactory) -> None:
    euros = {"reward_range": (0, 400), "currency": "EUR"}
    first = memory.create(**euros)
    for _ in range(4):
        first.reward(first.decide("new").id, 100.0)
    wider = memory.create(
        name="wider", after=first.name, memory=1, reward_range=(-100, 400), currency="EUR"
    )
    counts, totals = zip(*statistics(wider)["new"].values(), strict=True)
    assert (sum(counts), sum(totals)) == (4.0, pytest.approx(4 * 200 / 500))
    prior = al.Prior(means={"new": {"mail": 100}}, weight=4)
    priced = memory.create(name="prior", prior=prior, **euros)
    assert statistics(priced) == {"new": {"mail": (4.0, 1.0)}}
    assert priced.report().contexts[0].actions[0].pooled == pytest.approx(100.0, rel=0.5)


EURO: dict[str, Any] = {"reward_range": (0, 50), "currency": "EUR"}


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"after": "week-45"}, "after must name a campaign of this store, got after='week-45'"),
        ({"after": 5}, "after must be a text of 1 to 200 printable characters without a slash"),
        ({"after": "week-46", "memory": 1.5}, "memory must be between 0 and 1"),
        ({"after": "week-46", "memory": "most"}, "memory must be a number"),
        ({"memory": 0.5}, "memory is the weight of the campaign that after names"),
        ({"after": "week-46", "contexts": ["x"]}, "'week-46' has no context and action of this"),
        ({"after": "week-46", "actions": {"x": 1}}, "'week-46' has no context and action of this"),
        ({"after": "week-46", **EURO}, "has rewards between 0 and 1 and this one between 0 and 50"),
        ({"after": "euros"}, "has rewards between 0 and 350 EUR and this one between 0 and 1"),
        ({"after": "euros", **EURO}, "in campaign 'euros' must be between 0 and 50 EUR"),
        ({"after": "euros", "reward_range": (0, 350), "currency": "USD"}, "between 0 and 350 USD"),
        ({"prior": 5}, "prior must be a Prior"),
        ({"prior": al.Prior}, "call it: Prior()"),
        ({"prior": {"weight": 5}}, "prior lacks the key 'means'"),
        ({"prior": {"means": {"new": 5}}}, "must be numbers by context and action"),
        ({"prior": {"means": {"new": {"mail": "x"}}}}, "of 'mail' for 'new' must be a number"),
        ({"prior": {"means": {"new": {"mail": 1.5}}}}, "must be between 0 and 1, got"),
        ({"prior": {"means": {"new": {"mail": 0.5}}, "weight": -1}}, "must be between 0 and 1e+09"),
        ({"prior": {"means": {"x": {"mail": 0.5}}}}, "the prior has no context and action"),
        ({"prior": {"means": {}}}, "the prior has no context and action"),
        ({"prior": {"means": {"new": {"mail": 0.5}}, "weight": {"new": {}}}}, "lacks the pair"),
        (
            {
                "prior": {"means": {"new": {"mail": 0.5}}},
                "policy": al.Policy(
                    rewards=al.KnownRewards(means=((0.5, 0.5), (0.5, 0.5))),
                    contexts=al.thrifty().contexts,
                    allocation=al.rounded().allocation,
                ),
            },
            "has no use for after or prior",
        ),
    ],
)
def test_bad_terms_are_refused_in_a_sentence(
    memory: AgentFactory, terms: dict[str, Any], message: str
) -> None:
    first = memory.create(name="week-46")
    teach(first, 4)
    euros = memory.create(name="euros", reward_range=(0, 350), currency="EUR")
    euros.reward(euros.decide("new").id, 300)
    with pytest.raises((al.InvalidTerms, al.UnknownCampaign)) as raised:
        memory.create(name="week-47", **terms)
    assert_sentence(raised.value)
    assert message in str(raised.value)
    assert memory.store().campaigns() == ["week-46", "euros"]


def test_a_store_that_does_not_exist_has_no_campaign_before(tmp_path: Path) -> None:
    with pytest.raises(al.UnknownCampaign, match="after must name a campaign of this store"):
        al.Agent.open(
            f"sqlite:///{tmp_path}/new.db",
            name="a",
            contexts=["new"],
            actions={"mail": 1},
            horizon=9,
            budget=9,
            after="b",
        )
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_export_is_a_prior(memory: AgentFactory, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("pyarrow")
    first = memory.create(**LEARNED, actions={"=mail": 1.0, "coupon": 5.0})
    for number in range(30):
        decision = first.decide(("new", "returning")[number % 2])
        if number % 3:
            first.reward(decision.id, number % 4 / 4)
    export(first, tmp_path / f"log.{ending}")
    prior = al.Prior.from_log(tmp_path / f"log.{ending}")
    second = memory.create(**LEARNED, actions={"=mail": 1.0}, name="second", prior=prior)
    expected = learned(first)
    for context, row in statistics(second).items():
        for action, (count, total) in row.items():
            assert (count, total) == pytest.approx(expected[context][action])
    half = al.Prior.from_log(tmp_path / f"log.{ending}", memory=0.5)
    assert [pair[2] for pair in half.pairs()] == [pair[2] / 2 for pair in prior.pairs()]


def test_a_table_is_a_prior(tmp_path: Path) -> None:
    rows = [
        {"context": "new", "action": "mail", "mean": 0.25, "weight": 30},
        {"context": "new", "action": "coupon", "mean": 0.5},
    ]
    prior = al.Prior.from_table(iter(rows), weight=10)
    assert [*prior.pairs()] == [("new", "mail", 30.0, 0.25), ("new", "coupon", 10.0, 0.5)]
    (tmp_path / "t.csv").write_text(
        "context,action,mean,weight\nnew,mail,0.25,30\nnew,coupon,.5,\n"
    )
    (tmp_path / "t.json").write_text(json.dumps(rows))
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    for name in ("t.csv", "t.json", "t.jsonl"):
        assert al.Prior.from_table(tmp_path / name, weight=10) == prior


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("context,action\nnew,mail\n", "t.csv", "must have context, action, mean in each row"),
        ("context,action,mean\nnew,mail,x\n", "t.csv", "mean must be a number"),
        ("context,action,mean\nnew,mail,1\nnew,mail,1\n", "t.csv", "'mail' for 'new' twice"),
        ("[1]", "t.json", "one object for each row"),
        ("{", "t.jsonl", "cannot be read"),
        ("", "t.txt", "the name of the file must end in .csv"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, name: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(al.InvalidTerms) as raised:
        al.Prior.from_table(tmp_path / name)
    assert_sentence(raised.value)
    assert message in str(raised.value)


def test_bad_logs_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.csv", str(tmp_path / "missing.csv")):
        with pytest.raises(al.InvalidTerms, match="cannot be read"):
            al.Prior.from_log(path)
    (tmp_path / "log.csv").write_text("context,action\nnew,mail\n")
    with pytest.raises(al.InvalidTerms, match="must have context, action, reward"):
        al.Prior.from_log(tmp_path / "log.csv")
    with pytest.raises(al.InvalidTerms, match="table must be a list of rows"):
        al.Prior.from_table(5)
    with pytest.raises(al.InvalidTerms, match="memory must be between 0 and 1"):
        al.Prior.from_log(tmp_path / "log.csv", memory=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pairs": {"new": {"mail": [50.0, 60.0]}}}, "inherits 50.0 rewards of 'mail' for 'new'"),
        ({"pairs": {"new": {"mail": [50.0, 10.0]}}}, "inherits a sum of 10.0 of 'mail'"),
        ({"pairs": {"new": {"mail": [70.0, 21.0]}}}, "not 50.0"),
        ({"pairs": {"new": {"fax": [1.0, 1.0]}}}, "the unknown action 'fax'"),
        ({"pairs": {"new": {"skip": [1.0, 1.0]}}}, "the unknown action 'skip'"),
        ({"pairs": {"x": {"mail": [1.0, 1.0]}}}, "the undeclared context 'x'"),
    ],
)
def test_an_audit_finds_inherited_rewards_that_nobody_asked_for(
    memory: AgentFactory, changes: dict[str, Any], message: str
) -> None:
    agent = memory.create(prior=al.Prior(means={"new": {"mail": 0.3}}))
    audit(agent.store, agent.name)
    terms = {**agent.terms.to_dict(), "inherited": changes}
    agent.store.create("forged", json.dumps(terms))
    with pytest.raises(al.BrokenLedger) as raised:
        audit(agent.store, "forged")
    assert message in str(raised.value)
    for name in ("prior", "inherited"):
        terms = agent.terms.to_dict()
        del terms[name]
        agent.store.create(f"without {name}", json.dumps(terms))
        with pytest.raises(al.BrokenLedger, match="inherits"):
            audit(agent.store, f"without {name}")


def test_what_is_inherited_counts_in_a_reward_window_too(memory: AgentFactory) -> None:
    """Counts E of evidence and N of decisions both include it, and sums do anyway."""
    clock = [1_700_000_000.0]
    terms: dict[str, Any] = {**LEARNED, "reward_window": "7 days", "clock": lambda: clock[0]}
    first = memory.create(**terms)
    for number in range(40):
        decision = first.decide(("new", "returning")[number % 2])
        if number % 4 == 0:
            first.reward(decision.id, 0.5)
    clock[0] += 8 * 86_400  # all of them have matured, nobody has written that down
    second = memory.create(**terms, name="second", after=first.name, memory=0.5)
    pairs = statistics(second)
    assert sum(count for row in pairs.values() for count, _ in row.values()) == pytest.approx(20)
    assert sum(total for row in pairs.values() for _, total in row.values()) == pytest.approx(2.5)
    for number in range(20):
        decision = second.decide(("new", "returning")[number % 2])
        clock[0] += 3_600
        if number % 3 == 0:
            second.reward(decision.id, 1.0)
    clock[0] += 9 * 86_400
    second.decide("new")
    after = statistics(second)
    counts = sum(count for row in after.values() for count, _ in row.values())
    assert counts == pytest.approx(20 + 20)
    assert observable_state(second) == replayed_state(second)
    again = memory.open(name="second", clock=lambda: clock[0])
    assert observable_state(again) == observable_state(second)
    report = second.report()
    assert sum(pair.rewarded for row in report.contexts for pair in row.actions) <= 21
    assert report.inherited == pytest.approx(20)
    audit(second.store, "second")


def played(memory: AgentFactory, clock: Clock, **terms: Any) -> al.Agent:
    """Return a campaign whose 20 rewards have come after 2.5 days, of 60 decisions."""
    agent = memory.create(reward_window="14 days", clock=clock, horizon=200, budget=200, **terms)
    made = [agent.decide("new", available=["mail"]) for _ in range(60)]
    clock.now += 2.5 * 86_400
    agent.reward_many({decision.id: 1.0 for decision in made[:20]})
    clock.now += 20 * 86_400
    return agent


def came(agent: al.Agent, day: float) -> float:
    """Return the share of rewards that come by an age in days."""
    window = agent.look(lambda campaign: campaign.window)
    shares = window._cohorts.shares(agent.now())
    return float(np.interp(day * 86_400e6 / window.length, EDGES, shares))


def test_delays_of_rewards_are_inherited_at_the_weight_of_the_memory(
    factory: AgentFactory,
) -> None:
    """The bin of the third day has nearly all of the 20 rewards; half of them are inherited."""
    clock = Clock()
    first = played(factory, clock, default_rewards="learned")
    name = f"{first.name}-after"  # one database has the campaigns of all tests
    terms: dict[str, Any] = {"default_rewards": "learned", "clock": clock, "name": name}
    second = factory.create(**terms, reward_window="14 days", after=first.name, memory=0.5)
    delays = second.terms.inheritance.delays
    assert sum(delays) == pytest.approx(10)
    assert delays[EDGES.tolist().index(2 / 14)] > 8
    assert came(second, 2) < 0.2
    assert came(second, 3) > 0.75  # by the guess alone 0.38
    decision = second.decide("new")
    clock.now += 3 * 86_400
    second.reward(decision.id, 1.0)
    second.decide("new")
    assert observable_state(second) == replayed_state(second)
    again = factory.open(name=name, clock=clock)
    assert observable_state(again) == observable_state(second)
    audit(second.store, name)


@pytest.mark.parametrize(
    ("window", "least", "most"),
    [("14 days", 19.9, 20.1), ("5 days", 18, 20), ("2 days", 0.1, 2), ("15 days", 0, 0)],
)
def test_delays_are_those_of_the_window_of_the_new_campaign(
    window: str, least: float, most: float, memory: AgentFactory
) -> None:
    """Later ones are unknown to a longer window, and do not occur in a shorter one."""
    clock = Clock()
    first = played(memory, clock)
    second = memory.create(
        name="second", reward_window=window, after=first.name, memory=1, clock=clock
    )
    assert least <= sum(second.terms.inheritance.delays) <= most
    if most > 2:
        assert came(second, 2) < 0.2
        assert came(second, 3.1) > 0.75
    audit(second.store, "second")


def test_terms_from_before_delays_were_inherited_open(memory: AgentFactory) -> None:
    clock = Clock()
    first = played(memory, clock)
    second = memory.create(name="second", reward_window="14 days", after=first.name, clock=clock)
    terms = second.terms.to_dict()
    del terms["inherited"]["delays"]
    second.store.create("old", json.dumps(terms))
    old = memory.open(name="old", clock=clock)
    assert came(old, 3) < 0.5 < came(second, 3)
    audit(old.store, "old")
    terms["inherited"]["delays"] = [-1.0] * 18
    second.store.create("forged", json.dumps(terms))
    with pytest.raises(al.BrokenLedger, match="inherits delays of rewards that cannot be"):
        audit(second.store, "forged")


def test_a_reward_window_needs_a_range_that_begins_at_0(memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="needs a reward_range that begins at 0"):
        memory.create(reward_window="7 days", reward_range=(-50, 350))
    agent = memory.create(reward_window="7 days", reward_range=(0, 350))
    decision = agent.decide("new")
    agent.reward(decision.id, 35)
    assert agent.report().reward == 35.0
