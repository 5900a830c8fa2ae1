"""Append long runs of events to a log, faster than an agent would write them."""

from __future__ import annotations

from almoner.store import Store
from almoner.store.events import CANCELLED, DECIDED, REWARDED, SETTLED, Event


def append_decisions(store: Store, name: str, count: int) -> None:
    """Append ``count`` decisions, then their settlements, rewards and cancellations."""
    first = store.last(name)
    with store.writing(name) as writer:
        seqs = range(first + 1, first + 1 + count)
        decided = [
            Event(
                seq=seq,
                kind=DECIDED,
                at=seq * 1_000_000,
                left=50_000_000,
                decision=seq,
                round=seq,
                context="returning",
                action="mail",
                cost=1_000_000,
                reserve=1_000_000,
                probability=0.5,
                key=f"visit-{seq}",
            )
            for seq in seqs
        ]
        follow_ups: list[Event] = []
        for event in decided:
            kinds = [CANCELLED] if event.seq % 5 == 0 else [SETTLED, REWARDED][: event.seq % 3]
            for kind in kinds:
                bill = 500_000 if kind == SETTLED else None
                follow_ups.append(
                    event._replace(
                        seq=first + count + len(follow_ups) + 1,
                        kind=kind,
                        key=None,
                        reward=0.25 if kind == REWARDED else None,
                        bill=bill,
                        charged=bill,
                    )
                )
        writer.append(decided + follow_ups)
