"""Every recipe with every combination of its arguments on a live campaign: it opens, or the refusal
names what can really be chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import signature
from itertools import product
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import almoner as al
from almoner.errors import InvalidInput
from almoner.live.opening import new_terms
from almoner.live.terms.parse_terms import make_terms
from almoner.policy.base import PARTS
from almoner.policy.recipes import RECIPES
from almoner.service.app import create_app
from almoner.store import open_store

MEANS, PROBS = [[0.2], [0.4]], (0.3, 0.7)
TERMS = {"contexts": ["a", "b"], "actions": {"coupon": 1}, "horizon": 100, "budget": 20}

VALUES: dict[str, list[Any]] = {
    "reward_means": [None, MEANS],
    "context_probs": [None, PROBS],
    "contexts": [
        None,
        al.KnownContexts(),
        al.KnownContexts(probs=PROBS),
        al.EmpiricalContexts(),
        al.TruncatedContexts(until=20),
    ],
    "until": [None, 20],
    "width": [0.25],
    "caution": [0.5],
    "override": [False, True],
    "rounds": [None, 10],
    "test": ["none", "usable"],
    "update": [True, False],
    "cap": [None, 0.5],
    "factor": [50.0],
}

CLOSING: dict[str, Any] = {"at": "2099-01-01T00:00:00Z", "arrivals": 100.0}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "learned defaults": {"default_rewards": "learned"},
    "known defaults": {"default_rewards": {"a": 0.1, "b": 0.0}},
    "unequal costs": {"actions": {"coupon": {"cost": 1, "reserve": 2}, "call": 2}},
    "new contexts": {"new_contexts": True},
    "closing time": {"horizon": CLOSING},
}


def made(name: str) -> Iterator[tuple[dict[str, Any], al.Policy]]:
    """Yield the policies of a recipe, with the arguments that made them."""
    arguments = [*signature(RECIPES[name]).parameters]
    for values in product(*(VALUES[argument] for argument in arguments)):
        chosen = dict(zip(arguments, values, strict=True))
        yield chosen, RECIPES[name](**chosen)


def library(terms: dict[str, Any]) -> dict[str, Any]:
    """Return terms in JSON as the library takes them."""
    actions = {
        name: al.Action(**action) if isinstance(action, dict) else action
        for name, action in terms["actions"].items()
    }
    horizon = al.ClosingTime(**CLOSING) if terms["horizon"] == CLOSING else terms["horizon"]
    return {**terms, "actions": actions, "horizon": horizon}


def refusal(policy: al.Policy, **changes: Any) -> str | None:
    """Return the error of `Agent.open` for a policy; None if it opens."""
    try:
        new_terms({**library({**TERMS, **changes}), "policy": policy})
    except InvalidInput as error:
        return str(error)
    return None


def exists(argument: str) -> bool:
    parts = {name: part for _, axis in PARTS.values() for name, part in axis.items()}
    takers: list[Any] = [make_terms, al.Policy, *RECIPES.values(), *parts.values()]
    return any(argument in signature(taker).parameters for taker in takers)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_refusal_names_what_exists(name: str, variant: str) -> None:
    for _, policy in made(name):
        message = refusal(policy, **VARIANTS[variant])
        for part, field in re.findall(r"(\w+)\((\w+)=", message or ""):
            assert field in signature(getattr(al, part)).parameters, message
        for argument in re.findall(r"(\w+)=", message or ""):
            assert exists(argument), message


def known(name: str, message: str) -> dict[str, Any]:
    """Return the arguments that a refusal asks a recipe for."""
    arguments = signature(RECIPES[name]).parameters
    if "takes means" in message:
        assert "give reward_means=… to its recipe" in message
        return {"reward_means": MEANS}
    assert "takes probs" in message
    if "contexts" in arguments:
        assert "give contexts=KnownContexts(probs=…)" in message
        return {"contexts": al.KnownContexts(probs=PROBS)}
    assert "context_probs=… to a recipe without contexts=" in message
    return {"context_probs": PROBS}


@pytest.mark.parametrize("name", RECIPES)
def test_whoever_does_what_a_refusal_says_can_start(name: str) -> None:
    """`rounded(reward_means=…)` was told to give it context_probs, which it does not take."""
    for chosen, _ in made(name):
        arguments = dict(chosen)
        for _ in range(2):  # means and probabilities may both be missing
            message = refusal(RECIPES[name](**arguments))
            if message is not None:
                arguments |= known(name, message)
        assert refusal(RECIPES[name](**arguments)) is None


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with TestClient(create_app(open_store("memory:"), rate=1e9)) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_over_http_the_same_is_said(client: httpx.Client, variant: str) -> None:
    for name in RECIPES:
        _, policy = next(made(name))  # without arguments
        terms = {**TERMS, **VARIANTS[variant]}
        answer = client.post("/api/plan", json={**terms, "policy": policy.to_dict()})
        message = refusal(policy, **VARIANTS[variant])
        assert (answer.status_code == 200) == (message is None), answer.text
        if message is not None:
            assert (answer.status_code, answer.json()["message"]) == (422, message)
        named = client.post("/api/plan", json={**terms, "policy": name})
        if message is not None:
            assert named.json() == answer.json()
