"""The root command: errors as one sentence with an exit code, and options of a problem."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from almoner import __version__
from almoner.compilation import progress
from almoner.errors import AlmonerError, BrokenLedger

if TYPE_CHECKING:
    from almoner.problem import Problem

__all__ = ["INTERRUPTED", "echo_reward_range", "load_problem", "main", "problem_options"]

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal."""


class _FindingExit(click.ClickException):
    """The exit of a command that found a ledger broken."""

    exit_code = 1


class _RefusalExit(click.ClickException):
    """The exit of a command whose input was refused."""

    exit_code = 2


class _ErrorHandlingGroup(click.Group):
    """Group that prints errors of almoner and the system as one sentence, without a traceback.

    The exit code is 2, or 1 for a broken ledger, which is a finding and no refusal, or 130 after
    Ctrl-C.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would exit with 1, which says that a ledger is broken
            click.echo("Aborted!", err=True)
            raise SystemExit(INTERRUPTED) from None
        except BrokenLedger as error:
            raise _FindingExit(str(error)) from None
        except AlmonerError as error:
            raise _RefusalExit(str(error)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of the pipe has closed it: click exits
                raise
            raise _RefusalExit(_system_refusal(error)) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of use, not of the alphabet


def _system_refusal(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is None:
        return f"the system refused: {reason}"
    return f"cannot use {str(error.filename)!r}: {reason}; check the path"


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from almoner.simulation.lanes import describe_lanes

    click.echo(f"almoner, version {__version__}\nlanes: {describe_lanes()}")
    ctx.exit()


@click.group(cls=_ErrorHandlingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and how simulations use vector registers, and exit.",
)
def main() -> None:
    """Spend a fixed budget well, one decision at a time, while learning."""
    progress.show_on(sys.stderr)


def problem_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add FILE, the options that override its values, and --json."""
    for decorate in (
        click.argument("file", metavar="FILE"),
        click.option("--json", "as_json", is_flag=True, help="Print JSON for programs."),
        click.option("--rho", type=float, help="Budget per round, instead of what FILE says."),
        click.option("--budget", type=float, help="Budget, instead of what FILE says."),
        click.option("--horizon", type=int, help="Rounds, instead of what FILE says."),
    ):
        command = decorate(command)
    return command


def load_problem(
    file: str, horizon: int | None, budget: float | None, rho: float | None
) -> Problem:
    """Load the problem of FILE with the overrides; a new horizon alone keeps the ratio."""
    from almoner import checks
    from almoner.scenarios import load

    if budget is not None and rho is not None:
        raise click.UsageError("give --budget or --rho, not both")
    problem = load(file)
    rounds = problem.horizon if horizon is None else checks.whole("horizon", horizon)
    if rho is not None:
        checks.number("--rho", rho, low=0)
        checks.number("--rho times the horizon", rho * rounds)
    if budget is not None:
        return problem.replace(horizon=rounds, budget=budget)
    if horizon is not None or rho is not None:
        return problem.scaled(rounds, ratio=rho)
    return problem


def echo_reward_range(problem: Problem) -> None:
    """Print what rewards of 0 and 1 stand for, if the problem was fitted to a log in a unit."""
    if problem.fit is not None and problem.fit.reward_range != (0.0, 1.0):
        low, high = problem.fit.reward_range
        click.echo(f" Rewards of 0 and 1 are {low:,g} and {high:,g} in the log.")
