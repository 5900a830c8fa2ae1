"""Types of JSON request bodies with the terms of a campaign, or changes of them.

Unknown fields and strings in place of numbers are rejected. The library checks the rules that no
type can express: whole numbers of units, known contexts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from almoner.errors import InvalidTerms
from almoner.live.terms.action import Action
from almoner.live.terms.pace import Pace
from almoner.live.terms.per_person import PerPerson
from almoner.live.terms.prior import WEIGHT, Prior
from almoner.live.terms.terms import LEARNED, PAIRS_LIMIT
from almoner.live.times.closing_time import ClosingTime
from almoner.live.transactions.commands import NOTE_LIMIT
from almoner.policy.base import Policy
from almoner.service.api.described_terms import describe_terms
from almoner.service.api.fields import (
    WHOLE_LIMIT,
    Amount,
    Cost,
    Currency,
    Duration,
    Moment,
    Name,
    Names,
    Share,
    Whole,
)

__all__ = [
    "ActionTerms",
    "Closing",
    "Guess",
    "NewCampaign",
    "PaceCaps",
    "PersonLimit",
    "PriorMeans",
    "TermChanges",
]


class Closing(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A closing time with a forecast of the arrivals.

    Attributes
    ----------
    at, opens
        The end and the beginning, with their time zone; without the latter, it opens when it is
        created.
    arrivals
        The arrivals that are expected between them.
    profile
        Pairs of a time and the share of arrivals that has come by then; a straight line if empty.
    trust
        The number of arrivals that the forecast is worth beside those that come; null never
        corrects it.
    """

    at: Moment
    arrivals: Cost
    opens: Moment | None = None
    profile: list[tuple[Moment, Share]] = []
    trust: Amount | None = 100.0

    def closing_time(self) -> ClosingTime:
        """Return the closing time of the library."""
        return ClosingTime.from_dict({name: getattr(self, name) for name in self.__struct_fields__})


