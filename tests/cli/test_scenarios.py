"""The list of scenarios that is printed."""

from __future__ import annotations

from support.commands import run

from almoner.scenarios import describe, scenario_names


def test_scenarios_lists_every_scenario_with_what_it_is() -> None:
    result = run("scenarios")
    assert result.exit_code == 0
    words = result.stdout.split()
    for name in scenario_names():
        assert name in words
        assert describe(name).about.split()[0] in words
