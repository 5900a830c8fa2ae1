"""PostgreSQL servers whose defaults are not ours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from support.acknowledgements import Note, prove
from support.agents import TERMS
from support.postgres_server import fresh_database, postgres_url

from almoner import Agent
from almoner.store.events import DECIDED


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


def test_agents_take_turns_whatever_isolation_the_server_defaults_to() -> None:
    url = new_database(default_transaction_isolation="serializable")
    agents = [Agent.open(url, name="spring", **TERMS) for _ in range(4)]
    with ThreadPoolExecutor(len(agents)) as pool:
        answers = list(pool.map(decide_often, agents))
    ids = [decision for answer in answers for decision in answer]
    log = prove(agents[0].store, "spring", [Note(DECIDED, number, "new", "mail") for number in ids])
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
            assert transaction.run("SHOW synchronous_commit") == [("on",)]


def test_no_plan_is_kept_from_when_the_log_was_short() -> None:
    """A kept plan read all of the log in each transaction: 0.3 ms at first, 5 after 20,000 events.

    The server has not looked at its tables yet, so that what it plans for them is for empty ones.
    """
    with Agent.open(new_database(), name="spring", **TERMS) as agent:
        decide_often(agent)
        database: Any = agent.store._database  # type: ignore[attr-defined]
        with database.transaction() as transaction:
            assert transaction.run("SELECT * FROM pg_prepared_statements") == []
