"""The conformance check passes every recipe, and rejects policies with faults."""

from typing import Any

import pytest

import almoner as al
from almoner.policy.lowering import lower
from almoner.testing import TINY, check_policy, policies

PRICED = {name for name, problem in TINY.items() if (problem.costs != problem.costs[0, 0]).any()}
DEFAULTS = {name for name, problem in TINY.items() if problem.default_rewards.any()}


def test_the_tiny_problems_have_every_kind_of_cost_and_default() -> None:
    """Unequal costs and default rewards, known and not, each alone and together."""
    kinds = {
        (name in PRICED, name in DEFAULTS, problem.defaults_known) for name, problem in TINY.items()
    }
    assert kinds == {
        (unequal, defaults, known)
        for unequal in (False, True)
        for defaults, known in ((False, False), (True, False), (True, True))
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", al.RECIPES)
def test_every_recipe_passes_on_every_tiny_problem_it_applies_to(name: str) -> None:
    """Procrastination applies to two contexts at equal costs, and learns of actions only."""
    refused = {
        "pb": {"one context", "three contexts"} | PRICED,
        "ucb_pb": {"one context", "three contexts"} | PRICED | DEFAULTS,
    }
    ran = check_policy(al.RECIPES[name]())
    assert set(ran) == set(TINY) - refused.get(name, set())


@pytest.mark.parametrize(
    ("code", "lacking"),
    [
        ({"reward": 99}, "rewards without a level"),
        ({"context": 99}, "contexts without a branch in weights_of"),
        ({"rule": 99}, "an allocation without a branch in serve_share"),
    ],
)
def test_a_part_without_a_branch_does_not_pass(
    monkeypatch: pytest.MonkeyPatch, code: dict[str, Any], lacking: str
) -> None:
    monkeypatch.setattr(
        policies, "lower", lambda *given, **terms: lower(*given, **terms)._replace(**code)
    )
    with pytest.raises(AssertionError, match=f"on the problem 'ordinary' the policy has {lacking}"):
        check_policy(al.ucb_alp())


class Spender:
    """Serves every arrival that the budget affords."""

    def __init__(self, problem: al.Problem) -> None:
        self.costs = problem.costs[:, 0]
        self.served = 0

    def decide(self, arrival: al.Arrival) -> int:
        return 0 if arrival.budget_left >= self.costs[arrival.context] else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.served += 1


@pytest.mark.parametrize("name", TINY)
def test_a_python_policy_passes_on_its_own_problem(name: str) -> None:
    assert check_policy(Spender(TINY[name]), problems={name: TINY[name]}) == [name]


def test_a_python_policy_that_ignores_costs_is_rejected() -> None:
    with pytest.raises(AssertionError, match=r"'unequal costs' .* that the budget still affords"):
        check_policy(Spender(TINY["three contexts"]))


class Fickle(Spender):
    """Keeps state in its class across replications, so that a second run differs."""

    calls = 0

    def decide(self, arrival: al.Arrival) -> int:
        Fickle.calls += 1
        return al.SKIP if Fickle.calls % 7 == 0 else super().decide(arrival)


def test_a_policy_that_is_not_a_function_of_its_seed_is_rejected() -> None:
    with pytest.raises(AssertionError, match="another thing on the same seed"):
        check_policy(Fickle(TINY["ordinary"]))


class Overspender(Spender):
    """Serves every arrival, whatever the budget."""

    def decide(self, arrival: al.Arrival) -> int:
        return 0


def test_a_policy_that_overspends_is_rejected() -> None:
    with pytest.raises(
        AssertionError, match=r"on the problem 'ordinary' .* got action 0 at cost 1"
    ):
        check_policy(Overspender(TINY["ordinary"]))


class Inventor(Spender):
    """Returns an action that does not exist."""

    def decide(self, arrival: al.Arrival) -> int:
        return 99


def test_a_policy_that_invents_actions_is_rejected() -> None:
    with pytest.raises(AssertionError, match=r"on the problem 'ordinary' .* SKIP, got 99"):
        check_policy(Inventor(TINY["ordinary"]))


def test_an_error_in_a_policy_is_reported_with_its_message() -> None:
    class Broken(Spender):
        def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
            raise KeyError("no such thing")

    with pytest.raises(
        AssertionError, match="the policy fails: KeyError: 'no such thing'"
    ) as caught:
        check_policy(Broken(TINY["ordinary"]))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_policy_that_applies_to_no_problem_does_not_pass() -> None:
    stranger = al.alp(context_probs=[0.25] * 4)
    with pytest.raises(AssertionError, match="applies to none of the problems"):
        check_policy(stranger)
    with pytest.raises(AssertionError, match="applies to none of the problems"):
        check_policy(al.thrifty(), problems={})


def test_an_object_that_is_no_policy_is_refused() -> None:
    with pytest.raises(al.InvalidPolicy, match="an object with decide and learn"):
        check_policy(object())  # type: ignore[arg-type]
