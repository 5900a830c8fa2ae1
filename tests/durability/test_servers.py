"""PostgreSQL servers with other defaults for isolation and durability."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from support.acknowledgements import Acknowledgement, check_log
from support.agents import TERMS
from support.postgres_server import fresh_database, postgres_url

from almoner import Agent
from almoner.store.events import DECIDED
from almoner.store.sql_logs import run


def new_database(**defaults: str) -> str:
    url = fresh_database(postgres_url())
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in defaults.items():
            connection.execute(
                psycopg.sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                    psycopg.sql.Identifier(connection.info.dbname),
                    psycopg.sql.Identifier(name),
                    psycopg.sql.Literal(value),
                )
            )
    return url


def test_transactions_are_serial_whatever_isolation_the_server_defaults_to() -> None:
    url = new_database(default_transaction_isolation="serializable")
    agents = [Agent.open(url, name="spring", **TERMS) for _ in range(4)]
    with ThreadPoolExecutor(len(agents)) as pool:
        answers = list(pool.map(decide_often, agents))
    ids = [decision for answer in answers for decision in answer]
    log = check_log(
        agents[0].store,
        "spring",
        [Acknowledgement(DECIDED, number, "new", "mail") for number in ids],
    )
    assert sorted(ids) == [event.seq for event in log]
    for agent in agents:
        agent.close()


def decide_often(agent: Agent) -> list[int]:
    return [agent.decide("new").id for _ in range(10)]


def test_commits_are_durable_whatever_the_server_defaults_to() -> None:
    url = new_database(synchronous_commit="off")
    with Agent.open(url, name="spring", **TERMS) as agent:
        database: Any = agent.store._database  # type: ignore[attr-defined]
        with database.transaction() as transaction:
            assert run(transaction, "SHOW synchronous_commit") == [("on",)]


def test_no_query_plan_is_cached_for_a_short_log() -> None:
    """A cached query plan made for empty tables scans the whole log in each transaction.

    It took 0.3 ms at first, and 5 ms after 20,000 events.
    """
    with Agent.open(new_database(), name="spring", **TERMS) as agent:
        decide_often(agent)
        database: Any = agent.store._database  # type: ignore[attr-defined]
        with database.transaction() as transaction:
            assert run(transaction, "SELECT * FROM pg_prepared_statements") == []
