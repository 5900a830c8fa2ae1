"""Tally of the groups that a lift compares: a fold over the log in bounded memory.

Rewards repeat the reason of their decision and the probability of its skip, so that no look-up is
needed; only of arrivals that are held out, and of skips for which the campaign records no silence,
those without a reward are kept until their window ends. Silence counts as a reward of 0 until a
reward comes, or as the known reward of a skip.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from almoner.live.estimates.group_sums import GroupSums, OddsSums
from almoner.live.estimates.lift import Estimate, group_mean, stratum
from almoner.live.estimates.waiting_arrivals import WaitingArrivals
from almoner.live.policy.detail import logged_group, logged_probabilities
from almoner.live.rewards.reward_window import SILENCE
from almoner.live.state.status import SkipReason
from almoner.live.terms.terms import LEARNED, SKIP_NAME, Terms
from almoner.store.events import DECIDED, REWARDED, Event, EventRow

__all__ = ["LiftTally"]

_KIND = Event._fields.index("kind")
_AT = itemgetter(Event._fields.index("at"))


class LiftTally:
    """Sums of a campaign with a hold-out or exploration.

    Arrivals count up to the horizon, while the campaign is running.

    Attributes
    ----------
    reached, held_out
        Arrivals that were not held out, and those that were.
    rewarded, rewarded_held_out
        How many of them have a reward.
    actions, skips
        Of the arrivals that were not held out: actions and skips by stratum.
    """

    def __init__(self, terms: Terms) -> None:
        defaults = terms.default_rewards
        self._defaults = defaults if isinstance(defaults, dict) else {}
        self._zero = min(1.0, max(0.0, terms.scale.zero))
        self.reached, self.held_out = GroupSums(), GroupSums()
        self.rewarded = self.rewarded_held_out = 0
        # By whether they are held out, and by number: arrivals of groups of persons.
        self._clusters: dict[bool, dict[int, GroupSums]] = {False: {}, True: {}}
        self._window = terms.reward_window
        # Whether the campaign itself rewards skips with 0 when their windows end.
        self._records_skips = terms.default_rewards == LEARNED
        self._waiting = WaitingArrivals()
        # Skips after the horizon, whose silence would count as that of an arrival.
        self._beyond = WaitingArrivals()
        self._latest = 0  # time of an event
        self.actions: dict[int, GroupSums] = {}
        self.skips: dict[int, OddsSums] = {}

    def apply(self, events: Sequence[EventRow]) -> None:
        """Fold in events of the log, in their order."""
        for row in events:
            kind = row[_KIND]
            if kind not in (DECIDED, REWARDED):
                continue
            event = Event._make(row)
            if event.round is None or self._is_beyond(event):
                continue
            if kind == DECIDED:
                self._decided(event)
            else:
                self._rewarded(event)
        if events:
            # Not of the last event: a clock may be set back, and batches have any size.
            self._latest = max(self._latest, *map(_AT, events))
            self.end_windows(self._latest)

    def end_windows(self, now: int) -> None:
        """Count skips whose windows have ended by now as rewarded, if the campaign does not."""
        if not self._records_skips:
            for held in self._waiting.end(now):
                self._count(held=held)

    def mean(self, *, held: bool) -> Estimate:
        """Return the mean reward of the arrivals that were held out, or of the others."""
        sums = self.held_out if held else self.reached
        return group_mean(sums, self._clusters[held].values())

    def __len__(self) -> int:
        """Return the number of arrivals that are kept until their windows end."""
        return len(self._waiting) + len(self._beyond)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a snapshot."""
        return {
            "groups": [self.reached, self.held_out],
            "rewarded": [self.rewarded, self.rewarded_held_out],
            "clusters": [[*self._clusters[held].items()] for held in (False, True)],
            "strata": [[*self.actions.items()], [*self.skips.items()]],
            "waiting": self._waiting.to_list(),
            "beyond": self._beyond.to_list(),
            "latest": self._latest,
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.reached, self.held_out = (GroupSums(*sums) for sums in table["groups"])
        self.rewarded, self.rewarded_held_out = table["rewarded"]
        for held, clusters in zip((False, True), table["clusters"], strict=True):
            self._clusters[held] = {number: GroupSums(*sums) for number, sums in clusters}
        actions, skips = table["strata"]
        self.actions = {number: GroupSums(*sums) for number, sums in actions}
        self.skips = {number: OddsSums(*sums) for number, sums in skips}
        self._waiting.restore(table["waiting"])
        self._beyond.restore(table["beyond"])
        self._latest = table["latest"]

    def _is_beyond(self, event: Event) -> bool:
        """Return whether an event belongs to an arrival after the horizon."""
        if event.kind == REWARDED:
            return self._beyond.discard(event.decision or 0) or event.reason == SkipReason.HORIZON
        if event.reason == SkipReason.HORIZON and self._window is not None and self._records_skips:
            self._beyond.add(event.seq, end=event.at + self._window, held=False)
        return event.reason == SkipReason.HORIZON

    def _count(self, *, held: bool) -> None:
        self.rewarded_held_out += held
        self.rewarded += not held

    def _waits(self, event: Event) -> bool:
        """Return whether a decision is kept until its window ends."""
        held = event.reason == SkipReason.HOLDOUT
        skip = event.action is None and not self._records_skips
        return self._window is not None and (held or skip)

    def _silent(self, event: Event) -> float:
        """Return the reward of a decision without one."""
        zero = self._zero
        return self._defaults.get(event.context or "", zero) if event.action is None else zero

    def _decided(self, event: Event) -> None:
        reward, held = self._silent(event), event.reason == SkipReason.HOLDOUT
        if self._window is not None and self._waits(event):
            self._waiting.add(event.seq, end=event.at + self._window, held=held)
        group = logged_group(event.detail)
        if group is not None:
            clusters = self._clusters[held]
            clusters[group] = clusters.get(group, GroupSums()).plus(reward)
        if held:
            self.held_out = self.held_out.plus(reward)
            return
        self.reached = self.reached.plus(reward)
        odds = _odds((logged_probabilities(event.detail) or {}).get(SKIP_NAME, 0.0))
        if odds is None:
            return
        number = stratum(odds)
        if event.action is None:
            self.skips[number] = self.skips.get(number, OddsSums()).plus(odds, reward)
        else:
            self.actions[number] = self.actions.get(number, GroupSums()).plus(reward)

    def _rewarded(self, event: Event) -> None:
        waited = self._waiting.discard(event.decision or 0)
        if event.reason == SILENCE:  # a reward of 0, as it has counted so far
            self._count(held=waited)
            return
        before, reward = self._silent(event), event.reward or 0.0
        held = event.reason == SkipReason.HOLDOUT
        if waited or not self._waits(event):  # by another clock it may have ended
            self._count(held=held)
        group = logged_group(event.detail)
        if group is not None:
            clusters = self._clusters[held]
            clusters[group] = clusters[group].corrected(before, reward)
        if held:
            self.held_out = self.held_out.corrected(before, reward)
            return
        self.reached = self.reached.corrected(before, reward)
        odds = _odds(event.probability or 0.0)
        if odds is None:
            return
        number = stratum(odds)
        if event.action is None:
            self.skips[number] = self.skips[number].corrected(odds, before, reward)
        else:
            self.actions[number] = self.actions[number].corrected(before, reward)


def _odds(skip: float) -> float | None:
    """Return the odds of an action, given the probability of a skip; None if one is certain."""
    return (1 - skip) / skip if 0 < skip < 1 else None
