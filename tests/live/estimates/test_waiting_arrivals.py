"""Queue of arrivals that wait for rewards, against a plain dictionary."""

from __future__ import annotations

import random

import pytest

from almoner.live.estimates.waiting_arrivals import WaitingArrivals


@pytest.mark.parametrize("spare", [0, 3, 1_000])
def test_arrivals_wait_until_their_reward_or_the_end_of_their_window(
    spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.estimates.waiting_arrivals.SPARE", spare)
    draw, queue, expected = random.Random(5), WaitingArrivals(), dict[int, tuple[int, bool]]()  # noqa: S311
    now = 0
    for step in range(1, 3_000):
        now += draw.choice([0, 1, 3])
        if draw.random() < 0.6:
            held = draw.random() < 0.3
            queue.add(2 * step, end=now + 100, held=held)
            expected[2 * step] = now + 100, held
        if draw.random() < 0.3:
            decision = draw.randrange(max(1, 2 * step - 400), 2 * step + 2)
            assert queue.discard(decision) == (expected.pop(decision, None) is not None)
        if draw.random() < 0.2:
            ended = [held for end, held in expected.values() if end <= now]
            expected = {seq: entry for seq, entry in expected.items() if entry[0] > now}
            assert [*queue.end(now)] == ended
        assert len(queue) == len(expected)
    assert len([*queue.end(10**9)]) == len(expected)
    assert len(queue) == 0
