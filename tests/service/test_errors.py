"""Every error of the library has a status and a word; everything else that fails has the shape."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import httpx
import pytest
from litestar.testing import TestClient
from support.live_service import SPRING

from almoner import errors
from almoner.service.app import create_app
from almoner.service.errors import TABLE, WORDS
from almoner.store import open_store
from almoner.store.memory import MemoryStore

RAISED = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.AlmonerError)
]


def test_the_table_is_total() -> None:
    assert set(TABLE) == set(RAISED)


def test_each_word_stands_for_one_error() -> None:
    words = [word for _, word in TABLE.values()]
    assert len(set(words)) == len(words)
    assert set(words) & set(WORDS.values()) == {"not_found"}


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_a_status_fits_what_went_wrong(error: type[errors.AlmonerError]) -> None:
    status, _ = TABLE[error]
    if issubclass(error, (errors.InvalidInput, errors.NotFound, errors.Conflict)):
        assert 400 <= status < 500
    if issubclass(error, errors.NotFound):
        assert status == 404
    if issubclass(error, errors.StoreError):
        assert status >= 500


class Failing(MemoryStore):
    """A store that fails with whatever it is told to."""

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
def test_whatever_the_library_raises_is_answered_by_the_table(
    error: type[errors.AlmonerError], failing: tuple[Failing, httpx.Client]
) -> None:
    store, client = failing
    store.error = error("a sentence of the library")
    answer = client.get("/api/campaigns/nobody")
    assert (answer.status_code, answer.json()["error"]) == TABLE[error]
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
        assert client.get("/api/campaigns/broken").status_code == TABLE[errors.BrokenLedger][0]
        assert client.get("/metrics").status_code == 200