class ActionTerms(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The expected cost of an action, and its reserve.

    Attributes
    ----------
    cost
        The expected cost, one for all contexts or one for each; may be 0.
    reserve
        The most that it can cost, if that is more: it is set aside until the action is settled.
    expires
        The time after which a reserve ends by itself; None for never.
    on_expiry
        What becomes of it then: it is released, as when this is left out, or charged.
    learn_cost
        Whether the expected cost is learned from the bills; the cost given is worth 50 of them.
    """

    cost: Amount | dict[Name, Amount]
    reserve: Amount | dict[Name, Amount] | None = None
    expires: Duration | None = None
    on_expiry: Literal["release", "charge"] | None = None
    learn_cost: bool | None = None

    def action(self) -> Action:
        """Return the action of the library."""
        return Action(**{name: getattr(self, name) for name in self.__struct_fields__})


class PaceCaps(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The most that may be spent in a calendar hour, day and week of a time zone.

    Attributes
    ----------
    hour, day, week
        The caps, one of them at least.
    zone
        The name of the time zone, such as Europe/Berlin.
    """

    hour: Cost | None = None
    day: Cost | None = None
    week: Cost | None = None
    zone: Annotated[Name, Meta(examples=["Europe/Berlin"])] = "UTC"

    def pace(self) -> Pace:
        """Return the pace of the library."""
        return Pace(**{name: getattr(self, name) for name in self.__struct_fields__})


class PriorMeans(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Expected mean rewards by context and action, and the number of rewards they count for.

    The action skip is for skipping, where its reward is learned.
    """

    means: dict[Name, dict[Name, float]]
    weight: Amount | dict[Name, dict[Name, Amount]] = WEIGHT


class PersonLimit(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The most actions for one person in a time, such as 30 days."""

    actions: Whole
    every: Duration

    def per_person(self) -> PerPerson:
        """Return the limit of the library."""
        return PerPerson(actions=int(self.actions), every=self.every)


class _CampaignTerms(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    contexts: Names | None = None
    actions: Annotated[dict[Name, Amount | ActionTerms], Meta(min_length=1, max_length=1_000)]
    horizon: Whole | Closing
    budget: Amount
    policy: Name | dict[str, Any] = "thrifty"
    unit: Cost | None = None
    default_rewards: dict[Name, float] | Literal["learned"] | None = None
    new_contexts: bool = False
    reward_window: Duration | None = None
    learn_cost: bool = False
    risk: Annotated[float, Meta(ge=0, le=0.5, examples=[0.01])] = 0.0
    seed: Annotated[float, Meta(ge=0, lt=WHOLE_LIMIT, multiple_of=1)] | None = None
    reward_range: Annotated[tuple[float, float], Meta(examples=[[0, 350]])] | None = None
    currency: Currency | None = None
    after: Annotated[Name, Meta(examples=["week-46"])] | None = None
    memory: Annotated[Share, Meta(examples=[0.75])] | None = None
    prior: PriorMeans | None = None
    pace: PaceCaps | Literal["even"] | None = None
    default: Name | None = None
    per_person: PersonLimit | None = None
    holdout: Annotated[float, Meta(ge=0, le=0.9, examples=[0.1])] = 0.0
    explore: Annotated[Share, Meta(examples=[0.02])] = 0.0
    scores: bool = False
    features: Names | None = None

    @property
    def on_rows(self) -> bool:
        """Whether arrivals come with scores or features in place of a context."""
        return self.scores or self.features is not None

    def terms(self) -> dict[str, Any]:
        """Return the terms as `almoner.Agent.open` takes them."""
        contexts = len(self.contexts or ())
        if contexts * len(self.actions) > PAIRS_LIMIT:
            raise InvalidTerms(
                f"contexts × actions must be at most {PAIRS_LIMIT:,}, got {contexts:,} × "
                f"{len(self.actions):,}; merge some of them"
            )
        return {
            "contexts": self.contexts,
            "actions": {name: _action(action) for name, action in self.actions.items()},
            "horizon": self.horizon.closing_time()
            if isinstance(self.horizon, Closing)
            else self.horizon,
            "budget": self.budget,
            "policy": Policy.from_dict(self.policy)
            if isinstance(self.policy, dict)
            else None
            if self.on_rows and self.policy == "thrifty"  # the default, of campaigns with contexts
            else self.policy,
            "unit": self.unit,
            "default_rewards": LEARNED if self.default_rewards == LEARNED else self.default_rewards,
            "new_contexts": self.new_contexts,
            "reward_window": self.reward_window,
            "learn_cost": self.learn_cost,
            "risk": self.risk,
            "seed": self.seed,
            "reward_range": self.reward_range,
            "currency": self.currency,
            "after": self.after,
            "memory": self.memory,
            "prior": None
            if self.prior is None
            else Prior(means=self.prior.means, weight=self.prior.weight),
            "pace": self.pace.pace() if isinstance(self.pace, PaceCaps) else self.pace,
            "default": self.default,
            "per_person": None if self.per_person is None else self.per_person.per_person(),
            "holdout": self.holdout,
            "explore": self.explore,
            "scores": self.scores,
            "features": self.features,
        }


def _action(action: float | ActionTerms) -> float | Action:
    return action.action() if isinstance(action, ActionTerms) else action


class TermChanges(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Changes of a running campaign; what is left out stays as it is.

    Attributes
    ----------
    budget
        The amount that may be spent in all: not less than is spent and reserved.
    horizon
        The number of arrivals in all, for a campaign that has one: not less than have come.
    closes
        The new end, for a campaign with a closing time.
    arrivals
        The arrivals expected from the opening to the end; left out, they go on at their mean rate.
    add
        New actions with their costs.
    stop, restart
        Names of actions that are no longer taken, or taken again.
    costs
        New costs by action; an object if the reserve or the expiry change too.
    note
        Why the campaign is changed; the log keeps it.
    """

    budget: Amount | None = None
    horizon: Whole | None = None
    closes: Moment | None = None
    arrivals: Cost | None = None
    add: Annotated[dict[Name, Amount | ActionTerms], Meta(max_length=1_000)] | None = None
    stop: Annotated[list[Name], Meta(max_length=1_000)] | None = None
    restart: Annotated[list[Name], Meta(max_length=1_000)] | None = None
    costs: Annotated[dict[Name, Amount | ActionTerms], Meta(max_length=1_000)] | None = None
    note: Annotated[str, Meta(min_length=1, max_length=NOTE_LIMIT)] | None = None

    def changes(self) -> dict[str, Any]:
        """Return the changes as `almoner.Agent.amend` takes them."""
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name != "note"}
        for name in ("add", "costs"):
            if values[name] is not None:
                values[name] = {action: _action(terms) for action, terms in values[name].items()}
        return values


@describe_terms
class NewCampaign(_CampaignTerms, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The terms of a campaign."""

    name: Name


@describe_terms
class Guess(_CampaignTerms, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The terms of a campaign to preview, with guesses of its statistics.

    Without guesses, the means are those of the prior and of the campaign before, if any; else all
    contexts are equally likely, every action has a mean reward in the middle of its range, and
    skipping, where its reward is learned, 0.
    """

    name: Name | None = None
    context_probs: dict[Name, Share] | None = None
    reward_means: dict[Name, dict[Name, float]] | None = None
    default_means: dict[Name, float] | None = None
