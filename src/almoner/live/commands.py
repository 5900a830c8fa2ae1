"""What can be asked of a campaign, and how each request is answered within a transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from almoner import checks
from almoner.errors import Conflict, InvalidInput
from almoner.live.campaign import RUNNING, Campaign
from almoner.live.decision import Decision, Settlement, is_id
from almoner.live.names import NAME_RULE, is_name
from almoner.live.transaction import Request, Turn
from almoner.store.events import CANCELLED, CLOSED, PAUSED, RESUMED, REWARDED, SETTLED, Event

__all__ = ["Cancel", "Decide", "Look", "Reward", "Settle", "Switch", "arrivals", "rewards"]

log = logging.getLogger("almoner")

REWARD_REMEDY = "scale rewards to [0, 1]; for yes and no give 1 and 0"


@dataclass(slots=True)
class Decide(Request):
    """Decide for one arrival; ``new`` says whether that had not been done with the same key."""

    context: Any
    available: Any = None
    key: Any = None
    new: bool = field(init=False, default=False, compare=False)
    event: Event | None = field(init=False, default=None, repr=False, compare=False)

    def mention(self, keys: set[str], ids: set[int]) -> None:
        """Add its key."""
        if self.key is not None:
            self.key = checks.plain(self.key)
            if is_name(self.key):
                keys.add(self.key)

    def check(self, turn: Turn) -> None:
        """Refuse unknown names, and a key that was used for something else."""
        self.context = turn.known(self.context)
        self.available = turn.campaign.known_actions(self.available)
        if self.key is None:
            return
        if not is_name(self.key):
            raise checks.refuse("key", f"be a text of {NAME_RULE}", self.key)
        turn.claim(self.key, self.context)

    def carry_out(self, turn: Turn) -> None:
        """Have it decided, unless it was with the same key."""
        event = None if self.key is None else turn.keyed(self.key)
        self.new = event is None
        if event is None:
            turn.arrive(self)
        else:
            self.event = event

    def answer(self, turn: Turn) -> Decision:
        """Return what was decided."""
        return Decision.of(self.event, turn.campaign.terms.unit)  # type: ignore[arg-type]


@dataclass(slots=True)
class _OfDecision(Request):
    id: Any
    event: Event | None = field(init=False, default=None, repr=False, compare=False)

    def mention(self, keys: set[str], ids: set[int]) -> None:
        """Add its decision."""
        if is_id(self.id):
            ids.add(int(self.id))

    def _decided(self, turn: Turn, verb: str) -> tuple[Event, dict[str, Event]]:
        history = turn.history(self.id)
        decided = next(iter(history.values()))
        if verb != REWARDED and decided.action is None:
            raise Conflict(f"decision {self.id} is a skip: it holds no money to be {verb}")
        if verb != CANCELLED and CANCELLED in history:
            raise Conflict(f"decision {self.id} was cancelled, so it cannot be {verb}")
        return decided, history

    def answer(self, turn: Turn) -> Settlement | None:
        """Return what became of the money."""
        return self.event and Settlement.of(self.event, turn.campaign.terms.unit)


@dataclass(slots=True)
class Settle(_OfDecision):
    """Replace what is held for an action by what it cost."""

    cost: Any

    def check(self, turn: Turn) -> None:
        """Refuse a bill that contradicts the log, or is none."""
        bill = turn.campaign.terms.unit.units_up("cost", self.cost)
        _, history = self._decided(turn, SETTLED)
        turn.name(self.id, SETTLED)
        if SETTLED in history and history[SETTLED].bill != bill:
            before = turn.campaign.terms.unit.amount(history[SETTLED].bill or 0)
            raise Conflict(
                f"decision {self.id} was settled at cost={before!r}, got cost={self.cost!r}; "
                "a settlement is final"
            )

    def carry_out(self, turn: Turn) -> None:
        """Settle, unless it was settled before."""
        money = turn.campaign.terms.unit
        decided, history = self._decided(turn, SETTLED)
        self.event = history.get(SETTLED)
        if self.event is None:
            bill = money.units_up("cost", self.cost)
            self.event = turn.follow_up(SETTLED, decided, bill=bill)
            if bill > (decided.reserve or 0):
                log.warning(
                    "decision %d cost %r, more than the %r held for it; %r was charged",
                    self.id,
                    money.amount(bill),
                    money.amount(decided.reserve or 0),
                    money.amount(self.event.charged or 0),
                )


@dataclass(slots=True)
class Reward(_OfDecision):
    """Say what an action, or a skip, has brought."""

    value: Any

    def check(self, turn: Turn) -> None:
        """Refuse a value out of range, or another than before."""
        self.value = checks.number("reward", self.value, low=0, high=1, remedy=REWARD_REMEDY)
        _, history = self._decided(turn, REWARDED)
        turn.name(self.id, REWARDED)
        if REWARDED in history and history[REWARDED].reward != self.value:
            raise Conflict(
                f"decision {self.id} was rewarded with {history[REWARDED].reward!r}, got "
                f"reward={self.value!r}; a reward is final"
            )

    def carry_out(self, turn: Turn) -> None:
        """Learn from it, once."""
        decided, history = self._decided(turn, REWARDED)
        if REWARDED not in history:
            turn.follow_up(REWARDED, decided, reward=self.value)


@dataclass(slots=True)
class Cancel(_OfDecision):
    """Take back an action that never happened."""

    def check(self, turn: Turn) -> None:
        """Refuse if the log says that it did happen."""
        _, history = self._decided(turn, CANCELLED)
        turn.name(self.id, CANCELLED)
        for done in (SETTLED, REWARDED):
            if done in history:
                raise Conflict(f"decision {self.id} was {done}, so it did happen; keep it")

    def carry_out(self, turn: Turn) -> None:
        """Refund it, once."""
        decided, history = self._decided(turn, CANCELLED)
        self.event = history.get(CANCELLED) or turn.follow_up(CANCELLED, decided)


@dataclass(slots=True)
class Switch(Request):
    """Pause, resume or close a campaign."""

    kind: str

    def check(self, turn: Turn) -> None:
        """Refuse to wake what was closed."""
        if self.kind not in (PAUSED, RESUMED, CLOSED):
            raise InvalidInput(f"a campaign cannot be {self.kind!r}")
        if turn.campaign.status == CLOSED and self.kind != CLOSED:
            raise Conflict("the campaign is closed for good; open another one")

    def carry_out(self, turn: Turn) -> None:
        """Switch, unless it is so already."""
        if turn.campaign.status != self._target:
            turn.switch(self.kind)

    def answer(self, turn: Turn) -> str:
        """Return what the campaign is now."""
        return self._target

    @property
    def _target(self) -> str:
        return RUNNING if self.kind == RESUMED else self.kind


@dataclass(slots=True)
class Look(Request):
    """Read something off a campaign while nobody changes it."""

    read: Callable[[Campaign], Any]
    found: Any = None

    def check(self, turn: Turn) -> None:
        """Read it, which changes nothing, but may fail."""
        turn.decide()
        self.found = self.read(turn.campaign)

    def carry_out(self, turn: Turn) -> None:
        """Do nothing more."""

    def answer(self, turn: Turn) -> Any:
        """Return what was read."""
        return self.found


def arrivals(contexts: Any, available: Any = None, keys: Any = None) -> list[Decide]:
    """Return the requests to decide for contexts in their order, each with its key if any."""
    names = checks.listed("contexts", contexts)
    given = [None] * len(names) if keys is None else checks.listed("keys", keys)
    if len(given) != len(names):
        raise checks.refuse("keys", f"hold {len(names)} keys, one for each context", given)
    allowed = list(available) if isinstance(available, Iterator) else available
    return [Decide(context, allowed, key) for context, key in zip(names, given, strict=True)]


def rewards(values: Any) -> list[Reward]:
    """Return the requests to take rewards, given by id."""
    if not isinstance(values, Mapping):
        raise checks.refuse("rewards", "be a table of values by id", values)
    return [Reward(decision, value) for decision, value in values.items()]
