"""Compute a report from a campaign and its history: balances, intervals and the optimum now."""

from __future__ import annotations

import numpy as np

from almoner.kernels.state import OVERALL_MEAN
from almoner.live.estimates.estimates import Estimates, PairMeans, interval, pair_means
from almoner.live.estimates.plans import plan_at
from almoner.live.reports.cap_reports import cap_reports, is_paced
from almoner.live.reports.curve import moment
from almoner.live.reports.history import History
from almoner.live.reports.open_costs import OpenCosts, open_costs
from almoner.live.reports.pair_costs import expected_costs, learned_costs, stopped_costs
from almoner.live.reports.pair_evidence import PairEvidence
from almoner.live.reports.report import RESERVED, ActionReport, ContextReport, Report, RowReport
from almoner.live.spending.outlook import Outlook
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import SkipReason, Status
from almoner.live.terms.terms import LEARNED, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.lp import Solution
from almoner.policy.contexts import KnownContexts
from almoner.policy.recipes import described
from almoner.policy.rewards import KnownRewards

__all__ = ["make_report", "present_estimates", "present_means"]

SILENT_DECISIONS = 30
"""Decisions without a reward from which on it is remarkable that all rewards are above 0."""


def make_report(name: str, campaign: Campaign, history: History, now: int) -> Report:
    """Return the report of a campaign and its history, both after the same event."""
    terms, ledger = campaign.terms, campaign.ledger
    amount, horizon, expected = terms.unit.amount, terms.horizon, terms.expected_arrivals
    arrivals, coming = campaign.arrivals, campaign.arrivals_left(now)
    reserves = np.array([terms.reserves_in(context) for context in campaign.contexts], np.int64)
    reserves[:, [name in terms.stopped for name in terms.actions]] = np.iinfo(np.int64).max
    cheapest = int(reserves.min())
    costs = open_costs(campaign, now, cheapest=cheapest)
    committed = ledger.spent + costs.planned
    funds = max(0, ledger.budget - committed)
    ratio = amount(ledger.budget) / expected
    ratio_now = amount(funds) / coming if coming > 0 else 0.0
    learned = present_means(campaign)
    evidence = PairEvidence(campaign, history, now)
    estimates = present_estimates(campaign, history, learned, ratio_now)
    outlook = _outlook(campaign, now, committed)
    held = 1.0 if outlook is None or outlook.money <= 0 else outlook.funds / outlook.money
    plan = plan_at(terms, estimates, reserves=reserves, funds=funds, ratio=held * ratio_now)
    first = plan_at(terms, estimates, reserves=reserves, funds=ledger.budget, ratio=ratio)
    gone = arrivals / (arrivals + coming) if arrivals + coming > 0 else 1.0
    waiting, reward_low, reward_high = _awaited(terms, history, evidence)
    scale, rows = terms.scale, _row_report(campaign, history)
    return Report(
        name=name,
        status=campaign.status,
        policy=described(terms.policy),
        budget=amount(ledger.budget),
        spent=amount(ledger.spent),
        reserved=amount(ledger.reserved),
        planned=amount(costs.planned),
        left=amount(costs.left),
        unusable=amount(funds) if funds < cheapest else 0.0,
        overrun=amount(campaign.overrun),
        uncharged=amount(history.uncharged),
        cheapest=amount(cheapest),
        blocked=_blocked(campaign, costs, outlook, coming, cheapest),
        arrivals=arrivals,
        arrivals_left=coming,
        closes=horizon.at.isoformat() if isinstance(horizon, ClosingTime) else None,
        horizon=expected,
        served=history.taken.total(),
        skips=dict(history.skips),
        idle=dict(history.idle),
        rewarded=history.rewarded,
        reward=history.total,
        waiting=waiting,
        reward_low=reward_low,
        reward_high=reward_high,
        promised=min(arrivals, expected)
        * scale.value(first.value)
        * (1.0 - evidence.still_expected),
        guessed=_guessed(campaign, estimates, learned, first),
        ratio_start=history.ratio_start,
        ratio_now=ratio_now,
        pace=committed / ledger.budget - gone if ledger.budget else 0.0,
        price=scale.gain(plan.price) if rows is None else rows.price or 0.0,
        value=scale.value(plan.value),
        boundaries=plan.boundaries.tolist(),
        contexts=_contexts(campaign, history, estimates, learned, plan, evidence, now),
        open=history.open,
        expiring=len(campaign.expiring),
        next_expiry=_next_expiry(campaign, now),
        amendments=history.amendments[:],
        reward_window=terms.window_in_words,
        still_expected=evidence.still_expected,
        risk=terms.risk,
        only_good_news=terms.reward_window is None and _has_only_good_news(history, waiting),
        reward_range=terms.reward_range,
        currency=terms.currency,
        inherited=terms.inheritance.rewards,
        inherited_from=terms.after,
        caps=[] if outlook is None else cap_reports(terms, outlook),
        default=terms.default,
        skip_reward=_skip_reward(terms, history),
        rows=rows,
    )


