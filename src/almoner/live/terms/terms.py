"""Terms of a campaign: checked, money in whole units, to and from JSON.

`almoner.live.terms.parse_terms` makes them from the values that a person writes.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from almoner.errors import BrokenLedger
from almoner.live.terms.action import PerContext, in_context
from almoner.live.terms.inheritance import Inheritance
from almoner.live.terms.reward_scale import UNSCALED, RewardScale
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import in_words
from almoner.money import Denomination
from almoner.policy.base import Policy
from almoner.policy.contexts import TruncatedContexts
from almoner.policy.rewards import ExploreFirst

__all__ = [
    "CHARGE",
    "LEARNED",
    "PAIRS_LIMIT",
    "RELEASE",
    "ROWS",
    "SKIP_NAME",
    "Terms",
]

LEARNED = "learned"
"""The value of ``default_rewards`` if the rewards of skips are learned."""

LEAST_RISK = 1e-300
"""Risks below this count as this: one over them must be a finite number."""

PAIRS_LIMIT = 100_000
"""Largest number of contexts × actions: each costs memory and time in every decision."""

RELEASE, CHARGE = "release", "charge"
"""Values of ``on_expiry``: the action has cost nothing, or its reserve."""

ROWS = "rows"
"""The one context of a campaign on rows."""

SKIP_NAME = "skip"
"""The name of a skip in exports; no action may have it."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of a campaign, money in whole units of ``unit``.

    ``costs`` and ``reserves`` are by action, in the order of the actions. ``expires`` has the
    microseconds after which the reserve of an action ends, and ``charged`` the actions that have
    then cost their reserve; ``stopped`` actions are neither planned with nor taken.
    ``reward_window`` is the time within which rewards come, in microseconds; ``learns`` has the
    actions whose costs are learned, unless ``learn_cost`` says that all are. Known rewards of
    skips, ``default_rewards``, are in the kernels' [0, 1]. ``per_person`` has a number of actions
    and the microseconds in which they count. ``pace`` is ``"even"`` or has caps by period and a
    time zone; ``default`` is the action taken in place of skipping. Fields with a default are
    stored where they differ from it.

    ``after``, ``memory`` and ``prior`` are what was asked for; ``inherited`` holds the numbers that
    it came to: under ``pairs`` the count and the sum of rewards in [0, 1] by context and action, a
    skip included, under ``arrivals`` those of each context, and under ``delays`` rewards above 0 by
    their delay, where they are known.

    On rows, ``scores`` says that arrivals have scores, and ``features`` names those that they have.
    """

    contexts: tuple[str, ...]
    costs: dict[str, PerContext]
    reserves: dict[str, PerContext]
    horizon: int | ClosingTime
    budget: int
    policy: Policy
    unit: Denomination
    default_rewards: dict[str, float] | str | None
    new_contexts: bool
    seed: int
    expires: dict[str, int] = field(default_factory=dict)
    charged: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    per_person: tuple[int, int] | None = None
    holdout: float = 0.0
    explore: float = 0.0
    reward_window: int | None = None
    pace: dict[str, Any] | str | None = None
    default: str | None = None
    learn_cost: bool = False
    learns: tuple[str, ...] = ()
    risk: float = 0.0
    reward_range: tuple[float, float] | None = None
    currency: str | None = None
    after: str | None = None
    memory: float | None = None
    prior: dict[str, Any] | None = None
    inherited: dict[str, Any] | None = None
    scores: bool = False
    features: tuple[str, ...] = ()

    @cached_property
    def on_rows(self) -> bool:
        """Whether arrivals have scores or features instead of a named context."""
        return self.scores or bool(self.features)

    @cached_property
    def feature_names(self) -> frozenset[str]:
        """The names of the features."""
        return frozenset(self.features)

    @cached_property
    def active_names(self) -> frozenset[str]:
        """The names of the actions that can be taken."""
        return frozenset(self.active)

    @cached_property
    def scale(self) -> RewardScale:
        """The scale between rewards as people read them and the kernels' [0, 1]."""
        if self.reward_range is None:
            return UNSCALED
        return RewardScale(*self.reward_range, self.currency or "")

    @cached_property
    def inheritance(self) -> Inheritance:
        """The rewards and arrivals that the campaign begins with."""
        return Inheritance(self.inherited)

    @property
    def shown_defaults(self) -> dict[str, float] | str | None:
        """The rewards of skips as they were given, in the unit of rewards."""
        defaults, value = self.default_rewards, self.scale.value
        if not isinstance(defaults, dict):
            return defaults
        return {context: value(reward) for context, reward in defaults.items()}

    def default_in(self, context: str) -> float:
        """Return the known reward of a skip in [0, 1]; that of 0 if none is given.

        Where a default takes the place of skipping, actions are not compared with it.
        """
        if self.default is not None:
            return 0.0
        defaults = self.default_rewards
        return defaults[context] if isinstance(defaults, dict) else self.scale.zero

    @property
    def known_contexts(self) -> tuple[str, ...]:
        """The declared contexts, and inherited ones where undeclared contexts may arrive."""
        if self.inherited is None or not self.new_contexts:
            return self.contexts
        room = max(len(self.contexts), PAIRS_LIMIT // len(self.actions))
        return (*dict.fromkeys([*self.contexts, *self.inheritance.pairs]),)[:room]

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, those that were stopped included."""
        return tuple(self.costs)

    @cached_property
    def knows_persons(self) -> bool:
        """Whether a decision depends on the person."""
        return self.per_person is not None or self.holdout > 0

    @property
    def counts_rounds(self) -> bool:
        """Whether the policy tests its knowledge against the number of rounds."""
        rewards, contexts = self.policy.rewards, self.policy.contexts
        explores = isinstance(rewards, ExploreFirst) and rewards.test != "none"
        return explores or contexts == TruncatedContexts()

    @cached_property
    def spreads(self) -> bool:
        """Whether the probabilities of all actions are logged: with a hold-out or exploration."""
        return self.holdout > 0 or self.explore > 0

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the actions that can be taken."""
        return tuple(name for name in self.costs if name not in self.stopped)

    @cached_property
    def learned_costs(self) -> tuple[str, ...]:
        """The names of the actions whose costs are learned."""
        return self.actions if self.learn_cost else self.learns

    @property
    def expected_arrivals(self) -> float:
        """The arrivals in all: the horizon, or those that a closing time was declared with."""
        horizon = self.horizon
        return horizon.arrivals if isinstance(horizon, ClosingTime) else float(horizon)

    @property
    def evidence_of_risk(self) -> float:
        """log(1/risk), by which shared reserves are admitted; a finite number for every risk."""
        return math.log(1.0 / max(self.risk, LEAST_RISK))

    @property
    def window_in_words(self) -> str | None:
        """The reward window as a person writes it, None if there is none."""
        return None if self.reward_window is None else in_words(self.reward_window)

    def offers_in(self, context: str) -> list[tuple[str, int, int]]:
        """Return the active actions in a context: name, expected cost and reserve of each."""
        offers = zip(self.actions, self.costs_in(context), self.reserves_in(context), strict=True)
        return [offer for offer in offers if offer[0] not in self.stopped]

    def offers_at(
        self, context: str, offers: list[tuple[str, int, int]], costs: dict[str, int]
    ) -> list[tuple[str, int, int]]:
        """Return offers in a context at the costs that an arrival has of its own, by action.

        A reserve above the declared cost stays, unless the arrival's cost exceeds it; elsewhere
        the arrival's cost is reserved.
        """
        return [
            (name, costs[name], self._reserve_at(context, name, costs[name]))
            if name in costs
            else (name, cost, reserve)
            for name, cost, reserve in offers
        ]

    def _reserve_at(self, context: str, action: str, cost: int) -> int:
        """Return the reserve of an action for an arrival at which it costs this."""
        reserve = in_context(self.reserves[action], context)
        if reserve == in_context(self.costs[action], context):
            return cost
        return max(reserve, cost)

    def costs_in(self, context: str) -> list[int]:
        """Return the expected cost of each action in a context."""
        return [in_context(cost, context) for cost in self.costs.values()]

    def reserves_in(self, context: str) -> list[int]:
        """Return the reserve of each action in a context."""
        return [in_context(reserve, context) for reserve in self.reserves.values()]

    def opened(self, now: datetime) -> Terms:
        """Return the terms with a missing ``opens`` of a closing time set to ``now``."""
        if not isinstance(self.horizon, ClosingTime):
            return self
        return replace(self, horizon=self.horizon.opened(now))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = self._plain()
        return {term.name: values[term.name] for term in fields(self) if self._is_stored(term)}

    def changes_to(self, other: Terms) -> dict[str, Any]:
        """Return the plain values of the fields in which other terms differ from these."""
        before, after = self._plain(), other._plain()
        return {name: value for name, value in after.items() if value != before[name]}

    def amended(self, changes: dict[str, Any]) -> Terms:
        """Return the terms after `changes_to` others."""
        return Terms.from_dict({**self._plain(), **changes})

    def _plain(self) -> dict[str, Any]:
        """Return the plain values of all fields."""
        timed = isinstance(self.horizon, ClosingTime)
        values = {term.name: getattr(self, term.name) for term in fields(self)}
        return {
            **{name: [*v] if isinstance(v, tuple) else v for name, v in values.items()},
            "horizon": self.horizon.to_dict() if timed else self.horizon,  # type: ignore[union-attr]
            "policy": self.policy.to_dict(),
        }

    def _is_stored(self, term: Field[Any]) -> bool:
        """Return whether a field has no default, or a value other than it."""
        default = term.default if term.default_factory is MISSING else term.default_factory()
        return default is MISSING or getattr(self, term.name) != default

    @classmethod
    def from_json(cls, text: str) -> Terms:
        """Build terms from the JSON that a store keeps."""
        try:
            return cls.from_dict(json.loads(text))
        except ValueError as reason:
            raise BrokenLedger(
                f"the stored terms of the campaign cannot be read: {reason}"
            ) from None

    @classmethod
    def from_dict(cls, table: Any) -> Terms:
        """Build terms from the result of `to_dict`."""
        try:
            horizon = table["horizon"]
            timed = isinstance(horizon, dict)
            return cls(
                **{
                    **{name: _hashable(value) for name, value in table.items()},
                    "horizon": ClosingTime.from_dict(horizon) if timed else horizon,
                    "policy": Policy.from_dict(table["policy"]),
                    "unit": Denomination(*table["unit"]),
                }
            )
        except (KeyError, TypeError) as reason:
            raise BrokenLedger(
                f"the stored terms of the campaign cannot be read: {reason}"
            ) from None


def _hashable(value: Any) -> Any:
    """Return a tuple for a list of names."""
    return tuple(value) if isinstance(value, list) else value
