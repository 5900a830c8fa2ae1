"""The client has the methods and results of the agent, and retries without repeating effects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import httpx
import numpy as np
import pytest
from support.live_service import in_thread

from almoner import (
    Action,
    Agent,
    ClosingTime,
    Decision,
    Pace,
    Settlement,
    errors,
    kl_ucb_rounded,
)
from almoner.client import Client, exchange
from almoner.live.audit import audit
from almoner.store import Store, open_store

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"coupon": 5.0, "call": Action(cost=2.0, reserve=3.0)},
    "horizon": 1000,
    "budget": 2000,
    "seed": 1,
}


@pytest.fixture(scope="module")
def store() -> Store:
    return open_store("memory:")


@pytest.fixture(scope="module")
def url(store: Store) -> Iterator[str]:
    with in_thread(store) as url:
        yield url


def opened(url: str, name: str, **options: Any) -> Client:
    return Client(url, campaign=name, **options)


def test_it_answers_what_an_agent_answers(url: str) -> None:
    twin = Agent.open("memory:", name="twin", **TERMS)
    with opened(url, "twin") as spring:
        spring.create(**TERMS)
        for number in range(40):
            context = "new" if number % 3 else "returning"
            key = f"visit-{number}"
            decision = spring.decide(context, key=key)
            assert decision == twin.decide(context, key=key)
            if not decision.skipped:
                bill = decision.reserved / 2
                settled = spring.settle(decision.id, cost=bill)
                assert settled == twin.settle(decision.id, cost=bill)
                assert isinstance(settled, Settlement)
            spring.reward(decision.id, number % 2)
            twin.reward(decision.id, number % 2)
        batch = spring.decide_many(["new", "returning"], available=["call"], keys=["a", "b"])
        assert batch == twin.decide_many(["new", "returning"], available=["call"], keys=["a", "b"])
        dear = {"call": Decimal("0.75")}
        assert spring.decide("new", key="own", costs=dear) == twin.decide(
            "new", key="own", costs=dear
        )
        costs = [None, {"call": 0.5, "coupon": 9}]
        assert spring.decide_many(["new"] * 2, keys=["c", "d"], costs=costs) == twin.decide_many(
            ["new"] * 2, keys=["c", "d"], costs=costs
        )
        spring.reward_many({entry.id: 0.25 for entry in batch})
        twin.reward_many({entry.id: 0.25 for entry in batch})
        assert spring.report()["reward"] == twin.report().reward
        held = next(entry for entry in spring.decide_many(["new"] * 50) if not entry.skipped)
        assert spring.cancel(held.id).refunded == held.reserved
        assert spring.show()["spent"] == twin.terms.unit.amount(twin.ledger.spent)


def test_it_refuses_what_an_agent_refuses_and_takes_numbers_of_numpy(url: str) -> None:
    with opened(url, "odd") as campaign:
        campaign.create(**TERMS)
        decision = campaign.decide("new", available=["coupon"])
        campaign.reward(np.int64(decision.id), np.float32(0.5))  # type: ignore[arg-type]
        for odd in (decision, 0, -1, "1", True, 2**60):
            with pytest.raises(errors.UnknownDecision, match="there is no decision"):
                campaign.cancel(odd)  # type: ignore[arg-type]
        with pytest.raises(errors.InvalidInput, match="contexts must be a list of texts, got"):
            campaign.decide_many("new")
        with pytest.raises(errors.InvalidInput, match=r"what is sent must be .*object is none"):
            campaign.reward(decision.id, object())  # type: ignore[arg-type]
    with pytest.raises(errors.StoreError, match="the client of campaign 'odd' is closed"):
        campaign.decide("new")
    for name in ("", None, "a/b"):
        with pytest.raises(errors.InvalidTerms, match="name must be a text"):
            Client(url, campaign=name)  # type: ignore[arg-type]


def test_it_has_the_verbs_of_the_agent() -> None:
    within = {"open", "look", "ask_all", "now", "events"}  # only the same process can have these
    public = {name for name in vars(Agent) if not name.startswith("_")} - within
    verbs = {name for name in public if inspect.isfunction(getattr(Agent, name))}
    assert {"decide_many", "reward_many"} <= verbs
    assert public - {"ledger", "terms", "first_id"} <= set(dir(Client))
    for verb in verbs:
        ours, theirs = (inspect.signature(getattr(kind, verb)) for kind in (Client, Agent))
        assert list(ours.parameters) == [name for name in theirs.parameters if name != "by"]


def test_pausing_reporting_and_reading_the_log(url: str) -> None:
    with opened(url, "watched") as campaign:
        campaign.create(**TERMS)
        made = [campaign.decide("new") for _ in range(5)]
        campaign.pause()
        assert campaign.status == "paused"
        assert campaign.decide("new").reason == "paused"
        campaign.resume()
        assert campaign.status == "running"
        assert campaign.report()["arrivals"] == 5
        assert campaign.latest(1)[0]["reason"] == "paused"
        assert [row["decision"] for row in campaign.log()][:5] == [entry.id for entry in made]
        campaign.end()
        assert campaign.status == "closed"


def test_all_kinds_of_terms_are_sent(url: str) -> None:
    horizon = ClosingTime(
        opens="2026-01-01T00:00Z",  # type: ignore[arg-type]
        at="2099-01-01T00:00Z",  # type: ignore[arg-type]
        arrivals=1000,
        profile=(("2050-01-01T00:00Z", 0.5),),  # type: ignore[arg-type]
    )
    with opened(url, "a name with spaces, ümlauts and %2F") as campaign:
        terms = {**TERMS, "horizon": horizon, "policy": kl_ucb_rounded(), "contexts": ("a", "b")}
        shown = campaign.create(**terms)
        assert shown["closes"] == "2099-01-01T00:00:00+00:00"
        assert shown["policy"] == kl_ucb_rounded().to_dict()
        assert campaign.create(**terms)["name"] == campaign.campaign


def test_errors_are_those_of_the_library(url: str) -> None:
    with opened(url, "erring") as campaign:
        with pytest.raises(errors.UnknownCampaign, match="no campaign 'erring'"):
            campaign.decide("new")
        with pytest.raises(errors.InvalidTerms, match="budget must be"):
            campaign.create(**{**TERMS, "budget": 0.00000015})
        campaign.create(**TERMS)
        with pytest.raises(errors.DifferentTerms, match="budget=2000"):
            campaign.create(**{**TERMS, "budget": 3000})
        with pytest.raises(errors.InvalidInput, match="context must be one of"):
            campaign.decide("nobody")
        with pytest.raises(errors.UnknownDecision, match="no decision 999999"):
            campaign.settle(999_999 * 10**9, cost=1)
        with pytest.raises(errors.InvalidInput, match="finite numbers"):
            campaign.reward(1, float("nan"))
        with pytest.raises(errors.InvalidInput, match="reward must be between 0 and 1"):
            campaign.reward(1, 2)
        decision = campaign.decide("new", key="once")
        campaign.reward(decision.id, 1)
        with pytest.raises(errors.Conflict, match="a reward is final"):
            campaign.reward(decision.id, 0)
        for client_or_agent in (campaign, Agent.open("memory:", name="twin", **TERMS)):
            with pytest.raises(errors.InvalidInput, match="rewards must be a table of values by"):
                client_or_agent.reward_many([(1, 1.0)])  # type: ignore[arg-type]
        with pytest.raises(errors.UnknownDecision, match="no decision 999999"):
            campaign.reward_many({decision.id: 1.0, 999_999 * 10**9: 1.0})
        with pytest.raises(errors.InvalidInput, match="keys must hold 2 keys"):
            campaign.decide_many(["new", "new"], keys=["only one"])


def test_every_error_code_is_that_of_its_class() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)
        if issubclass(error, errors.AlmonerError):
            assert exchange._ERRORS[error.code] is error


Fault = Callable[[], httpx.Response] | str


class Flaky(httpx.BaseTransport):
    """A transport that loses requests or responses as ``faults`` says."""

    def __init__(self, url: str, faults: Iterator[Fault]) -> None:
        self._inner, self._url, self._faults = httpx.HTTPTransport(), url, faults
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        fault = next(self._faults, "")
        if fault == "lost":
            raise httpx.ConnectError("refused")
        if callable(fault):
            return fault()
        self.sent += 1
        answer = self._inner.handle_request(request)
        if fault == "unheard":
            answer.read()
            answer.close()
            raise httpx.ReadTimeout("too late")
        return answer

    def close(self) -> None:
        self._inner.close()


def answered(status: int, **headers: str) -> Callable[[], httpx.Response]:
    return lambda: httpx.Response(status, headers=headers, text="<html>a proxy</html>")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the waits between attempts without waiting."""
    waits: list[float] = []
    monkeypatch.setattr("almoner.client.http_client.sleep", waits.append)
    return waits


