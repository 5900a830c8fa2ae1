"""The commands `almoner ledger`: list campaigns, verify ledgers, export decisions."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from almoner.cli.output import counted
from almoner.errors import BrokenLedger, UnknownCampaign

if TYPE_CHECKING:
    from almoner.live.agent import Agent
    from almoner.live.audit import Audit
    from almoner.store import Store

__all__ = ["ledger", "opened_campaign"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def ledger() -> None:
    """Look into the ledgers of live campaigns.

    URL is that of the store: sqlite:///path/to/file.db or postgresql://host/database.
    """


@ledger.command("list")
@click.argument("url", metavar="URL")
def list_campaigns(url: str) -> None:
    """Print the names of the campaigns in a store."""
    with _opened(url) as store:
        for name in store.campaigns():
            click.echo(name)


@ledger.command()
@click.argument("url", metavar="URL")
@click.option("--campaign", metavar="NAME", help="Only this campaign.")
def verify(url: str, campaign: str | None) -> None:
    """Prove from the log that no campaign ever overspent.

    The balances are recomputed: spent, reserved and left add up to the budget after each event,
    nothing is settled or rewarded twice, and the snapshot agrees. The log is sealed by a
    chain of checksums from the event named on: no event was changed, added or removed there, nor
    were the terms, unless somebody computed all checksums anew. If anything is wrong, the exit code
    is 1; it is 2 if the store cannot be read.
    """
    with _without_scipy(), _without_garbage_collection():
        _verify(url, campaign)


def _verify(url: str, campaign: str | None) -> None:
    from almoner.live.audit import audit
    from almoner.live.terms.terms import Terms

    faults = []
    with _opened(url) as store:
        names = store.campaigns() if campaign is None else [campaign]
        for name in names:
            try:
                result = audit(store, name)
            except BrokenLedger as fault:  # the other campaigns are still to be verified
                faults.append(str(fault))
                continue
            terms = Terms.from_json(store.terms(name) or "")
            amount = terms.unit.amount
            # With a risk reserves may exceed the budget: then the three do not add up to it.
            shared = result.spent + result.reserved + result.left != result.budget
            plus, equals = (",", " of") if shared else (" +", " =")
            click.echo(
                f"{name}: {counted(result.events, 'event')} verified; "
                f"spent {amount(result.spent):,}{plus} reserved {amount(result.reserved):,}{plus} "
                f"left {amount(result.left):,}{equals} budget {amount(result.budget):,}"
                + (f" {terms.currency}" if terms.currency else "")
                + (f"; overruns {amount(result.overrun):,}" if result.overrun else "")
                + f"; {_sealing(result)}"
            )
        if not names:
            click.echo("there is no campaign in this store")
    if faults:
        raise BrokenLedger("\n".join(faults))


@ledger.command()
@click.argument("url", metavar="URL")
@click.argument("campaign", metavar="NAME")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The file to write; - is standard output.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    help="Format of the file; if left out, the ending of its name, and CSV for -.",
)
def export(url: str, campaign: str, out: str, form: str | None) -> None:
    """Write the decisions of a campaign, with their probabilities, for off-policy tools."""
    from almoner.live.export import export as write
    from almoner.live.export import format_of

    form = format_of(out, form)
    with opened_campaign(url, campaign) as agent:
        count = write(agent, out, form=form)
    if out != "-":
        click.echo(f"{counted(count, 'decision')} of {campaign} written to {out}")


@ledger.command()
@click.argument("url", metavar="URL")
@click.argument("campaign", metavar="NAME")
@click.option("--person", required=True, help="The person, as decisions have named them.")
def forget(url: str, campaign: str, person: str) -> None:
    """Remove everything that can be traced to a person.

    The log has never named them, so it stays as it is, and its checksums hold. Keys of decisions
    are the caller's: do not put persons into them.
    """
    with opened_campaign(url, campaign, read_only=False) as agent:
        count = agent.forget(person)
    click.echo(f"{counted(count, 'action')} of that person forgotten in {campaign}")


@contextmanager
def opened_campaign(url: str, campaign: str, *, read_only: bool = True) -> Iterator[Agent]:
    """Open a campaign that exists, and close its store at the end of the context."""
    from almoner import checks
    from almoner.live.agent import Agent

    with _opened(url, read_only=read_only) as store:
        if campaign not in (names := store.campaigns()):
            near = checks.nearest(campaign, names) or "see almoner ledger list"
            raise UnknownCampaign(f"there is no campaign {campaign!r} in this store; {near}")
        yield Agent.open(store, name=campaign)


def _sealing(result: Audit) -> str:
    """Return a phrase on the part of a log that is sealed by checksums."""
    if result.sealed_from is None:
        return "not sealed, as it was written without checksums" if result.events else "no events"
    if result.sealed_from == 1:
        return "sealed from event 1 on"
    return (
        f"sealed from event {result.sealed_from} on, as those before were written without checksums"
    )


@contextmanager
def _without_scipy() -> Iterator[None]:
    """Keep numba from importing scipy for its BLAS, which no kernel uses: that takes 0.2 s."""
    absent = sys.modules.setdefault("scipy", None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if absent:
            del sys.modules["scipy"]


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which takes 0.1 s for numba's import and 0.3 s at the exit.

    The exit of the process, not of the context: objects that are frozen then are not visited.
    """
    enabled = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _opened(url: str, *, read_only: bool = True) -> Iterator[Store]:
    """Open a store that exists, and close it at the end of the context."""
    from almoner.store import open_store

    store = open_store(url, read_only=read_only, create=False)
    try:
        yield store
    finally:
        store.close()
