"""Policy: a frozen product of four parts, without state, randomness or budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.policy import allocation, contexts, priors, rewards, rows
from almoner.policy.allocation import AllocationRule, Procrastinate, SkipAlways
from almoner.policy.contexts import ContextKnowledge, NoContexts
from almoner.policy.priors import NoPrior, PriorKnowledge
from almoner.policy.rewards import (
    ExploreFirst,
    HorizonUCB,
    InsuredWilson,
    KnownRewards,
    RewardKnowledge,
    Wilson,
)

__all__ = ["Policy"]

PARTS: dict[str, tuple[type[Any], dict[str, type[Any]]]] = {
    axis: (
        kind,
        {
            name: part
            for name in module.__all__
            if isinstance(part := getattr(module, name), type) and part is not kind
        },
    )
    for axis, kind, module in (
        ("rewards", RewardKnowledge, rewards),
        ("contexts", ContextKnowledge, contexts),
        ("allocation", AllocationRule, allocation),
        ("prior", PriorKnowledge, priors),
    )
}
"""All parts, by axis and name."""

ROW_PARTS: dict[str, dict[str, type[Any]]] = {
    axis: {name: part for name in rows.__all__ if issubclass(part := getattr(rows, name), kind)}
    for axis, (kind, _) in PARTS.items()
}
"""The parts of policies on rows, by axis and name; they go with one another only."""

OPTIONAL = {"prior": NoPrior()}
"""Axes that a table may leave out, with the part that it then stands for."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Policy:
    """A policy: reward knowledge × context knowledge × allocation rule × prior.

    On rows the parts are `GivenScores` or `LinearModel`, `Market`, and `Priced` or one of the rules
    that people use instead: `DualDescent`, `PIDPacing`, `EMAPacing`, `Unpriced`, `FixedRate`.

    Parameters
    ----------
    rewards
        The index of each pair: `KnownRewards`, `UCB`, `KLUCB`, `LogPlus`, `Thompson`, `Wilson`,
        `InsuredWilson`, `HorizonUCB`, `ExploreFirst`, `EmpiricalMean`.
    contexts
        The weight of each context: `KnownContexts`, `EmpiricalContexts`, `TruncatedContexts`,
        `NoContexts`.
    allocation
        The probability of serving an arrival: `AdaptiveLP`, `FixedLP`, `Procrastinate`,
        `RoundedLP`, `EagerRounding`, `SkipAlways`.
    prior
        What the rewards of other pairs say about a pair: `NoPrior`, `Pooled`.

    Examples
    --------
    >>> from almoner import AdaptiveLP, KnownContexts, UCB, ucb_alp
    >>> policy = Policy(rewards=UCB(width=0.5), contexts=KnownContexts(), allocation=AdaptiveLP())
    >>> policy == ucb_alp() == eval(repr(policy)) == Policy.from_json(policy.to_json())
    True
    """

    rewards: RewardKnowledge
    contexts: ContextKnowledge
    allocation: AllocationRule
    prior: PriorKnowledge = OPTIONAL["prior"]

    def __post_init__(self) -> None:
        for axis, (_, parts) in PARTS.items():
            part = getattr(self, axis)
            if type(part) not in (*parts.values(), *ROW_PARTS[axis].values()):
                rule, remedy = f"be one of {', '.join(parts)}", checks.uncalled(part)
                raise checks.refuse(axis, rule, part, remedy, InvalidPolicy)
        if self.on_rows:
            self._refuse_mixture()
            return
        weightless = isinstance(self.contexts, NoContexts)
        if weightless and not isinstance(self.allocation, (Procrastinate, SkipAlways)):
            raise InvalidPolicy(
                f"{_name(self.allocation)} weighs contexts, so it needs to know of them; "
                "give contexts=KnownContexts() or EmpiricalContexts() instead of NoContexts()"
            )
        if weightless and isinstance(
            self.rewards, (Wilson, HorizonUCB, InsuredWilson, ExploreFirst)
        ):
            raise InvalidPolicy(
                f"{_name(self.rewards)} needs each context's share of the rounds; "
                "give contexts=EmpiricalContexts() instead of NoContexts()"
            )
        if isinstance(self.allocation, Procrastinate) and not weightless:
            raise InvalidPolicy(
                "Procrastinate ranks contexts and never weighs them, so knowledge of their "
                f"probabilities would be ignored, got contexts={self.contexts!r}; "
                "give contexts=NoContexts()"
            )
        fixed = isinstance(self.rewards, (KnownRewards, ExploreFirst))
        if fixed and not isinstance(self.prior, NoPrior):
            raise InvalidPolicy(
                f"{_name(self.rewards)} takes its means from nowhere else, so that a prior would "
                f"be ignored, got prior={self.prior!r}; leave prior out"
            )

    @property
    def on_rows(self) -> bool:
        """Whether the policy decides on rows: scores or features instead of named contexts."""
        return any(type(part) in ROW_PARTS[axis].values() for axis, part in self._parts())

    def _refuse_mixture(self) -> None:
        """Refuse parts on rows together with others."""
        for axis, part in self._parts():
            known = ROW_PARTS[axis]
            if known and type(part) not in known.values():
                rule = f"be one of {', '.join(known)} beside parts on rows"
                raise checks.refuse(axis, rule, part, error=InvalidPolicy)
            if not known and part != OPTIONAL[axis]:
                raise checks.refuse(axis, "be left out on rows", part, error=InvalidPolicy)

    def __repr__(self) -> str:
        parts = [f"{axis}={part!r}" for axis, part in self._parts() if part != OPTIONAL.get(axis)]
        return f"Policy({', '.join(parts)})"

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the parts as dictionaries, each with its ``kind`` and its parameters.

        Parts that a table may leave out are left out.
        """
        return {
            axis: {"kind": _name(part), **asdict(part)}
            for axis, part in self._parts()
            if part != OPTIONAL.get(axis)
        }

    @classmethod
    def from_dict(cls, table: Any) -> Policy:
        """Build a policy from the result of `to_dict`; unknown names are refused."""
        if not isinstance(table, Mapping):
            rule, remedy = "be a table of its parts", checks.uncalled(table)
            raise checks.refuse("a policy", rule, table, remedy, InvalidPolicy)
        required = [axis for axis in PARTS if axis not in OPTIONAL]
        checks.known_keys(
            "the policy", table, required=required, optional=[*OPTIONAL], error=InvalidPolicy
        )
        built: dict[str, Any] = {}
        for axis, (_, named) in PARTS.items():
            if axis not in table:
                continue
            parts = {**named, **ROW_PARTS[axis]}
            entry = dict(table[axis]) if isinstance(table[axis], Mapping) else {}
            kind = checks.choice(
                f"{axis} kind", entry.pop("kind", None), parts, error=InvalidPolicy
            )
            names = [field.name for field in fields(parts[kind])]
            checks.known_keys(kind, entry, required=(), optional=names, error=InvalidPolicy)
            built[axis] = parts[kind](**entry)
        return cls(**built)

    def to_json(self) -> str:
        """Return the policy as one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Build a policy from the result of `to_json`."""
        try:
            table = json.loads(text)
        except ValueError as error:
            raise InvalidPolicy(f"a policy must be valid JSON: {error}") from None
        return cls.from_dict(table)

    def _parts(self) -> list[tuple[str, Any]]:
        return [(axis, getattr(self, axis)) for axis in PARTS]


def _name(part: object) -> str:
    return type(part).__name__
