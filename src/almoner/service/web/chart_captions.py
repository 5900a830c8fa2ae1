"""Captions of the charts: their content in sentences, for readers who do not see them."""

from __future__ import annotations

from almoner.live.reports.report import Report
from almoner.service.web.formatting import Money, count, percent, plural, rate
from almoner.service.web.reward_format import RewardFormat
from almoner.service.web.sentences import over, waiting

__all__ = ["ratio_caption", "reward_caption", "spend_caption"]

BOUNDARIES_NAMED = 8
"""Number of boundaries up to which a sentence lists them all."""

AS_PROMISED = 0.005
"""Share of the promise below which a deviation from it rounds to 0 %."""


def spend_caption(report: Report, horizon: float, money: Money, *, line: str) -> str:
    """Return the spending so far, next to that of the straight line."""
    planned = f" and {money(report.planned)} expected for open decisions" if report.planned else ""
    return (
        f"After {count(min(report.arrivals, horizon))} of {count(horizon)} arrivals, "
        f"{money(report.spent)} is spent{planned}; the straight line is at {line}."
    )


def reward_caption(report: Report, *, promised: float) -> str:
    """Return the rewards so far, compared with the promise of the plan."""
    rewards = RewardFormat.of(report)
    return (
        f"{_rewards(report, rewards)}; {_compared(report, promised, rewards)}. "
        "The promise is what the best plan for the present estimates would have brought."
    )


def ratio_caption(report: Report, *, ratio: float | None) -> str:
    """Return the budget per arrival left, and the boundaries at which the plan changes."""
    unit = f" {report.currency}" if report.currency else ""
    money = f"{rate(ratio or 0)}{unit}"
    each = f"For each arrival to come there is {money}, neither spent nor expected to be"
    ended = ratio is None or over(report)
    left = "No arrival is to be served any more" if ended else each
    start = f"{rate(report.ratio_start)}{unit} at the start"
    return f"{left}; it was {start}.{_boundaries(report)}"


def _rewards(report: Report, rewards: RewardFormat) -> str:
    """Return the sum of rewards, and the number of decisions without one."""
    text = f"Rewards add up to {rewards.total(report.reward)} so far"
    if report.skip_reward > 0:
        skips = rewards.total(report.skip_reward)
        text += f", {skips} of it for skips, which were to bring nothing"
    if report.waiting:
        return f"{text}, and {waiting(report)}"
    if report.reward_low > report.reward:
        return f"{text}, {rewards.total(report.reward_low)} with what skips are known to bring"
    return text


def _compared(report: Report, promised: float, rewards: RewardFormat) -> str:
    """Return the difference between rewards and promise.

    The comparison is open while rewards to come could change it, and while the promise counts
    pairs without a reward as the middle of the range.
    """
    if promised <= 0:
        return "the plan promises nothing yet"
    promise = f"{rewards.promise(promised)} is promised by now"
    if report.guessed:
        pairs = plural(report.guessed, "pair")
        unseen = rewards.unseen
        return f"{promise}, with {unseen} for {pairs} of context and action without a reward"
    skips = max(0.0, report.skip_reward)  # of which the plan has promised nothing
    sums = report.reward_low, report.reward_high
    if report.reward_window is not None:  # what is due is promised
        sums = report.reward, report.reward
    low, high = ((total - skips) / promised - 1 for total in sums)
    bound = "at least " if low < high else ""
    if low > AS_PROMISED:
        return f"{promise}: {bound}{percent(low)} more"
    if high < -AS_PROMISED:
        return f"{promise}: {bound}{percent(-high)} less"
    return f"{promise}: {'those to come will decide' if bound else 'as promised'}"


def _boundaries(report: Report) -> str:
    if report.rows is not None:  # a price decides, and no plan by context
        return ""
    values = [rate(boundary) for boundary in report.boundaries]
    if not values:
        return " The plan has no boundary: nothing is worth its cost."
    if len(values) > BOUNDARIES_NAMED:
        return (
            f" Who is served changes at {len(values)} boundaries, from {values[0]} to {values[-1]}."
        )
    listed = ", ".join(values[:-1]) + (" and " if len(values) > 1 else "") + values[-1]
    return f" Who is served changes at {listed}: the plan’s boundaries."
