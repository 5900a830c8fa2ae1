"""Agent: runs a live campaign on a ledger that cannot overspend.

Every call is a transaction on the campaign's log: what other processes have written meanwhile is
folded in, the request is carried out, and the answer is given only once it is durable. Callers in
several threads share transactions.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from inspect import signature
from typing import Any

from almoner import checks
from almoner.concurrency.process import Process
from almoner.errors import InvalidTerms, StoreError, UnknownCampaign
from almoner.live.campaign import Campaign
from almoner.live.catch_up import CATCH_UP, Follower
from almoner.live.commands import (
    Cancel,
    Decide,
    Look,
    Reward,
    Settle,
    Switch,
    arrivals,
    rewards,
)
from almoner.live.compare_terms import refuse_differences
from almoner.live.decision import Decision, Settlement
from almoner.live.group_commit import Turns
from almoner.live.ledger import Ledger
from almoner.live.names import campaign_name
from almoner.live.parse_terms import make_terms
from almoner.live.report import Report
from almoner.live.reporter import Reporter
from almoner.live.snapshot import write_snapshot
from almoner.live.terms import Terms
from almoner.live.transaction import Request, Turn
from almoner.store import Store, open_store
from almoner.store.events import CLOSED, PAUSED, RESUMED, Event

__all__ = ["Agent", "agreed_terms", "closed", "new_terms"]

log = logging.getLogger("almoner")

SNAPSHOT_EVERY = 5_000
"""Events between two snapshots: opening a campaign folds no more than these."""

REQUIRED = ("contexts", "actions", "horizon", "budget")
"""The terms that a new campaign cannot do without."""


class Agent:
    """A live campaign; `Agent.open` creates or resumes one.

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
        self.store, self.name, self.terms = store, name, terms
        self._clock = clock
        self._process = Process()
        self._turns = Turns(self._serve)
        self._follower = Follower(store, name, terms)
        self._lent = self._closed = False
        self.reporter = Reporter(store, name, terms, self.now)

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
            Where it is kept: ``memory:``, ``sqlite:///path``, ``postgresql://…``, or an open store.
        name
            What it is called there.
        clock
            Tells the time in seconds since 1970.
        contexts
            Names of the contexts that can arrive.
        actions
            Costs of the actions by name; an `Action` where a reserve is held or contexts differ.
        horizon
            How many arrivals it is for, or a `ClosingTime`.
        budget
            What may be spent in all.
        policy
            A `Policy` or the name of a recipe; ``"thrifty"`` if left out.
        unit
            The smallest amount of money, 1e-6 if left out.
        default_rewards
            What skipping brings by context, ``"learned"``, or None for nothing.
        new_contexts
            Whether a context that was not declared is added when it arrives.
        seed
            Everything random follows from it; drawn at random if left out.

        A campaign that exists is resumed on the terms it has: those given here may be left out, and
        must be the same if they are not.
        """
        name = campaign_name(name)
        terms = {term: list(v) if isinstance(v, Iterator) else v for term, v in terms.items()}
        store: Store = url if hasattr(url, "writing") else open_store(url)  # type: ignore[assignment]
        try:
            agreed, exists = agreed_terms(store, name, terms, clock=clock)
            if not exists:  # unless another process is first, on terms of its own
                _warn_of_the_unaffordable(agreed)
                agreed = Terms.from_json(store.create(name, json.dumps(agreed.to_dict())))
                refuse_differences(agreed, name, terms)
            agent = cls(store, name, agreed, clock=clock)
            agent._lent = store is url
            Campaign(agent.terms).warm_up()  # others would wait if it came within a transaction
            agent.look(lambda campaign: None)  # folds the log
        except BaseException:
            if store is not url:  # nobody else could close it
                store.close()
            raise
        return agent

    def decide(
        self, context: str, available: Iterable[str] | None = None, key: str | None = None
    ) -> Decision:
        """Decide what to do for one arrival, and hold the money for it.

        Parameters
        ----------
        context
            What arrived.
        available
            The actions that this request allows; all of them if left out.
        key
            A name for this arrival: asked twice, the same decision is returned and charged once.
        """
        return self._turns.ask((Decide(context, available, key),))[0]  # type: ignore[no-any-return]

    def decide_many(
        self,
        contexts: Iterable[str],
        available: Iterable[str] | None = None,
        keys: Iterable[str | None] | None = None,
    ) -> list[Decision]:
        """Decide for several arrivals in their order, in one transaction: all of them or none."""
        return self._turns.ask(arrivals(contexts, available, keys))  # type: ignore[no-any-return]

    def settle(self, id: int, *, cost: Any) -> Settlement:  # noqa: A002
        """Replace what is held for an action by what it cost; the rest can be spent again.

        A bill above the reserve is recorded in full, charged as far as money is left, and logged
        as a warning.
        """
        return self._turns.ask((Settle(id, cost),))[0]  # type: ignore[no-any-return]

    def reward(self, id: int, value: float) -> None:  # noqa: A002
        """Say what an action or a skip has brought, a number from 0 to 1, late if need be.

        Say 0 too: where only good news is told, all means are too high.
        """
        self._turns.ask((Reward(id, value),))

    def reward_many(self, values: Mapping[int, float]) -> None:
        """Say what several actions have brought, by id, in one transaction: all of it or none."""
        self._turns.ask(rewards(values))

    def cancel(self, id: int) -> Settlement:  # noqa: A002
        """Take back an action that never happened, and refund what is held for it."""
        return self._turns.ask((Cancel(id),))[0]  # type: ignore[no-any-return]

    def pause(self) -> None:
        """Skip all arrivals, without counting them, until the campaign is resumed."""
        self._turns.ask((Switch(PAUSED),))

    def resume(self) -> None:
        """Go on after a pause."""
        self._turns.ask((Switch(RESUMED),))

    def end(self) -> None:
        """Close the campaign for good; settlements and rewards are still taken."""
        self._turns.ask((Switch(CLOSED),))

    def ask_all(self, callers: Sequence[Sequence[Request]]) -> list[Any]:
        """Carry out the requests of several callers in one transaction.

        Each caller gets a list of answers, or the error that its requests met: then none of them
        was done.
        """
        return self._turns.ask_all(callers)

    def look(self, read: Callable[[Campaign], Any]) -> Any:
        """Return what ``read`` says of the campaign, brought up to date and held still for it."""
        return self._turns.ask((Look(read),))[0]

    @property
    def ledger(self) -> Ledger:
        """The money, in whole units."""
        return self.look(lambda campaign: campaign.ledger)  # type: ignore[no-any-return]

    @property
    def status(self) -> str:
        """Whether the campaign is running, paused or closed."""
        return self.look(lambda campaign: campaign.status)  # type: ignore[no-any-return]

    def report(self) -> Report:
        """Return how the campaign is doing: money, arrivals, and each action in each context."""
        if self._closed:
            raise closed(self.name)
        return self.reporter.report()

    def now(self) -> int:
        """Return the time by the agent's clock, in microseconds since 1970."""
        return int(self._clock() * 1e6)

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield the log of the campaign."""
        return self.store.events(self.name, after)

    def close(self) -> None:
        """Let go of the store, unless it was handed in open; the campaign stays there."""
        if not self._process.is_current():  # the store is the parent's
            return
        self._closed = True
        if not self._lent:
            self.store.close()

    def __repr__(self) -> str:
        contexts, actions = len(self.terms.contexts), len(self.terms.actions)
        return f"<almoner.Agent {self.name!r}: {contexts} contexts, {actions} actions>"

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _serve(self, callers: list[Sequence[Request]]) -> list[Any]:
        """Answer several callers in one transaction; runs in one thread at a time."""
        if self._closed:
            raise closed(self.name)
        follower, limit = self._follower, CATCH_UP
        while True:
            with self.store.writing(self.name) as writer:
                campaign = follower.catch_up(writer, limit)
                if campaign is not None:
                    turn = Turn(campaign, writer, self.now())
                    turn.look_up(callers)
                    answers = turn.answer(callers)
                    if turn.added:
                        follower.tip = turn.added[-1]
                        writer.append(turn.added)
                        if campaign.seq - follower.saved >= SNAPSHOT_EVERY:
                            writer.save_snapshot(write_snapshot(campaign))
                            follower.saved = campaign.seq
                    break
            follower.fold()
            follower.keep_snapshot(every=SNAPSHOT_EVERY)
            limit *= 8  # others cannot write faster than this for ever
        follower.campaign = campaign
        return answers


def closed(name: str) -> StoreError:
    """Return the error that somebody goes on asking an agent that was closed."""
    return StoreError(f"the agent of campaign {name!r} is closed; open it again")


def _unknown(name: str, names: list[str]) -> UnknownCampaign:
    near, create = checks.nearest(name, names), f"give {', '.join(REQUIRED)} to create it"
    remedy = f"{near} Or {create}" if near else create
    return UnknownCampaign(f"there is no campaign {name!r} in this store; {remedy}")


def agreed_terms(
    store: Store, name: str, given: dict[str, Any], *, clock: Callable[[], float] = time.time
) -> tuple[Terms, bool]:
    """Return the terms of a campaign, and whether it exists: if not, those it would have.

    Refuses everything that `Agent.open` does, and writes nothing.
    """
    stored = store.terms(campaign_name(name))
    if stored is not None:
        terms = Terms.from_json(stored)
        refuse_differences(terms, name, given)
        return terms, True
    if all(given.get(term) is None for term in REQUIRED):
        raise _unknown(name, store.campaigns())
    if not name.strip():  # one that exists already can still be opened
        raise checks.refuse("name", "have a visible character", name, error=InvalidTerms)
    return new_terms(given, clock=clock), False


def new_terms(given: dict[str, Any], *, clock: Callable[[], float] = time.time) -> Terms:
    """Check the terms of a new campaign, some of which may be left out or None."""
    missing = [term for term in REQUIRED if given.get(term) is None]
    if missing:
        it = "it" if len(missing) == 1 else "them"
        raise InvalidTerms(f"a new campaign needs {', '.join(missing)}; give {it}")
    optional = [*signature(make_terms).parameters]
    checks.known_keys("the campaign", given, required=(), optional=optional, error=InvalidTerms)
    told = {term: value for term, value in given.items() if value is not None}
    terms = make_terms(**{"seed": secrets.randbits(48), **told})
    Campaign(terms)  # refuses a policy that does not fit
    return terms.opened(datetime.fromtimestamp(clock(), UTC))


def _warn_of_the_unaffordable(terms: Terms) -> None:
    """Say which actions can never be taken: most often an amount was meant in another unit."""
    cheapest: dict[str, int] = {}
    for context in terms.contexts:
        for action, _, reserve in terms.offers_in(context):
            cheapest[action] = min(reserve, cheapest.get(action, reserve))
    for action, reserve in cheapest.items():
        if reserve > terms.budget:
            log.warning(
                "action %r can never be taken: it needs %r, and the budget is %r",
                action,
                terms.unit.amount(reserve),
                terms.unit.amount(terms.budget),
            )
