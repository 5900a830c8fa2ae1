"""The command line: thin. Parse, call, print."""

from __future__ import annotations

from almoner.cli.app import main
from almoner.cli.experiments import reproduce, sweep
from almoner.cli.ledger import ledger
from almoner.cli.problems import oracle, plan, scenarios, simulate
from almoner.cli.service import keys, serve

__all__ = ["main"]

for command in (plan, simulate, oracle, scenarios, reproduce, sweep, ledger, serve, keys):
    main.add_command(command)
