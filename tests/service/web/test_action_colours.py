"""Colours of actions: distinct as long as there are any, and then of the actions used most."""

from __future__ import annotations

from dataclasses import replace

from support.reports import pair, report

from almoner.live.reports.report import ContextReport
from almoner.service.web.action_colours import COLOURS, OTHERS, action_colours


def context(share: float, planned: dict[str, float]) -> ContextReport:
    actions = [pair(action=name, planned=value) for name, value in planned.items()]
    return replace(report().contexts[0], share=share, actions=actions)


def test_as_many_actions_as_colours_have_one_each_in_their_order() -> None:
    names = [f"a{index}" for index in range(COLOURS)]
    colours = action_colours([context(1.0, dict.fromkeys(names, 0.0))])
    assert list(colours.kinds.items()) == [
        (name, f"action-{index}") for index, name in enumerate(names)
    ]
    assert colours.others == 0


def test_with_more_actions_those_of_the_plan_have_a_colour_of_their_own() -> None:
    """Rank 1 is a8, with 0.9 × 0.6; a12 follows with 0.9 × 0.4, and a3 with 0.1 × 1."""
    rare = dict.fromkeys((f"a{index}" for index in range(15)), 0.0) | {"a3": 1.0}
    often = {**dict.fromkeys(rare, 0.0), "a8": 0.6, "a12": 0.4}
    colours = action_colours([context(0.1, rare), context(0.9, often)], {"a14": 9, "a13": 8})
    assert list(colours.kinds) == ["a0", "a3", "a8", "a12", "a13", "a14"]
    assert colours.others == 9
    assert len(set(colours.kinds.values())) == COLOURS, "no colour is used twice"
    assert colours.kinds["a8"] == "action-2", "8 modulo 6: the colour that it always prefers"
    assert colours.kind("a1") == OTHERS
