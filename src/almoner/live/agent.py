"""Agent: runs a live campaign on a ledger that cannot overspend.

Every call is a transaction on the campaign's log: events that other processes have appended are
folded in, the command is carried out, and the answer is returned once it is durable. Callers in
several threads share transactions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from almoner import checks
from almoner.concurrency.process import Process
from almoner.errors import InvalidTerms
from almoner.live.costs.ledger import Ledger
from almoner.live.decision import Decision, Settlement
from almoner.live.opening import agreed_terms, open_for, warn_of_oversights
from almoner.live.reports.final_report import FinalReport
from almoner.live.reports.history import History
from almoner.live.reports.open_decisions import LIMIT, OpenReserve, open_decisions
from almoner.live.reports.report import Report
from almoner.live.reports.reporter import Reporter
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.compare_terms import refuse_differences
from almoner.live.terms.names import campaign_name
from almoner.live.terms.terms import Terms
from almoner.live.transactions.amendment import Changes, amended_terms
from almoner.live.transactions.catch_up import TransactionRunner, closed
from almoner.live.transactions.commands import Amend, Forget, Read, SetStatus, arrivals
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle, rewards
from almoner.live.transactions.group_commit import GroupCommit
from almoner.live.transactions.recent_events import RecentEvents
from almoner.live.transactions.transaction import Command, Decide
from almoner.store import Store
from almoner.store.events import CLOSED, PAUSED, RESUMED, Event
from almoner.store.memory import MemoryStore

__all__ = ["Agent"]


class Agent:
    """A live campaign; `Agent.open` creates or resumes one.

    It has the ``store``, the campaign's ``name``, and the ``opening_terms``; ``terms`` are the
    present ones.

    Examples
    --------
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new", "returning"], actions={"coupon": 5.0},
    ...     horizon=1000, budget=2000, seed=1)
    >>> decision = agent.decide("returning", key="visit-81")
    >>> decision.action, decision.reserved, decision.budget_left
    ('coupon', 5.0, 1995.0)
    >>> agent.reward(decision.id, 1.0)
    >>> agent.decide("returning", key="visit-81") == decision
    True
    """

    def __init__(
        self, store: Store, name: str, terms: Terms, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.store, self.name, self.opening_terms = store, name, terms
        self._process = Process()
        recent = RecentEvents()
        # Of a store in memory no other process will ever report.
        new_counts = None if isinstance(store, MemoryStore) else History
        self._transactions = TransactionRunner(
            store, name, terms, clock=clock, recent=recent, new_counts=new_counts
        )
        self._commits = GroupCommit(self._transactions.run)
        self._owns_store = True
        self.reporter = Reporter(store, name, terms, self.now, recent)

    @classmethod
    def open(
        cls,
        url: str | Store,
        *,
        name: str,
        clock: Callable[[], float] = time.time,
        **terms: Any,
    ) -> Agent:
        """Create a campaign, or resume it.

        Parameters
        ----------
        url
            The store: ``memory:``, ``sqlite:///path``, ``postgresql://…``, or an open store.
        name
            The campaign's name in the store.
        clock
            Returns the time in seconds since 1970.
        contexts
            Names of the contexts that can arrive.
        actions
            Costs of the actions by name; an `Action` if the reserve or contexts differ.
        horizon
            The number of arrivals, or a `ClosingTime`.
        budget
            The amount that may be spent in all.
        policy
            A `Policy`, or the name of a recipe as in ``"thrifty(caution=2)"``; left out,
            ``"thrifty"``.
        unit
            The smallest amount of money, 1e-6 if left out.
        default_rewards
            The rewards of skipping by context, ``"learned"``, or None for 0. On rows, features go
            with ``"learned"``, and scores with neither: they have a value for skipping.
        new_contexts
            Whether a context that was not declared is added when it arrives.
        reward_window
            The time within which rewards come, such as ``"7 days"``: silence until its end is a
            reward of 0, recorded by the campaign itself, and young decisions count by their age. If
            it is left out, only told rewards count, the zeros too.
        learn_cost
            Whether expected costs are learned from bills; a declared cost is worth 50 of them. For
            a single action see `Action`.
        risk
            The probability, such as 0.01, with which bills may exceed the budget: reserves are then
            admitted together, by what they will cost but for this risk. With 0, the default, all of
            them fit the budget. Less than 0.01 was not shown to hold in simulations.
        seed
            Determines all random draws, but for the hold-out of a ``person``, which follows from a
            random key that the store keeps; random itself if left out.
        reward_range
            The least and the largest reward, 0 and 1 if left out; default rewards, means, sums and
            prices are then in the same unit.
        currency
            The currency of money, and of rewards with a range, to show beside them.
        after, memory
            The campaign of the same store before this one, whose rewards count here too, and their
            weight from 0 to 1; 0.75 if left out.
        prior
            A `Prior`: mean rewards that are expected, and how sure they are.
        per_person
            The most actions for one person in a time, as a `PerPerson`; no limit if left out.
        holdout
            The share of arrivals that get nothing, to compare with: 0.1, for instance. Held out are
            persons, where ``decide`` is told who arrives, and single arrivals otherwise.
        explore
            The share of the others that is decided at random among all that is affordable, skips
            included, so that other policies can be evaluated on the log.
        pace
            Caps by calendar period, as a `Pace` or like ``{"day": 500, "zone": "Europe/Berlin"}``,
            or ``"even"``: within a fifth of the straight line.
        default
            The action taken when nothing dearer is worth it; None to skip then.
        scores
            True if arrivals have scores of actions instead of a context: the policy is `priced`.
        features
            Names of the features that arrivals have instead of a context: the policy is `linear`.

        A campaign that exists is resumed with its own terms: terms given here may be left out, and
        must equal them otherwise.
        """
        name = campaign_name(name)
        terms = {term: list(v) if isinstance(v, Iterator) else v for term, v in terms.items()}
        store: Store = url if hasattr(url, "writing") else open_for(url, terms, clock=clock)  # type: ignore[assignment]
        try:
            agreed, exists = agreed_terms(store, name, terms, clock=clock)
            if not exists:  # another process may create it first, with other terms
                warn_of_oversights(agreed)
                agreed = Terms.from_json(store.create(name, json.dumps(agreed.to_dict())))
                refuse_differences(agreed, name, terms)
            agent = cls(store, name, agreed, clock=clock)
            agent._owns_store = store is not url
            Campaign(agreed).warm_up()  # outside any transaction, as it may take seconds
            agent._transactions.read_log()
        except BaseException:
            if store is not url:  # the caller has no reference to it
                store.close()
            raise
        return agent

    def decide(
        self,
        context: str | None = None,
        available: Iterable[str] | None = None,
        key: str | None = None,
        person: str | None = None,
        costs: Mapping[str, Any] | None = None,
        scores: Mapping[Any, float] | None = None,
        features: Mapping[str, float] | None = None,
    ) -> Decision:
        """Decide for one arrival, and reserve the money of the action.

        Parameters
        ----------
        context
            The context that arrived.
        available
            The actions that this arrival allows; all of them if left out.
        key
            An idempotency key: a repeated call returns the same decision and is charged once.
        person
            The person who has arrived, for ``per_person`` and a hold-out that stays the same for
            each; stored as a keyed hash, and only while the campaign limits persons.
        costs
            What actions cost for this very arrival, by name; those left out cost what is expected.
            The plan weighs this arrival at these costs, and all others at the expected ones. They
            are reserved, unless the action has a larger reserve of its own.
        scores
            The value of each action for this arrival, and under None that of a skip, 0 if left out,
            in a campaign with ``scores=True``. They need no scale.
        features
            The value of each feature, in a campaign with ``features``.
        """
        command = Decide(context, available, key, person, costs, scores, features)
        return self._commits.submit((command,))[0]  # type: ignore[no-any-return]

    def decide_many(
        self,
        contexts: Iterable[str] | None = None,
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
        persons: Iterable[str | None] | None = None,
        costs: Iterable[Mapping[str, Any] | None] | None = None,
        scores: Iterable[Mapping[Any, float]] | None = None,
        features: Iterable[Mapping[str, float]] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order, in one transaction: all of them or none.

        Keys, persons, costs, scores and features are one for each arrival.
        """
        command = arrivals(contexts, available, keys, persons, costs, scores, features)
        return self._commits.submit((command,))[0]  # type: ignore[no-any-return]

    def settle(
        self,
        id: int | None = None,  # noqa: A002
        *,
        cost: Any,
        key: str | None = None,
    ) -> Settlement:
        """Replace the reserve of an action by its actual cost; the rest can be spent again.

        The decision is given by its id, or by the key with which it was made. A bill above the
        reserve is recorded in full, charged as far as money is left, and logged as a warning.
        """
        return self._commits.submit((Settle(id, cost, key=key),))[0]  # type: ignore[no-any-return]

    def reward(
        self,
        id: int | None = None,  # noqa: A002
        value: float | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Record the reward of an action or a skip, from 0 to 1 or in its range; it may come late.

        The decision is given by its id, or by the key with which it was made. Record 0 too, unless
        the campaign has a reward window: without the zeros, all means are too high.
        """
        self._commits.submit((Reward(id, value, key=key),))

    def reward_many(self, values: Mapping[int, float] | Mapping[str, float]) -> None:
        """Record several rewards by decision id or key, in one transaction: all of them or none."""
        self._commits.submit(rewards(values))

    def cancel(
        self,
        id: int | None = None,  # noqa: A002
        *,
        key: str | None = None,
    ) -> Settlement:
        """Cancel an action that never happened, and release its reserve."""
        return self._commits.submit((Cancel(id, key=key),))[0]  # type: ignore[no-any-return]

    def forget(self, person: str) -> int:
        """Remove everything that can be traced to a person; return how many actions were kept.

        The log stays as it is: it has never named them. Whether a person is held out does not
        change, and actions from before count no more.
        """
        return self._commits.submit((Forget(person),))[0]  # type: ignore[no-any-return]

    def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        self._commits.submit((SetStatus(PAUSED),))

    def resume(self) -> None:
        """Resume after a pause."""
        self._commits.submit((SetStatus(RESUMED),))

    def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still accepted."""
        self._commits.submit((SetStatus(CLOSED),))

    def amend(self, *, note: str | None = None, by: str | None = None, **changes: Any) -> None:
        """Change terms of the running campaign; everything that was learned stays.

        A stopped action is neither planned with nor taken; its open decisions are settled and
        rewarded as before. The log keeps the change, with the note and who made it.

        Parameters
        ----------
        note, by
            Why the terms are changed, and by whom.
        budget
            The amount that may be spent in all: not less than is spent and reserved.
        horizon
            The number of arrivals in all, for a campaign that has one: not less than have come.
        closes
            The new end, for a campaign with a closing time.
        arrivals
            The number of arrivals expected from the opening to the end; left out, the forecast
            goes on at its mean rate.
        add
            New actions, as `open` takes them.
        stop, restart
            Names of actions that are no longer taken, or taken again.
        costs
            New costs by action; an `Action` if the reserve or the expiry change too.

        Examples
        --------
        >>> agent = Agent.open(
        ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5.0}, horizon=100,
        ...     budget=50)
        >>> agent.amend(budget=80, add={"gift": 7}, stop=["coupon"], note="more from the boss")
        >>> agent.decide("new").action
        'gift'
        """
        command = Amend(_changes(changes), by=by, note=note)
        now = self.now()
        terms = self.reporter.view(lambda campaign: amended_terms(campaign, command.changes, now))
        Campaign(terms).warm_up()  # outside the transaction, as it may take seconds
        self._commits.submit((command,))

    def preview_amendment(
        self, *, note: str | None = None, **changes: Any
    ) -> tuple[list[str], Report, Report]:
        """Return changes in words, and the reports of the campaign as it is and with them.

        What `amend` would refuse is refused here too, and nothing is changed.
        """
        command = Amend(_changes(changes), note=note)
        command.check_texts()
        return self.reporter.preview(command.changes)

    def ask_all(self, callers: Sequence[Sequence[Command]]) -> list[Any]:
        """Run the commands of several callers in one transaction.

        Each caller gets a list of answers, or the error of its first bad command: then none of its
        commands was carried out.
        """
        return self._commits.submit_all(callers)

    def look(self, read: Callable[[Campaign], Any]) -> Any:
        """Return the value of ``read`` on the up-to-date campaign, within a transaction."""
        return self._commits.submit((Read(read),))[0]

    @property
    def terms(self) -> Terms:
        """The terms, with all amendments so far."""
        return self.look(lambda campaign: campaign.terms)  # type: ignore[no-any-return]

    @property
    def ledger(self) -> Ledger:
        """The money, in whole units."""
        return self.look(lambda campaign: campaign.ledger)  # type: ignore[no-any-return]

    @property
    def status(self) -> str:
        """Whether the campaign is running, paused or closed."""
        return self.look(lambda campaign: campaign.status)  # type: ignore[no-any-return]

    def report(self) -> Report:
        """Return a report: money, arrivals, and each action in each context."""
        if self._transactions.closed:
            raise closed(self.name)
        return self.reporter.report()

    def final_report(self) -> FinalReport:
        """Return whether the campaign has worked: its lift, what that cost, and other budgets."""
        if self._transactions.closed:
            raise closed(self.name)
        return self.reporter.final_report()

    def open_decisions(self, older_than: Any = None, *, limit: int = LIMIT) -> list[OpenReserve]:
        """Return the decisions whose reserve is not settled, oldest first.

        Parameters
        ----------
        older_than
            Only those made longer ago than this, such as ``"2 hours"``.
        limit
            The largest number returned.
        """
        return self.reporter.view(
            lambda campaign: open_decisions(
                self.store,
                self.name,
                campaign,
                first_id=self.first_id,
                now=self.now(),
                older_than=older_than,
                limit=limit,
            )
        )

    @property
    def first_id(self) -> int:
        """The number to which the ids of decisions add their number in the log."""
        return self._transactions.ids.first

    def now(self) -> int:
        """Return the time by the agent's clock, in microseconds since 1970."""
        return self._transactions.now()

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield the log of the campaign."""
        return self.store.events(self.name, after)

    def close(self) -> None:
        """Close the store, unless it was passed in open; the campaign stays there."""
        if not self._process.is_current():  # the store is the parent's
            return
        self._transactions.closed = True
        if self._owns_store:
            self.store.close()

    def __repr__(self) -> str:
        terms = self.opening_terms
        contexts, actions = len(terms.contexts), len(terms.actions)
        return f"<almoner.Agent {self.name!r}: {contexts} contexts, {actions} actions>"

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _changes(changes: dict[str, Any]) -> Changes:
    names = [change.name for change in fields(Changes)]
    checks.known_keys("the amendment", changes, required=(), optional=names, error=InvalidTerms)
    return Changes(**changes)
