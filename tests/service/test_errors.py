"""Every error of the library has a code and a status; other failures have the same body."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import httpx
import pytest
from starlette.testclient import TestClient
from support.live_service import SPRING

from almoner import errors
from almoner.service.app import create_app
from almoner.service.errors import STATUS
from almoner.store import open_store
from almoner.store.memory import MemoryStore

RAISED = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.AlmonerError)
]


def test_every_error_has_a_code_of_its_own_and_a_status() -> None:
    codes = [error.code for error in RAISED]
    assert len(set(codes)) == len(codes)
    assert all("code" in vars(error) for error in RAISED)
    assert set(codes) <= set(STATUS)


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_a_status_fits_what_went_wrong(error: type[errors.AlmonerError]) -> None:
    status = STATUS[error.code]
    if issubclass(error, (errors.InvalidInput, errors.NotFound, errors.Conflict)):
        assert 400 <= status < 500
    if issubclass(error, errors.NotFound):
        assert status == 404
    if issubclass(error, errors.StoreError):
        assert status >= 500


class Failing(MemoryStore):
    """A store that raises ``error``."""

    error: BaseException | None = None

    def terms(self, name: str) -> str | None:
        if self.error is not None:
            raise self.error
        return super().terms(name)


@pytest.fixture(scope="module")
def failing() -> Iterator[tuple[Failing, httpx.Client]]:
    store = Failing()
    with TestClient(create_app(store), raise_server_exceptions=False) as client:
        yield store, client


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_an_error_of_the_library_is_answered_with_its_status_and_code(
    error: type[errors.AlmonerError], failing: tuple[Failing, httpx.Client]
) -> None:
    store, client = failing
    store.error = error("a sentence of the library")
    answer = client.get("/api/campaigns/nobody")
    assert (answer.status_code, answer.json()["error"]) == (STATUS[error.code], error.code)
    assert answer.json()["message"] == "a sentence of the library"


def test_a_mistake_of_ours_says_so_and_tells_nothing(
    failing: tuple[Failing, httpx.Client], caplog: pytest.LogCaptureFixture
) -> None:
    store, client = failing
    store.error = RuntimeError("an inner secret")
    answer = client.get("/api/campaigns/nobody")
    assert answer.status_code == 500
    assert answer.json()["error"] == "internal_error"
    assert "secret" not in answer.text
    assert "an inner secret" in caplog.text


def test_one_campaign_that_cannot_be_read_does_not_hide_the_others() -> None:
    store = open_store("memory:")
    store.create("broken", "no terms at all")
    with TestClient(create_app(store)) as client:
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
        listed = client.get("/api/campaigns").json()["campaigns"]
        assert [entry["status"] for entry in listed] == ["broken", "running"]
        assert "terms" in listed[0]["message"]
        assert client.get("/api/campaigns/broken").status_code == STATUS[errors.BrokenLedger.code]
        assert client.get("/metrics").status_code == 200
