"""Strings and numbers of any type: the log has exact types, and its checksums hold."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from threading import Thread
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, refused, replay
from support.interrupts import elsewhere

from almoner import Agent, InvalidInput
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign


class Visit(StrEnum):
    """Members of an enumeration: str() gives the value."""

    NEW, MAIL, KEY, NAME = "new", "mail", "visit 1", "spring sale"


class OldVisit(str, Enum):  # noqa: UP042
    """Members of an enumeration: str() gives 'OldVisit.NEW'."""

    NEW, MAIL, KEY, NAME = "new", "mail", "visit 1", "spring sale"


class Text(str):
    """A subclass, as of templates that mark texts as safe."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Number(float):
    """A subclass."""


class Id(IntEnum):
    """The ids of two decisions."""

    FIRST, SECOND = 1, 2


PLAIN = (int, float, str, type(None))
TEXTS = [np.str_, Visit, OldVisit, Text]


def assert_plain(agent: Agent) -> None:
    """All values of the log are of exact types, its checksums hold, and a fold agrees."""
    events = [*agent.events()]
    assert {type(value) for event in events for value in event} <= {*PLAIN}
    report = audit(agent.store, agent.name)
    assert report.events == len(events)
    assert agent.look(Campaign.to_dict) == replay(agent)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_any_type_are_logged_as_texts(factory: AgentFactory, text: Any) -> None:
    agent = factory.create(new_contexts=True)
    first = agent.decide(text("new"), available=[text("mail")], key=text("visit 1"))
    assert agent.decide("new", key="visit 1") == first
    agent.decide_many(np.array(["new", "returning"]), keys=[text("visit 1"), None])
    agent.decide(text("spring sale"))  # a new context
    assert [(event.context, event.key) for event in agent.events()] == [
        ("new", "visit 1"),
        ("returning", None),
        ("spring sale", None),
    ]
    assert_plain(agent)
    assert factory.open().decide("new", key=text("visit 1")) == first


@pytest.mark.parametrize("text", TEXTS)
def test_terms_of_any_type_are_kept_as_texts(factory: AgentFactory, text: Any) -> None:
    name = f"{factory.name} {text.__name__}"
    terms = {
        "contexts": [text("new")],
        "actions": {text("mail"): {text("new"): np.int64(1)}},
        "default_rewards": {text("new"): np.float32(0.5)},
        "horizon": np.int64(10),
        "budget": np.float64(5),
        "seed": np.int64(1),
    }
    agent = factory.open(name=np.str_(name), **terms)
    agent.decide("new")
    assert agent.name == name
    assert type(agent.name) is str
    assert {type(one) for one in (*agent.terms.contexts, *agent.terms.actions)} == {str}
    assert_plain(agent)
    assert factory.open(name=name, **terms).terms == agent.terms


def test_a_campaign_is_called_by_the_value_of_a_member(memory: AgentFactory) -> None:
    for member in (Visit.NAME, OldVisit.NAME):
        assert memory.create(name=member).name == "spring sale"
    assert memory.store().campaigns() == ["spring sale"]


def test_numbers_of_any_type_are_logged_as_numbers(factory: AgentFactory) -> None:
    agent: Any = factory.create(budget=1000)
    values: list[Any] = [
        np.float64(0.5),
        np.float32(0.1),
        1,
        -0.0,
        Fraction(1, 3),
        Number(0.5),
        np.int8(1),
    ]
    for value in values:
        agent.reward(np.int64(agent.decide("new").id), value)
    assert [e.reward for e in agent.events() if e.kind == "rewarded"] == [*map(float, values)]
    costs: list[Any] = [
        np.float64(0.5),
        np.float32(0.5),
        Decimal("0.3"),
        Fraction(1, 3),
        np.int64(1),
        "0.25",
    ]
    for cost in costs:
        agent.settle(np.int32(agent.decide("new").id), cost=cost)
    agent.settle(Id.FIRST, cost=Number(0.5))
    agent.cancel(np.uint8(agent.decide("new").id))
    assert_plain(agent)
    for value in (True, np.True_, Decimal("0.5"), "0.5", None):
        with refused(agent, InvalidInput, "reward must be a number"):
            agent.reward(1, value)


def test_clocks_of_any_type_are_logged_as_whole_numbers(factory: AgentFactory) -> None:
    factory.create()
    agent = factory.open(clock=lambda: np.float64(1.5))
    agent.decide("new")
    assert next(agent.events()).at == 1_500_000
    assert_plain(agent)


def test_callers_who_share_a_transaction_need_not_have_the_same_types(
    factory: AgentFactory,
) -> None:
    agent = factory.create()
    contexts = [Visit.NEW, "new", np.str_("returning"), Text("new")] * 2
    threads = [Thread(target=agent.decide, args=(context,)) for context in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert elsewhere(lambda: agent.decide("new").id) == len(contexts) + 1
    assert_plain(agent)
