"""The command line: parses arguments, calls the library, prints the result."""

from __future__ import annotations

from almoner.cli.app import main
from almoner.cli.experiments import reproduce, sweep
from almoner.cli.fit import fit
from almoner.cli.frontier import frontier
from almoner.cli.ledger import ledger
from almoner.cli.oracle import oracle
from almoner.cli.plan import plan
from almoner.cli.replay import replay
from almoner.cli.report import report
from almoner.cli.scenarios import scenarios
from almoner.cli.service import keys, serve
from almoner.cli.simulate import simulate

__all__ = ["main"]

COMMANDS = (
    *(plan, simulate, oracle, scenarios, reproduce, sweep),
    *(fit, frontier, replay),
    *(ledger, report, serve, keys),
)

for command in COMMANDS:
    main.add_command(command)
