"""Creating a campaign, resuming it, and every way in which that can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.agents import TERMS, AgentFactory, assert_sentence, observable_state

import almoner as al
from almoner.store import open_store


def test_a_campaign_is_created_and_resumed(factory: AgentFactory) -> None:
    first = factory.create()
    decision = first.decide("new")
    for again in (
        factory.open(),
        factory.create(),
        factory.open(budget=60, contexts=("new", "returning")),
    ):
        assert again.terms == first.terms
        assert observable_state(again) == observable_state(first)
        assert again.ledger.reserved == round(decision.reserved * 1e6)


def test_what_is_left_out_is_thrifty_in_millionths_and_random(memory: AgentFactory) -> None:
    one = memory.create(seed=None)
    two = memory.open(name="another", **{**TERMS, "seed": None})
    assert one.terms.policy == al.thrifty()
    assert tuple(one.terms.unit) == (1, 1_000_000)
    assert one.terms.seed != two.terms.seed  # 48 bits


def test_several_campaigns_in_one_store_do_not_meet(factory: AgentFactory) -> None:
    one, two = factory.create(), factory.create(name=factory.name + "-b", budget=7, seed=2)
    one.decide("new")
    assert two.ledger == (7_000_000, 0, 0, 0)
    assert list(two.events()) == []
    assert {one.name, two.name} <= set(one.store.campaigns())
    assert two.decide("returning").id == two.first_id + 1


def test_names_may_come_from_an_iterator(factory: AgentFactory) -> None:
    factory.create(contexts=iter(["new", "returning"]))
    factory.open(contexts=(name for name in ("new", "returning")))


def test_what_is_missing_is_named(factory: AgentFactory) -> None:
    with pytest.raises(al.UnknownCampaign, match="give contexts, actions, horizon, budget to cre"):
        factory.open()
    for term in ("contexts", "actions", "horizon", "budget"):
        for terms in ({**TERMS, term: None}, {k: v for k, v in TERMS.items() if k != term}):
            with pytest.raises(al.InvalidTerms, match=f"needs {term}; give it"):
                factory.open(**terms)
    with pytest.raises(al.InvalidTerms, match="needs horizon, budget"):
        factory.open(contexts=["a"], actions={"b": 1})
    assert factory.name not in factory.create(name=factory.name + "-other").store.campaigns()


def test_a_misspelt_term_is_refused(factory: AgentFactory) -> None:
    for _ in range(2):  # whether or not the campaign exists
        with pytest.raises(al.InvalidTerms, match="unknown key 'polcy'; did you mean 'policy'"):
            factory.create(polcy="thrifty")
        factory.create()


@pytest.mark.parametrize(
    "name", ["", "a/b", "a\nb", "a\0b", "x" * 201, None, 3, b"spring", "\ud800"]
)
def test_a_bad_name_is_refused(name: Any, memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="name must be a text of 1 to 200") as raised:
        memory.create(name=name)
    assert_sentence(raised.value)


@pytest.mark.parametrize(
    "name", ["x" * 200, "Frühling 2026 🌷", "'; DROP TABLE almoner_events; --"]
)
def test_an_odd_name_is_as_good_as_any(name: str, factory: AgentFactory) -> None:
    name = name[:190] + factory.name[-9:]
    decision = factory.create(name=name).decide("new")
    assert [event.seq for event in factory.open(name=name).events()] == [decision.id]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "sqlite:campaigns.db",
        "sqlite:///",
        "sqlite:///:memory:",
        "mysql://host/db",
        "file.db",
        None,
        3,
        b"m",
    ],
)
def test_a_wrong_url_says_how_to_write_one(url: Any) -> None:
    for function in (open_store, lambda url: al.Agent.open(url, name="spring", **TERMS)):
        with pytest.raises(al.InvalidInput, match="write memory:, sqlite:///path") as raised:
            function(url)
        assert_sentence(raised.value)


def test_a_path_is_not_a_url_but_says_so(tmp_path: Path) -> None:
    with pytest.raises(al.InvalidInput, match="write memory:, sqlite:///path"):
        al.Agent.open(tmp_path / "campaigns.db", name="spring", **TERMS)  # type: ignore[arg-type]


def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, whatever its name says " * 50)
    for url, match in (
        (f"sqlite:///{tmp_path}/no/such/folder.db", "there is no folder .*create it first"),
        (f"sqlite:///{tmp_path}", "is a folder; name a file"),
        (f"sqlite:///{tmp_path}/text.db", "not a database"),
        (f"postgresql://nobody@/none?host={tmp_path}", "PostgreSQL store failed"),
    ):
        with pytest.raises(al.StoreError, match=match) as raised:
            al.Agent.open(url, name="spring", **TERMS)
        assert_sentence(raised.value)


def test_a_password_is_not_repeated_in_an_error() -> None:
    with pytest.raises(al.InvalidInput) as raised:
        open_store("postgressql://ann:secret@db.example/shop")
    assert "secret" not in str(raised.value)
    assert "db.example" in str(raised.value)


def test_stored_terms_that_cannot_be_read_are_a_broken_ledger(memory: AgentFactory) -> None:
    terms = memory.create().terms.to_dict()
    broken = ["", "{", "[]", "{}", json.dumps({**terms, "unit": None}), json.dumps({"x": 1})]
    for text in broken:
        store = open_store("memory:")
        store.create("spring", text)
        with pytest.raises(al.BrokenLedger, match="terms of the campaign cannot be read") as raised:
            al.Agent.open(store, name="spring")
        assert_sentence(raised.value)


def test_an_action_that_can_never_be_taken_is_mentioned(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    dear = al.Action(cost=1, reserve=100)
    here = al.Action(cost={"new": 80, "returning": 2})
    memory.create(actions={"mail": 1, "dear": dear, "here": here}, budget=60)
    assert [record.getMessage() for record in caplog.records] == [
        "action 'dear' can never be taken: it needs 100.0, and the budget is 60.0"
    ]


def test_an_action_above_a_cap_is_mentioned(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.create(actions={"mail": 1, "gift": 7}, pace={"day": 30, "hour": 6.5})
    assert [record.getMessage() for record in caplog.records] == [
        "action 'gift' can never be taken: it needs 7.0, and the cap of its hour is 6.5"
    ]


def test_means_of_a_prior_that_are_not_used_are_mentioned(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    means = {"new": {"mail": 0.1, "mial": 0.2, "skip": 0.1}, "old": {"mail": 0.2}}
    memory.create(prior=al.Prior(means=means))
    assert [record.getMessage() for record in caplog.records] == [
        "the prior mean of 'mial' for 'new' and 2 more is not used: the campaign has no such "
        "context, or does not learn such an action"
    ]
    caplog.clear()
    memory.open()
    used = al.Prior(means={"new": {"mail": 0.1, "skip": 0.1}, "later": {"mail": 0.1}})
    memory.create(name="b", prior=used, default_rewards="learned", new_contexts=True)
    assert not caplog.records


@pytest.mark.parametrize(
    "terms", [{}, {**TERMS, "budget": -1}, {**TERMS, "policy": "zz"}, {**TERMS, "budgets": 1}]
)
def test_a_refused_campaign_leaves_no_store(tmp_path: Path, terms: dict[str, Any]) -> None:
    with pytest.raises(al.AlmonerError) as raised:
        al.Agent.open(f"sqlite:///{tmp_path / 'typo.db'}", name="spring", **terms)
    assert_sentence(raised.value)
    assert list(tmp_path.iterdir()) == []
