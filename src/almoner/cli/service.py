"""The commands `almoner serve` and `almoner keys`: the HTTP service and its API keys."""

from __future__ import annotations

import math
from contextlib import closing
from datetime import UTC, datetime

import click

__all__ = ["keys", "serve"]

LOWEST_RATE = 0.001
"""Requests a second that the rate limit can be set to, at least."""

STORE = click.option(
    "--store",
    "url",
    metavar="URL",
    required=True,
    help="Where campaigns are kept: sqlite:///path/to/file.db or postgresql://host/database.",
)


@click.command()
@STORE
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 for any that is free.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=LOWEST_RATE),
    default=1000.0,
    show_default=True,
    help="Requests a second that one client may make in the long run; a batch is one.",
)
@click.option(
    "--connections",
    type=click.IntRange(min=1),
    default=800,
    show_default=True,
    help="Connections at a time, three quarters of them from one address; more than 800 may take a "
    "higher limit on open files (ulimit -n).",
)
@click.option("--demo", is_flag=True, help="Add a campaign with simulated visitors.")
def serve(url: str, host: str, port: int, rate: float, connections: int, demo: bool) -> None:
    """Serve campaigns over HTTP, with a page to watch them.

    Without keys it listens on this machine only; see almoner keys. It stops at Ctrl-C or SIGTERM,
    once everything asked before is answered.

    People who have signed in to the page sign in again after a restart, unless the environment
    variable ALMONER_SESSION_SECRET is the same; processes that share it share sessions.
    """
    try:
        from almoner.service.server import serve as run
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("almoner"):
            raise
        raise click.ClickException(
            f"the service needs {missing.name}, which is not installed; "
            "run pip install 'almoner[serve]'"
        ) from None
    if not math.isfinite(rate):
        raise click.BadParameter(f"{rate} is no finite number", param_hint="--rate")
    run(
        url,
        host=host,
        port=port,
        rate=rate,
        connections=connections,
        demo=demo,
        say=click.echo,
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def keys() -> None:
    """Create, list and revoke the keys to the service.

    As soon as a store has a key, every request for data needs one. A service that runs takes notice
    within seconds.
    """


@keys.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--right",
    type=click.Choice(["decide", "administer"]),
    required=True,
    help="The right that it gives; administer includes decide.",
)
@STORE
def create(name: str, right: str, url: str) -> None:
    """Create a key and print it, once: only a digest of it is kept."""
    from almoner.service.auth.api_keys import check_key_name, create_key
    from almoner.store import open_store

    if url == "memory:":
        raise click.UsageError("a store in memory ends with this command; name one that lasts")
    check_key_name(name)  # before a store is created
    with closing(open_store(url)) as store:
        click.echo(create_key(store, name, right=right))


@keys.command("list")
@STORE
def list_keys(url: str) -> None:
    """Print all keys by name, with their rights."""
    from almoner.cli.output import print_table
    from almoner.store import open_store

    with closing(open_store(url, read_only=True)) as store:
        rows = [
            [key.name, key.permits, _day(key.created), _day(key.revoked)]
            for key in store.api_keys()
        ]
    if rows:
        print_table(["name", "right", "created", "revoked"], rows, left=4)
    else:
        click.echo("there is no key in this store")


@keys.command()
@click.argument("name", metavar="NAME")
@STORE
def revoke(name: str, url: str) -> None:
    """Make a key useless, for good."""
    from almoner.service.auth.api_keys import revoke_key
    from almoner.store import open_store

    with closing(open_store(url, create=False)) as store:
        revoke_key(store, name)
    click.echo(f"the key {name!r} opens nothing any more")


def _day(moment: int | None) -> str:
    if moment is None:
        return ""
    return datetime.fromtimestamp(moment / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