def _outlook(campaign: Campaign, now: int, committed: int) -> Outlook | None:
    """Return what the rules leave to the next arrival, given the money spent or planned by now."""
    if campaign.spending is None:
        return None
    outlook = campaign.spending.outlook(campaign, now, campaign.ledger)
    return outlook._replace(committed=committed)


def _row_report(campaign: Campaign, history: History) -> RowReport | None:
    """Return the figures of a campaign on rows."""
    policy, tally, gain = campaign.row_policy, history.rows, campaign.terms.scale.gain
    if policy is None:
        return None
    return RowReport(
        price=None if policy.price is None else gain(policy.price),
        value_taken=None if tally is None else tally.taken,
        value_left=None if tally is None else tally.left,
    )


def _skip_reward(terms: Terms, history: History) -> float:
    """Return the rewards of skips that were declared to bring nothing."""
    if terms.default_rewards is not None:
        return 0.0
    skips = [entry for (_, action), entry in history.rewards.items() if action is None]
    count, total = sum(entry[0] for entry in skips), sum(entry[1] for entry in skips)
    return terms.scale.total(total, count=count) if count else 0.0


def _has_only_good_news(history: History, waiting: int) -> bool:
    """Return whether all rewards are above 0 and most decisions, and not few, have none."""
    enough = waiting >= SILENT_DECISIONS and waiting > history.rewarded
    return enough and history.rewarded > 0 and history.zeros == 0


def _next_expiry(campaign: Campaign, now: int) -> str | None:
    deadlines = [at for at in campaign.expiring.deadlines().values() if at > now]
    return moment(min(deadlines)) if deadlines else None


def _blocked(
    campaign: Campaign, costs: OpenCosts, outlook: Outlook | None, coming: float, cheapest: int
) -> str | None:
    """Return the reason why no action can be taken now, if none can."""
    if campaign.status != Status.RUNNING:
        return campaign.status
    if coming <= 0:
        return SkipReason.HORIZON.value
    if costs.admits:
        paced = outlook is not None and is_paced(campaign.policy.offers, outlook)
        return SkipReason.PACE.value if paced else None
    rest = campaign.ledger.budget - campaign.ledger.spent - costs.planned
    return SkipReason.BUDGET.value if rest < cheapest else RESERVED


def _awaited(terms: Terms, history: History, evidence: PairEvidence) -> tuple[int, float, float]:
    """Return the number of decisions without a reward, and bounds of the sum of all rewards."""
    waiting, low, high = 0, history.total, history.total
    defaults, value = terms.default_rewards, terms.scale.value
    pairs: list[tuple[str, str | None, int]] = [(*pair, n) for pair, n in history.taken.items()]
    if defaults is not None:
        pairs += [(context, None, n) for context, n in history.skipped.items()]
    for context, action, count in pairs:
        rewarded, _ = history.rewards.get((context, action), (0, 0.0))
        came, total, to_come = evidence.of(context, action, count)
        least, most = interval(total, came)
        if action is None and isinstance(defaults, dict):
            least = most = defaults[context]
        else:
            waiting += max(0, count - rewarded)
        low, high = low + to_come * value(least), high + to_come * value(most)
    return waiting, low, high


