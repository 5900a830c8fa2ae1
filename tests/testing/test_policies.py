"""The conformance checks hold for every recipe, and fail for policies that deserve it."""

import pytest

import almoner as al
from almoner.testing import TINY, check_policy


@pytest.mark.parametrize("name", al.RECIPES)
def test_every_recipe_passes_on_every_tiny_problem_it_applies_to(name: str) -> None:
    ran = check_policy(al.RECIPES[name]())
    two_contexts_only = {"one context", "three contexts"} if name.endswith("pb") else set()
    assert set(ran) == set(TINY) - two_contexts_only


class Spender:
    """Serves whoever comes, as long as there is money."""

    def __init__(self) -> None:
        self.served = 0

    def decide(self, arrival: al.Arrival) -> int:
        return 0 if arrival.budget_left >= 1 else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.served += 1


def test_a_plain_policy_passes_too() -> None:
    assert "ordinary" in check_policy(Spender())


class Fickle(Spender):
    """Remembers across replications through its class, so that a second run differs."""

    calls = 0

    def decide(self, arrival: al.Arrival) -> int:
        Fickle.calls += 1
        return al.SKIP if Fickle.calls % 7 == 0 else super().decide(arrival)


def test_a_policy_that_is_not_a_function_of_its_seed_is_caught() -> None:
    with pytest.raises(AssertionError, match="another thing on the same seed"):
        check_policy(Fickle())
