"""Reference model of a campaign with a pace, a default action, a hold-out, persons or a risk.

Like `support.money_model`, it checks answers and decides nothing: caps and the line of an even
spend are recomputed from all entries, and persons are counted by their names.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

import almoner as al
from support.money_model import Entry, MoneyModel

__all__ = ["RuledModel", "Rules"]


@dataclass(frozen=True)
class Rules:
    """Rules of a campaign: caps by period and amounts in cents, ``actions`` of a person a day."""

    caps: dict[str, int] = field(default_factory=dict)
    even: bool = False
    default: str | None = None
    holdout: float = 0.0
    explore: float = 0.0
    actions: int | None = None
    risk: float = 0.0


class RuledModel(MoneyModel):
    """Expected balances and reasons of a campaign with rules."""

    rules = Rules()

    def __init__(self, rules: Rules, **terms: object) -> None:
        super().__init__(**terms)  # type: ignore[arg-type]
        self.rules = rules
        self.person: str | None = None
        self.acted: dict[str, list[Entry]] = defaultdict(list)
        self.held_out: dict[str, bool] = {}

    @property
    def left(self) -> int:
        """Amount that can be reserved; with a risk, amount not expected to be spent."""
        if not self.rules.risk:
            return super().left
        return max(0, self.budget - self.spent - self.planned)

    @property
    def payable(self) -> int:
        """Amount that a bill without a reserve may charge: with a risk, all that is not spent."""
        return self.budget - self.spent if self.rules.risk else self.left

    def decided_for(
        self,
        person: str | None,
        decision: al.Decision,
        available: list[str] | None,
        key: str | None,
    ) -> None:
        """Apply a decision for a person."""
        known, self.person = len(self.entries), person
        self.decided(decision, available, key)
        if person is None or len(self.entries) == known:
            return
        if decision.action is not None:
            self.acted[person].append(self.entries[decision.id])
        if self.status == "running" and decision.reason not in ("horizon", "person"):
            held = decision.reason == "holdout"
            assert self.held_out.setdefault(person, held) == held

    def has_enough(self) -> bool:
        """Return whether the present person has had all actions of a day."""
        if self.rules.actions is None or self.person is None:
            return False
        counted = [
            entry
            for entry in self.acted[self.person]
            if not entry.cancelled and entry.at > self.now - 86_400
        ]
        return len(counted) >= self.rules.actions

    def forgotten(self, person: str) -> None:
        """Forget the actions of a person."""
        self.acted.pop(person, None)

    def room(self, context: str, action: str) -> bool:
        """Return whether the caps and the line of an even spend leave room for an action."""
        reserve, cost = self.reserves[action][context], self.costs[action][context]
        fits = all(reserve <= max(0, cap - self._used(p)) for p, cap in self.rules.caps.items())
        if self.rules.even and not self._is_no_dearer(context, action):
            line = min(1.0, max(1.2 * min(1.0, (self.counted + 1) / self.horizon), 0.01))
            fits = fits and cost + self.spent + self.planned <= line * self.budget + 1e-6
        return fits

    def _is_no_dearer(self, context: str, action: str) -> bool:
        """Return whether an action costs and reserves no more than the default."""
        default = self.rules.default
        return default is not None and all(
            table[action][context] <= table[default][context]
            for table in (self.costs, self.reserves)
        )

    def check_action(self, decision: al.Decision, reserve: int, cost: int) -> None:
        """Check the money of an action, of its period, and of the defaults to come."""
        assert not self.has_enough()
        if self.person is not None:
            assert not self.held_out.get(self.person, False)
        if not self.rules.risk:
            super().check_action(decision, reserve, cost)
        assert self.room(decision.context, decision.action or "")
        default = self.rules.default
        coming = self.horizon - self.counted - 1
        if default is not None and coming > 0:
            costs, own = self.costs[default], self.reserves[default]
            if reserve > own[decision.context] or cost > costs[decision.context]:
                aside = max(costs.values()) * (coming - 1) + max(own.values())
                assert reserve <= self.left - aside

    def check_skip(self, decision: al.Decision, allowed: list[str]) -> None:
        """Check the reason of a skip."""
        reason, context, rules = decision.reason, decision.context, self.rules
        if self.status != "running" or self.counted >= self.horizon:
            assert reason == self._reason(context, allowed)
            return
        assert (reason == "person") == self.has_enough()
        if reason in ("person", "holdout", "explore"):
            assert reason != "holdout" or rules.holdout
            assert reason != "explore" or rules.explore
            return
        assert (reason == "unavailable") == (not allowed)
        payable = [a for a in allowed if rules.risk or self.reserves[a][context] <= self.left]
        fitting = [action for action in payable if self.room(context, action)]
        if reason == "budget":
            assert rules.risk or not payable
        if reason == "pace":
            default = rules.default
            assert default is None or default not in fitting
            assert payable
        if rules.default in fitting:
            raise AssertionError(f"{rules.default} would have served, and it was skipped: {reason}")

    def _used(self, period: str) -> int:
        """Return the money used by the decisions of the present period."""
        label = _label(period, self.now)
        return sum(e.used for e in self.entries.values() if _label(period, e.at) == label)


def _label(period: str, at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime({"hour": "%F %H", "day": "%F"}[period])
