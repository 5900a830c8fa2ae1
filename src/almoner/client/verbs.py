"""Verbs of a campaign as HTTP requests, the same for `Client` and `AsyncClient`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from almoner import checks, errors
from almoner.client.encoding import as_json, no_less
from almoner.live.decision import Decision, Settlement, is_id, unknown
from almoner.live.terms.names import campaign_name
from almoner.live.terms.terms import SKIP_NAME

__all__ = ["Call", "Verbs"]


def _as_it_is(response: Any) -> Any:
    return response


class Call(NamedTuple):
    """One request, and how to read the JSON of its response."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    read: Callable[[Any], Any] = _as_it_is


class Verbs:
    """Makes the requests of one campaign."""

    def __init__(self, campaign: Any) -> None:
        self.campaign = campaign_name(campaign)
        self.path = f"/api/campaigns/{quote(self.campaign, safe='')}"

    def create(self, terms: dict[str, Any]) -> Call:
        """Create the campaign on these terms, or check that it has them."""
        if "name" in terms:
            raise errors.InvalidTerms(
                f"the campaign of this client is {self.campaign!r}; leave name out, or open a "
                "client with campaign=…"
            )
        return Call("POST", "/api/campaigns", {"name": self.campaign, **as_json(terms)})

    def show(self) -> Call:
        """Show the campaign."""
        return Call("GET", self.path)

    def decide(
        self,
        context: str | None,
        available: Iterable[str] | None,
        key: str | None,
        person: str | None = None,
        costs: Mapping[str, Any] | None = None,
        scores: Mapping[Any, float] | None = None,
        features: Mapping[str, float] | None = None,
    ) -> Call:
        """Decide for one arrival; without a key, a random one lets retries decide once."""
        body = {
            "context": context,
            "available": _actions(available),
            "key": _new_key() if key is None else key,
            **({} if person is None else {"person": person}),
            **({} if costs is None else {"costs": _costs(costs)}),
            **({} if scores is None else {"scores": _scores(scores)}),
            **({} if features is None else {"features": features}),
        }
        return Call("POST", f"{self.path}/decisions", body, lambda answer: Decision(**answer))

    def decide_many(
        self,
        contexts: Iterable[str] | None,
        available: Iterable[str] | None,
        keys: Iterable[str | None] | None,
        persons: Iterable[str | None] | None = None,
        costs: Iterable[Mapping[str, Any] | None] | None = None,
        scores: Iterable[Mapping[Any, float]] | None = None,
        features: Iterable[Mapping[str, float]] | None = None,
    ) -> Call:
        """Decide for several arrivals in their order."""
        given = {
            **({} if contexts is None else {"contexts": checks.listed("contexts", contexts)}),
            **({} if scores is None else {"scores": [*map(_scores, scores)]}),
            **({} if features is None else {"features": [*features]}),
        }
        if not given:
            raise checks.refuse("contexts", "be a list of texts", contexts)
        count = len(next(iter(given.values())))
        names = [None] * count if keys is None else checks.listed("keys", keys)
        body = {
            **given,
            "available": _actions(available),
            "keys": [_new_key() if name is None else name for name in names],
            **({} if persons is None else {"persons": checks.listed("persons", persons)}),
            **({} if costs is None else {"costs": [*map(_costs, checks.listed("costs", costs))]}),
        }
        return Call("POST", f"{self.path}/decisions/batch", body, _decisions)

    def settle(self, decision: Any, cost: Any, key: str | None) -> Call:
        """Replace the reserve of an action by its actual cost."""
        body = {**_named(decision, key), "cost": no_less(cost)}
        return Call("POST", f"{self.path}/settlements", body, lambda row: Settlement(**row))

    def cancel(self, decision: Any, key: str | None) -> Call:
        """Cancel an action that never happened."""
        path = f"{self.path}/cancellations"
        return Call("POST", path, _named(decision, key), lambda row: Settlement(**row))

    def reward(self, decision: Any, value: Any, key: str | None) -> Call:
        """Report the reward of an action or a skip."""
        return self._rewards([{**_named(decision, key), "value": value}])

    def reward_many(self, values: Any) -> Call:
        """Report the rewards of several actions or skips by id or key."""
        if not isinstance(values, Mapping):
            raise checks.refuse("rewards", "be a table of values by id", values)
        return self._rewards(
            [
                {"key" if isinstance(decision, str) else "id": decision, "value": value}
                for decision, value in values.items()
            ]
        )

    def _rewards(self, rewards: list[dict[str, Any]]) -> Call:
        return Call("POST", f"{self.path}/rewards", {"rewards": rewards})

    def open_decisions(self, older_than: Any, limit: int) -> Call:
        """List the decisions whose reserve is not settled."""
        query = {"limit": limit, **as_json({"older_than": older_than})}
        return self._get(f"/open?{urlencode(query)}", lambda answer: answer["decisions"])

    def amend(self, note: str | None, changes: dict[str, Any]) -> Call:
        """Change terms of the running campaign."""
        return Call("PATCH", self.path, as_json({**changes, "note": note}))

    def preview_amendment(self, note: str | None, changes: dict[str, Any]) -> Call:
        """Report the campaign as it is and with changes."""
        body = as_json({**changes, "note": note})
        return Call("POST", f"{self.path}/amendments/preview", body)

    def switch(self, verb: str) -> Call:
        """Pause, resume or close the campaign."""
        return Call("POST", f"{self.path}/{verb}")

    def report(self) -> Call:
        """Report how the campaign is doing."""
        return self._get("/report")

    def final_report(self) -> Call:
        """Report whether the campaign has worked."""
        return self._get("/final-report")

    def forget(self, person: Any) -> Call:
        """Forget a person."""
        path, body = f"{self.path}/persons", {"person": person}
        return Call("DELETE", path, body, lambda answer: answer["actions"])

    def latest(self, limit: int) -> Call:
        """List the latest decisions, newest first."""
        return self._get(f"/latest?limit={limit}", lambda answer: answer["decisions"])

    def log(self) -> Call:
        """List all decisions, as JSON lines."""
        return self._get("/log?format=jsonl")

    def _get(self, rest: str, read: Callable[[Any], Any] = _as_it_is) -> Call:
        return Call("GET", f"{self.path}{rest}", None, read)


def _decisions(answer: dict[str, Any]) -> list[Decision]:
    return [Decision(**decision) for decision in answer["decisions"]]


def _new_key() -> str:
    return secrets.token_urlsafe(15)


def _named(decision: Any, key: str | None) -> dict[str, Any]:
    """Return the decision of a request, by its id or its key."""
    if (decision is None) == (key is None):
        raise errors.InvalidInput(
            f"a decision is given by its id or by its key, got id={decision!r} and key={key!r}; "
            "give one of them"
        )
    if key is not None:
        return {"key": key}
    if not is_id(decision):
        raise unknown(decision)
    return {"id": int(decision)}


def _scores(scores: Any) -> Any:
    """Return the scores of an arrival for JSON, that of a skip by its name."""
    if not isinstance(scores, Mapping):
        return scores
    return {SKIP_NAME if name is None else name: value for name, value in scores.items()}


def _costs(costs: Any) -> Any:
    """Return the costs of an arrival for JSON; the service refuses whatever is no table."""
    if not isinstance(costs, Mapping):
        return costs
    return {name: no_less(cost) for name, cost in costs.items()}


def _actions(available: Iterable[str] | None) -> list[Any] | None:
    return None if available is None else checks.listed("available", available)
