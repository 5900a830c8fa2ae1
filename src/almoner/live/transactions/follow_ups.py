"""Commands on decisions: settle, reward, cancel; each once, and the same again changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from almoner import checks
from almoner.errors import Conflict, InvalidInput
from almoner.live.decision import Settlement, plain_id
from almoner.live.rewards.reward_window import SILENCE
from almoner.live.terms.names import is_name
from almoner.live.terms.terms import CHARGE, RELEASE
from almoner.live.times.durations import in_words
from almoner.live.transactions.transaction import Command, Transaction
from almoner.store.events import CANCELLED, EXPIRED, REWARDED, SETTLED, Event

__all__ = ["Cancel", "Reward", "Settle", "rewards"]

log = logging.getLogger("almoner")


@dataclass(slots=True)
class _FollowUp(Command):
    """A command on a decision; ``event`` records it, or an earlier one that did the same."""

    id: Any
    key: Any = field(default=None, kw_only=True)
    decided: Event | None = field(init=False, default=None, repr=False, compare=False)
    event: Event | None = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Here, before it shares a transaction: methods of other types may raise anything.
        if type(self.id) is not int:
            self.id = plain_id(self.id)
        self.key = checks.plain(self.key)
        if (self.key is None) == (self.id is None):
            raise InvalidInput(
                f"a decision is given by its id or by its key, got id={self.id!r} and "
                f"key={self.key!r}; give one of them"
            )

    def look_up(self, transaction: Transaction) -> None:
        """Add the decision, or its key."""
        if is_name(self.key):
            transaction.references.wanted_keys.add(self.key)
            transaction.references.followed_keys.add(self.key)
        seq = transaction.ids.seq(self.id)
        if seq is not None:
            transaction.references.wanted_decisions.add(seq)

    def _claim(self, transaction: Transaction, kind: str) -> dict[str, Event]:
        """Find the decision, refuse a ``kind`` of event that it cannot have; return its history.

        Nothing else in the batch can add an event of this kind, so the history is also the one
        that `carry_out` needs.
        """
        if self.key is not None:
            self.id = transaction.id_of_key(self.key)
        history = transaction.references.history(self.id)
        self.decided = next(iter(history.values()))
        if kind != REWARDED and self.decided.action is None:
            raise Conflict(f"decision {self.id} is a skip: it has no reserve to be {kind}")
        if kind != CANCELLED and CANCELLED in history:
            raise Conflict(f"decision {self.id} was cancelled, so it cannot be {kind}")
        if kind == CANCELLED and EXPIRED in history:
            raise Conflict(
                f"the reserve of decision {self.id} has expired, so it cannot be cancelled; if it "
                "has cost nothing, settle it with cost=0"
            )
        transaction.references.claim_decision(self.id, kind)
        self.event = history.get(kind)
        return history

    def _follow_up(self, transaction: Transaction, kind: str, **values: Any) -> Event:
        self.event = transaction.follow_up(kind, self.decided, **values)  # type: ignore[arg-type]
        return self.event

    def answer(self, transaction: Transaction) -> Settlement | None:
        """Return the settlement of the reserve."""
        unit, first = transaction.campaign.terms.unit, transaction.ids.first
        return self.event and Settlement.of(self.event, unit, first)


@dataclass(slots=True)
class Settle(_FollowUp):
    """Replace the reserve of an action by its actual cost."""

    cost: Any
    bill: int = field(init=False, default=0, repr=False, compare=False)
    ended: str | None = field(init=False, default=None, repr=False, compare=False)
    paid: int | None = field(init=False, default=None, repr=False, compare=False)

    def check(self, transaction: Transaction) -> None:
        """Refuse an invalid cost, and a cost other than the one recorded before."""
        unit = transaction.campaign.terms.unit
        self.bill = unit.units_up("cost", self.cost)
        history = self._claim(transaction, SETTLED)
        if EXPIRED in history:
            self.ended = CHARGE if history[EXPIRED].bill else RELEASE
            self.paid = history[EXPIRED].charged or 0
        if self.event is not None and self.event.bill != self.bill:
            before = unit.amount(self.event.bill or 0)
            raise Conflict(
                f"decision {self.id} was settled at cost={before!r}, got cost={self.cost!r}; "
                "a settlement is final"
            )

    def carry_out(self, transaction: Transaction) -> None:
        """Settle, unless it was settled before; warn of an overrun."""
        if self.event is not None:
            return
        event = self._follow_up(
            transaction, SETTLED, bill=self.bill, ended=self.ended, paid=self.paid
        )
        reserve = 0 if self.ended == RELEASE else event.reserve or 0
        if self.bill > reserve:
            amount = transaction.campaign.terms.unit.amount
            log.warning(
                "decision %d cost %r, more than the %r reserved for it; %r was charged",
                self.id,
                amount(self.bill),
                amount(reserve),
                amount(event.charged or 0),
            )


@dataclass(slots=True)
class Reward(_FollowUp):
    """Record the reward of an action or a skip."""

    value: Any
    unit: float = field(init=False, default=0.0, repr=False, compare=False)
    is_silence: bool = field(init=False, default=False, repr=False, compare=False)

    def check(self, transaction: Transaction) -> None:
        """Refuse a value out of range, and a value other than the one recorded before."""
        scale = transaction.campaign.terms.scale
        self.unit = scale.reward(self.value)
        self._claim(transaction, REWARDED)
        self._refuse_late(transaction)
        before = None if self.event is None else scale.value(self.event.reward or 0.0)
        if before is not None and before != scale.value(self.unit):
            raise Conflict(
                f"decision {self.id} was rewarded with {before!r}, got "
                f"reward={scale.value(self.unit)!r}; a reward is final"
            )

    def _refuse_late(self, transaction: Transaction) -> None:
        """Refuse a reward that comes when its window has ended, unless it says the same."""
        window, event = transaction.campaign.window, self.event
        if window is None or (event is not None and event.reward == self.unit):
            return
        end = self.decided.at + window.length  # type: ignore[union-attr]
        self.is_silence = event is None and transaction.now >= end and self.unit == 0.0
        if self.is_silence:  # of a skip, for which the campaign records none
            return
        if event.reason == SILENCE if event is not None else transaction.now >= end:
            ended = datetime.fromtimestamp(end / 1e6, UTC).isoformat(timespec="seconds")
            raise Conflict(
                f"the reward window of decision {self.id} ended at {ended}, "
                f"{in_words(window.length)} after it, so its reward is 0, got "
                f"reward={self.value!r}; tell rewards within the window"
            )

    def carry_out(self, transaction: Transaction) -> None:
        """Learn from the reward, once."""
        if self.event is None and not self.is_silence:
            self._follow_up(transaction, REWARDED, reward=self.unit)

    def answer(self, transaction: Transaction) -> None:
        """Return None: a reward moves no money."""


@dataclass(slots=True)
class Cancel(_FollowUp):
    """Cancel an action that never happened."""

    def check(self, transaction: Transaction) -> None:
        """Refuse if the action was settled or rewarded, so that it did happen."""
        history = self._claim(transaction, CANCELLED)
        for kind in (SETTLED, REWARDED):
            if kind in history:
                raise Conflict(f"decision {self.id} was {kind}, so it did happen; keep it")

    def carry_out(self, transaction: Transaction) -> None:
        """Release the reserve, once."""
        if self.event is None:
            self._follow_up(transaction, CANCELLED)


def rewards(values: Any) -> list[Reward]:
    """Return the commands to record rewards, given by decision id or key."""
    if not isinstance(values, Mapping):
        raise checks.refuse("rewards", "be a table of values by id", values)
    return [
        Reward(None, value, key=decision) if isinstance(decision, str) else Reward(decision, value)
        for decision, value in values.items()
    ]
