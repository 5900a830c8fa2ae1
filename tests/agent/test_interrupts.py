"""Interrupts: wherever an exception strikes a call, the next one works, and nothing is lost."""

from __future__ import annotations


import pytest
from agents import Place, fold
from interrupts import elsewhere, interrupted

from almoner import mutex, turns
from almoner.audit import audit
from almoner.campaign import Campaign

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

STEPS = {"memory": 1, "sqlite": 2, "postgres": 7}
"""To connect to a server again takes ten times as long as to open a file again."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a lock whose owner was interrupted noticed at once."""
    for module in (mutex, turns):
        monkeypatch.setattr(module, "POLL", 0.001)
    monkeypatch.setattr("almoner.agent.SNAPSHOT_EVERY", 50)
    quick = ("journal_mode = WAL", "synchronous = OFF")
    monkeypatch.setattr("almoner.store.sqlite.SETTINGS", quick)


def test_after_an_interrupt_at_any_bytecode_the_next_call_works(place: Place) -> None:
    """From another thread, then from the same one with the same key; and the books balance."""
    points = elsewhere(lambda: interrupt_decisions(place, STEPS[place.kind]), 600)
    agent = place.open()
    keyed = [event for event in agent.events() if event.key]
    assert len(keyed) == points
    assert audit(agent.store, place.name).decisions == 2 * points
    assert points * STEPS[place.kind] > 100


def interrupt_decisions(place: Place, step: int) -> int:
    agent, second = place.create(horizon=10_000, budget=10_000), place.open()
    kept = None
    for points, error in enumerate(
        interrupted(lambda point: agent.decide("new", key=f"visit {point}"), step), 1
    ):
        kept = error
        other = elsewhere(lambda: agent.decide("returning"))
        again = agent.decide("new", key=f"visit {1 + step * (points - 1)}")
        assert other.id != again.id
    assert kept is None
    assert agent.look(Campaign.to_dict) == fold(agent)
    second.decide("new", key="a second connection")
    agent.decide("returning")
    return points + 1
