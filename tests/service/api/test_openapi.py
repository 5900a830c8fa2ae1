"""The OpenAPI document against a running service, tested by schemathesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from support.live_service import SPRING, in_thread
from support.waiting import PATIENCE

from almoner.service.app import create_app
from almoner.store import open_store

EXAMPLES = settings(
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=list(HealthCheck),
)

CONFIG = SchemathesisConfig.from_dict(
    {
        "request-timeout": PATIENCE,  # the first decision of a kind compiles kernels
        "checks": {
            # No type can say what the library checks: 422 is for what fits the document otherwise.
            "positive_data_acceptance": {
                "expected-statuses": ["2xx", "401", "403", "404", "409", "422"]
            },
            "negative_data_rejection": {
                "expected-statuses": ["400", "401", "403", "404", "405", "409", "413", "415", "422"]
            },
        },
    }
)

DOCUMENT = create_app(open_store("memory:")).services.document
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A service with a campaign that has some decisions."""
    with in_thread() as url, httpx.Client(base_url=url, timeout=PATIENCE) as client:
        assert client.post("/api/campaigns", json=SPRING).status_code == 201
        decisions = "/api/campaigns/spring/decisions"
        for _ in range(3):
            assert client.post(decisions, json={"context": "new"}).status_code == 200
        yield url


@SCHEMA.parametrize()
@EXAMPLES
def test_every_operation_keeps_to_the_document(case: Case[Any], url: str) -> None:
    case.call_and_validate(base_url=url)


@SCHEMA.include(path_regex="{name}").parametrize()
@EXAMPLES
def test_so_it_does_with_a_campaign_that_exists(case: Case[Any], url: str) -> None:
    case.path_parameters["name"] = "spring"
    if "decision" in case.path_parameters:
        case.path_parameters["decision"] = 1
    case.call_and_validate(
        base_url=url,
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ],
    )


def test_the_component_of_a_status_keeps_its_name() -> None:
    """Clients generated from the document have classes of these names."""
    pause = DOCUMENT["paths"]["/api/campaigns/{name}/pause"]["post"]["responses"]["200"]
    schema = pause["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/State"}
    assert set(DOCUMENT["components"]["schemas"]["State"]["properties"]) == {"name", "status"}


def test_borrowed_rewards_are_documented_and_may_be_missing() -> None:
    pair = DOCUMENT["components"]["schemas"]["ActionReport"]
    for field in ("pooled", "borrowed"):
        kinds = {kind["type"] for kind in pair["properties"][field]["anyOf"]}
        assert kinds == {"number", "null"}
        assert field not in pair["required"], "a service of an older version has none"
        assert field in pair["description"]


def test_generated_clients_send_the_key_but_for_monitoring() -> None:
    document = create_app(open_store("memory:")).services.document
    assert {"key": []} in document["security"]
    assert "key" in document["components"]["securitySchemes"]
    operations = [(path, methods.get("get", {})) for path, methods in document["paths"].items()]
    free = [path for path, operation in operations if operation.get("security") == []]
    assert free == ["/health", "/ready"]


@pytest.mark.parametrize("name", ["NewCampaign", "Guess", "TermChanges", "ActionTerms", "Visit"])
def test_every_field_of_a_request_is_described(name: str) -> None:
    """A program in another language has no docstrings of `almoner.Agent` to look into."""
    schema = create_app(open_store("memory:")).services.document["components"]["schemas"][name]
    silent = [field for field, value in schema["properties"].items() if "description" not in value]
    assert not silent
    assert "almoner.Agent" not in str(schema)


def test_terms_have_their_ranges_and_examples() -> None:
    schemas = create_app(open_store("memory:")).services.document["components"]["schemas"]
    fields = schemas["NewCampaign"]["properties"]
    assert (fields["risk"]["maximum"], fields["risk"]["examples"]) == (0.5, [0.01])
    assert (fields["holdout"]["maximum"], fields["explore"]["maximum"]) == (0.9, 1)
    examples = {"reward_range": [[0, 350]], "currency": ["EUR"], "reward_window": ["7 days"]}
    for field, example in examples.items():
        assert fields[field]["anyOf"][0]["examples"] == example
    assert schemas["ActionTerms"]["properties"]["expires"]["anyOf"][0]["examples"] == ["7 days"]