def _guessed(campaign: Campaign, estimates: Estimates, learned: PairMeans, plan: Solution) -> int:
    """Count the pairs that a plan uses and of which nothing is known."""
    rewards = campaign.terms.policy.rewards
    if isinstance(rewards, KnownRewards) and rewards.means is not None:
        return 0
    used = (plan.probabilities > 0) & (estimates.context_probs > 0)[:, None]
    return int(np.count_nonzero(used & (learned.own + learned.borrowed == 0)))


def _contexts(
    campaign: Campaign,
    history: History,
    estimates: Estimates,
    learned: PairMeans,
    plan: Solution,
    evidence: PairEvidence,
    now: int,
) -> list[ContextReport]:
    terms = campaign.terms
    costs, planned = estimates.costs.tolist(), plan.probabilities.tolist()
    means, borrowed = learned.means.tolist(), learned.borrowed.tolist()
    amount, value, names = terms.unit.amount, terms.scale.value, terms.actions
    reports, learnt = [], learned_costs(campaign, now)
    stopped = stopped_costs(campaign, now)
    for row, context in enumerate(campaign.contexts):
        reserves, actions = terms.reserves_in(context), []
        inherited = terms.inheritance.in_context(context)
        for column, action in enumerate(names):
            count, total, _ = evidence.of(context, action, 0)
            low, high = interval(total, count)
            before = inherited.get(action, (0.0, 0.0))[0]
            lent = borrowed[row][column]
            actions.append(
                ActionReport(
                    action=action,
                    cost=stopped.get((row, action), costs[row][column]),
                    reserve=amount(reserves[column]),
                    taken=history.taken[context, action],
                    rewarded=history.rewards.get((context, action), (0, 0.0))[0],
                    mean=value(min(1.0, total / count)) if count else None,
                    low=value(low),
                    high=value(high),
                    planned=planned[row][column],
                    pooled=value(means[row][column]) if lent or before else None,
                    borrowed=lent or None,
                    inherited=before,
                    stopped=action in terms.stopped,
                    evidence=count if evidence.windowed else None,
                    **learnt.get((row, action), {}),
                )
            )
        reports.append(
            ContextReport(
                context=context,
                arrivals=history.arrivals[context],
                share=float(estimates.context_probs[row]),
                served=float(plan.probabilities[row].sum()),
                actions=actions,
            )
        )
    return reports


def present_means(campaign: Campaign) -> PairMeans:
    """Return the means of pairs that the policy has learned."""
    overall = campaign.state.fit.item(OVERALL_MEAN) if campaign.window is not None else None
    return pair_means(campaign.policy.statistics.by_pair(), overall=overall)


def present_estimates(
    campaign: Campaign, history: History, learned: PairMeans, ratio: float
) -> Estimates:
    """Return the statistics that the policy plans with: given to it, or learned by it."""
    terms, state = campaign.terms, campaign.state
    rewards, contexts = terms.policy.rewards, terms.policy.contexts
    means = learned.means
    if isinstance(rewards, KnownRewards) and rewards.means is not None:
        means = np.array(rewards.means)
    shares = np.array([history.arrivals[name] for name in campaign.contexts], np.float64)
    if isinstance(contexts, KnownContexts) and contexts.probs is not None:
        shares = np.array(contexts.probs)
    elif shares.sum() == 0:
        shares = terms.inheritance.arrivals(campaign.contexts)
    defaults = np.array([terms.default_in(name) for name in campaign.contexts])
    if terms.default_rewards == LEARNED:
        seen = state.skip_counts > 0
        unseen = min(1.0, max(0.0, terms.scale.zero))
        defaults = np.where(seen, state.skip_sums / np.where(seen, state.skip_counts, 1.0), unseen)
        if campaign.window is not None:  # as in `almoner.kernels.hulls`
            total = state.skip_sums + state.fit[OVERALL_MEAN]
            defaults = np.minimum(1.0, total / (state.skip_counts + 1))
    amount = terms.unit.amount
    costs = [
        [amount(cost) for cost in expected_costs(campaign, name)] for name in campaign.contexts
    ]
    return Estimates(shares / shares.sum(), means, np.array(costs), defaults, ratio)