def test_what_is_tried_again_is_done_once(url: str, store: Store, slept: list[float]) -> None:
    faults: list[Fault] = [
        "",
        "unheard",
        "lost",
        "",
        "unheard",
        answered(502),
        "unheard",
        "",
        "lost",
        "unheard",
        "",
        "unheard",
    ]
    flaky = Flaky(url, iter(faults))
    with opened(url, "flaky", transport=flaky) as campaign:
        campaign.create(**TERMS)
        decision = campaign.decide("new")
        batch = campaign.decide_many(["new", "returning"])
        assert isinstance(decision, Decision)
        campaign.reward(decision.id, 1.0)
        campaign.reward_many({entry.id: 1.0 for entry in batch})
        assert campaign.report()["rewarded"] == 3
    balance = audit(store, "flaky")
    assert balance.decisions == 3, "although the answers were lost"
    assert [entry.context for entry in batch] == ["new", "returning"]
    assert flaky.sent > 5
    assert len(slept) == 8, "once for each fault"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_it_waits_longer_each_time_and_gives_up_in_the_end(
    status: int, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.client.exchange.monotonic", lambda: sum(slept))
    always = httpx.MockTransport(lambda request: answered(status)())
    with (
        opened("http://service", "any", transport=always, patience=30) as campaign,
        pytest.raises(errors.AlmonerError, match=str(status)),
    ):
        campaign.status  # noqa: B018
    assert slept == sorted(slept) or max(slept) <= exchange.LONGEST_WAIT
    assert 20 < sum(slept) <= 30
    assert all(later <= exchange.LONGEST_WAIT for later in slept)


def test_it_waits_as_long_as_it_is_told_to(slept: list[float]) -> None:
    answers = iter(
        [answered(429, **{"Retry-After": "7"})(), httpx.Response(200, json={"status": "x"})]
    )
    once = httpx.MockTransport(lambda request: next(answers))
    with opened("http://service", "any", transport=once) as campaign:
        assert campaign.status == "x"
    assert 7 <= slept[0] <= 7 + exchange.FIRST_WAIT


def test_what_cannot_succeed_is_not_tried_again(slept: list[float]) -> None:
    broken = {"error": "broken_ledger", "message": "it does not add up"}
    once = httpx.MockTransport(lambda request: httpx.Response(500, json=broken))
    with (
        opened("http://service", "any", transport=once) as campaign,
        pytest.raises(errors.BrokenLedger, match="does not add up"),
    ):
        campaign.decide("new")
    assert slept == []


def test_a_service_that_is_not_there_is_named() -> None:
    with (
        opened("http://127.0.0.1:1", "any", patience=0) as campaign,
        pytest.raises(errors.StoreError, match=r"127\.0\.0\.1:1.* does not answer"),
    ):
        campaign.decide("new")


def test_a_url_is_http() -> None:
    with pytest.raises(errors.InvalidInput, match="url must begin with http"):
        Client("localhost:8000", campaign="spring")


def test_the_log_is_read_whatever_line_breaks_are_in_names(url: str) -> None:
    names = ["a\u2028b", "c\u2029d", "e\u0085f"]
    with opened(url, "breaks") as campaign:
        campaign.create(**{**TERMS, "contexts": names})
        campaign.decide_many(names)
        assert [row["context"] for row in campaign.log()] == names


def test_the_log_is_asked_for_again_like_everything_else(url: str, slept: list[float]) -> None:
    faults: list[Fault] = ["", "", "lost", answered(503), ""]
    with opened(url, "asked again", transport=Flaky(url, iter(faults))) as campaign:
        campaign.create(**TERMS)
        campaign.decide("new")
        assert len(list(campaign.log())) == 1
        assert len(slept) == 2
    with pytest.raises(errors.StoreError, match="is closed; open another one"):
        list(campaign.log())
    with (
        opened("http://127.0.0.1:1", "any", patience=0) as campaign,
        pytest.raises(errors.StoreError, match="does not answer"),
    ):
        list(campaign.log())


def test_it_creates_no_other_campaign(url: str) -> None:
    with (
        opened(url, "mine") as campaign,
        pytest.raises(errors.InvalidTerms, match="the campaign of this client is 'mine'"),
    ):
        campaign.create(name="yours", **TERMS)


@pytest.mark.parametrize(
    "terms",
    [
        {"contexts": np.array(["new", "returning"])},
        {"contexts": (name for name in ("new", "returning"))},
        {"budget": "2000.50"},
        {"budget": Fraction(4001, 2)},
        {"actions": {"coupon": "5.00", "call": Action(cost=Decimal("2.5"), reserve="3")}},
        {"unit": "0.01"},
    ],
)
def test_terms_are_taken_as_the_agent_takes_them(
    url: str, terms: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    agreed = {**TERMS, **terms}
    with opened(url, request.node.callspec.id) as campaign:
        shown = campaign.create(**agreed)
        if not isinstance(agreed["contexts"], (list, np.ndarray)):  # read once already
            agreed["contexts"] = shown["contexts"]
        twin = Agent.open("memory:", name="twin", **agreed)
        assert shown["budget"] == twin.terms.unit.amount(twin.terms.budget)
        decision = campaign.decide("new", key="a")
        assert replace(decision, id=1) == twin.decide("new", key="a")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"url": 5}, "url must begin with http"),
        ({"url": "http://[::1"}, "url must be an address"),
        ({"api_key": "ké"}, "api_key must be a text of ASCII characters"),
        ({"api_key": 7}, "api_key must be a text of ASCII characters"),
    ],
)
def test_a_client_that_cannot_work_is_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(errors.InvalidInput, match=match):
        Client(**{"url": "http://127.0.0.1:1", "campaign": "spring", **arguments})


