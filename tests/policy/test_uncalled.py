"""Classes and recipes that were not called, wherever a policy is taken: one sentence, a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import almoner as al
from almoner.experiments import Sweep
from almoner.policy.base import PARTS
from almoner.testing import check_policy

PROBLEM = al.Problem(context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10, budget=4)


class Own:
    """A policy written outside the package."""

    def decide(self, arrival: al.Arrival) -> int:
        return al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        pass


def open_campaign(policy: Any) -> None:
    al.Agent.open(
        "memory:", name="x", contexts=["a"], actions={"b": 1.0}, horizon=10, budget=4, policy=policy
    )


TAKERS: dict[str, Callable[[Any], object]] = {
    "simulate": lambda policy: al.simulate(PROBLEM, policy, runs=1),
    "trace": lambda policy: al.trace(PROBLEM, policy),
    "exact_value": lambda policy: al.exact_value(PROBLEM, policy),
    "check_policy": check_policy,
    "Agent.open": open_campaign,
    "Sweep": lambda policy: Sweep(problems={"p": PROBLEM}, policies={"x": policy}),
    "Sweep.from_dict": lambda policy: Sweep.from_dict(
        {"problems": {"p": PROBLEM}, "policies": {"x": policy}}
    ),
}


@pytest.mark.parametrize("uncalled", [Own, al.alp, al.Policy, al.UCB], ids=lambda it: it.__name__)
@pytest.mark.parametrize("taker", TAKERS)
def test_what_was_not_called_is_named_with_its_parentheses(taker: str, uncalled: Any) -> None:
    with pytest.raises(al.InvalidInput) as refused:
        TAKERS[taker](uncalled)
    message = str(refused.value)
    assert re.search(r"^\S*( policy|policy|policies\S*) must be .*, got .*; call it: ", message)
    assert message.endswith(f"; call it: {uncalled.__name__}()")
    assert "\n" not in message


@pytest.mark.parametrize("axis", PARTS)
def test_a_part_that_was_not_called_is_named_with_its_parentheses(axis: str) -> None:
    parts: dict[str, Any] = {
        "rewards": al.UCB(),
        "contexts": al.KnownContexts(),
        "allocation": al.AdaptiveLP(),
        "prior": al.Pooled(),
    }
    part = type(parts[axis])
    with pytest.raises(al.InvalidPolicy, match=rf"{axis} must .*; call it: {part.__name__}\(\)$"):
        al.Policy(**{**parts, axis: part})
