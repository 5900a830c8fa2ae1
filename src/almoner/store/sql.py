"""Store in SQL, the same for every `Database`: campaigns and API keys, beside their logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex

from almoner.store.base import IDS, ApiKey
from almoner.store.database import Database, Statements, run
from almoner.store.hash_chain import root
from almoner.store.migrations import DETAILED, KEYED, migrate
from almoner.store.sql_logs import SqlLogs

__all__ = ["SqlStore"]


class SqlStore(SqlLogs):
    """Campaigns in the tables of a database; ``prepare`` migrates or checks the tables first."""

    def __init__(
        self,
        database: Database,
        prepare: Callable[..., int] = migrate,
    ) -> None:
        super().__init__(database)
        try:
            with self._alone() as transaction:
                self._version = prepare(transaction, find=database.find)
        except BaseException:
            database.close()
            raise

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        with self._database.reading() as transaction:
            rows = run(transaction, "SELECT name FROM almoner_campaigns ORDER BY id")
        return [str(name) for (name,) in rows]

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return its terms."""
        with self._alone() as transaction:
            created = run(
                transaction,
                "INSERT INTO almoner_campaigns (id, name, terms, first_id, person_key) "
                "SELECT coalesce(max(id), 0) + 1, CAST(? AS TEXT), CAST(? AS TEXT), "
                "coalesce(max(id), 0) * CAST(? AS BIGINT), CAST(? AS TEXT) "
                "FROM almoner_campaigns WHERE true "
                "ON CONFLICT DO NOTHING RETURNING id",
                name,
                terms,
                IDS,
                token_hex(),
            )
            for (campaign,) in created:
                insert = "INSERT INTO almoner_heads (campaign, seq, checksum) VALUES (?, 0, ?)"
                run(transaction, insert, campaign, root(name, terms))
            rows = run(transaction, "SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0])

    def first_id(self, name: str) -> int:
        """Return the number to which a campaign adds ``seq`` for the id of a decision."""
        if self._version < DETAILED:
            return 0
        query = "SELECT first_id FROM almoner_campaigns WHERE name = ?"
        with self._database.reading() as transaction:
            rows = run(transaction, query, name)
        return int(rows[0][0]) if rows else 0

    def campaign_with(self, first_id: int) -> str | None:
        """Return the campaign whose ids begin after ``first_id``; None unless there is just one."""
        if self._version < DETAILED:
            return None
        query = "SELECT name FROM almoner_campaigns WHERE first_id = ?"
        with self._database.reading() as transaction:
            rows = run(transaction, query, first_id)
        return str(rows[0][0]) if len(rows) == 1 else None

    def api_keys(self) -> list[ApiKey]:
        """Return all keys of the service, oldest first, revoked ones included."""
        if self._version < KEYED:
            return []
        query = "SELECT name, digest, permits, created, revoked FROM almoner_api_keys"
        with self._database.reading() as transaction:
            return [
                ApiKey._make(row) for row in run(transaction, f"{query} ORDER BY created, name")
            ]

    def add_key(self, key: ApiKey) -> bool:
        """Add a key; return whether its name was free."""
        insert = "INSERT INTO almoner_api_keys (name, digest, permits, created, revoked)"
        with self._database.transaction() as transaction:
            added = run(
                transaction,
                f"{insert} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name",
                *key,
            )
        return bool(added)

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""
        update = "UPDATE almoner_api_keys SET revoked = coalesce(revoked, ?) WHERE name = ?"
        with self._database.transaction() as transaction:
            return bool(run(transaction, f"{update} RETURNING name", at, name))

    def close(self) -> None:
        """Close files and connections.

        A forked child does nothing: closing a connection would end the parent's session.
        """
        if self._process.is_current():
            self._database.close()

    @contextmanager
    def _alone(self) -> Iterator[Statements]:
        with self._database.transaction() as transaction:
            for statement in self._database.alone:
                run(transaction, statement)
            yield transaction