def test_letters_of_a_text_are_no_actions(url: str) -> None:
    with opened(url, "letters") as campaign:
        campaign.create(**TERMS)
        with pytest.raises(errors.InvalidInput, match="available must be a list"):
            campaign.decide("new", available="call")
        with pytest.raises(errors.InvalidInput, match="available must be a list"):
            campaign.decide_many(["new"], available="call")


def test_late_outcomes_are_terms_like_others(url: str) -> None:
    terms = {
        **TERMS,
        "actions": {"coupon": Action(cost=1, reserve=5, expires="7 days", learn_cost=True)},
        "reward_window": timedelta(hours=36),
        "risk": 0.01,
    }
    with opened(url, "late") as late:
        created = late.create(**terms)
        assert (created["reward_window"], created["risk"]) == ("36 hours", 0.01)
        assert created["actions"]["coupon"]["learn_cost"] is True
        assert late.create(**terms) == created
        late.decide("new")
        report = late.report()
        assert (report["reward_window"], report["only_good_news"]) == ("36 hours", False)
        assert report["contexts"][0]["actions"][0]["declared"] == 1.0
    for name, value, message in [
        ("reward_window", "soon", "reward_window must be a duration above 0"),
        ("risk", 2, "risk"),
        ("learn_cost", "yes", "learn_cost"),
    ]:
        with opened(url, "refused") as refused, pytest.raises(errors.AlmonerError, match=message):
            refused.create(**{**TERMS, name: value})


def test_costs_by_context_and_durations_are_sent(url: str) -> None:
    costs = {"new": 1, "returning": Decimal("2.5")}
    pace = Pace(day=50, zone=None)
    terms = {**TERMS, "actions": {"coupon": costs, "call": {"cost": 2}}, "pace": pace}
    with opened(url, "by context") as campaign:
        shown = campaign.create(**terms)
        assert shown["actions"]["coupon"]["cost"] == {"new": 1.0, "returning": 2.5}
        assert campaign.create(**terms) == shown
        assert campaign.amend(add={"gift": costs})["actions"]["gift"]["reserve"]["new"] == 1
        decision = campaign.decide("returning", available=["gift"])
        assert decision.reserved == 2.5
        assert campaign.open_decisions(timedelta(hours=1)) == []
        assert [row["id"] for row in campaign.open_decisions()] == [decision.id]
