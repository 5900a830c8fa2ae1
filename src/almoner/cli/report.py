"""The command `almoner report`: whether a campaign has worked."""

from __future__ import annotations

from dataclasses import asdict

import click

from almoner.cli.ledger import opened_campaign
from almoner.cli.output import amount, counted, print_json, print_table, small_amount

__all__ = ["report"]


@click.command()
@click.argument("url", metavar="URL")
@click.argument("campaign", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def report(url: str, campaign: str, as_json: bool) -> None:
    """Report whether a campaign has worked: its lift, what that cost, and other budgets.

    The lift is the reward of an arrival with the campaign less that without it, by the arrivals
    that were held out, or by inverse probability where the campaign only explores. URL is that of
    the store, which is only read.
    """
    from almoner.live.reports.final_report import in_digits, sentences

    with opened_campaign(url, campaign) as agent:
        result = agent.final_report()
    if as_json:
        print_json(asdict(result))
        return
    unit, money = result.reward_unit, result.money_unit
    click.echo(
        f"{result.name} ({result.status}): {counted(result.arrivals, 'arrival')}, "
        f"{result.served:,} served, reward {in_digits(result.reward)}{unit}; spent "
        f"{result.spent:,} of {result.budget:,}{money}"
        + (f", {result.planned:,}{money} planned" if result.planned else "")
    )
    for sentence in sentences(result):
        click.echo(sentence)
    click.echo("\nWith another budget, by the present estimates:\n")
    rows = [
        (
            f"{point.multiple:g} ×",
            amount(point.budget, 2) + money,
            small_amount(point.reward) + unit,
            f"{'+' * (point.extra >= 0)}{in_digits(point.extra)}{unit}",
        )
        for point in result.budgets
    ]
    print_table(["Budget", "Amount", "Reward of all arrivals", "Difference"], rows)
