"""Migrations: the steps that create and change the tables of an SQL store.

SQLite and PostgreSQL run the same SQL, but for `OnlyIn`. A step and the record of it commit
together, so that a store is always at exactly one version. Steps are never edited, only added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from almoner.errors import BrokenLedger, StoreError
from almoner.store.base import MissingStore
from almoner.store.database import Statements, run

__all__ = [
    "CHAINED",
    "DETAILED",
    "FOLLOWS",
    "INDEXED",
    "KEYED",
    "LOOKUPS",
    "MIGRATIONS",
    "PERSONS",
    "OnlyIn",
    "migrate",
    "no_store",
    "refuse_unreadable",
]


class OnlyIn(NamedTuple):
    """A statement for one of the databases; the other has no such statement, and does not need it.

    ``dialect`` is that of the `Statements` that run it.
    """

    dialect: str
    text: str


Step = Sequence[str | OnlyIn]
"""The statements that bring a store to its next version."""

MIGRATIONS: tuple[Step, ...] = (
    (
        """
        CREATE TABLE almoner_campaigns (
            id BIGINT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            terms TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE almoner_events (
            campaign BIGINT NOT NULL REFERENCES almoner_campaigns (id),
            seq BIGINT NOT NULL CHECK (seq > 0),
            kind TEXT NOT NULL,
            at BIGINT NOT NULL,
            "left" BIGINT NOT NULL CHECK ("left" >= 0),
            decision BIGINT,
            round BIGINT,
            context TEXT,
            action TEXT,
            cost BIGINT CHECK (cost >= 0),
            reserve BIGINT CHECK (reserve >= cost),
            probability DOUBLE PRECISION CHECK (probability > 0 AND probability <= 1),
            price DOUBLE PRECISION,
            reason TEXT,
            key TEXT,
            available TEXT,
            bill BIGINT CHECK (bill >= 0),
            charged BIGINT CHECK (charged >= 0 AND charged <= bill),
            reward DOUBLE PRECISION CHECK (reward >= 0 AND reward <= 1),
            PRIMARY KEY (campaign, seq)
        )
        """,
        # Makes a second settlement, reward or cancellation of a decision impossible.
        "CREATE UNIQUE INDEX almoner_once ON almoner_events (campaign, decision, kind)",
        "CREATE UNIQUE INDEX almoner_keys ON almoner_events (campaign, key) WHERE key IS NOT NULL",
        """
        CREATE TABLE almoner_snapshots (
            campaign BIGINT PRIMARY KEY REFERENCES almoner_campaigns (id),
            body TEXT NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE almoner_api_keys (
            name TEXT PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            permits TEXT NOT NULL,
            created BIGINT NOT NULL,
            revoked BIGINT
        )
        """,
    ),
    (
        # NULL for events written before this step.
        "ALTER TABLE almoner_events ADD COLUMN checksum TEXT",
        """
        CREATE TABLE almoner_heads (
            campaign BIGINT PRIMARY KEY REFERENCES almoner_campaigns (id),
            seq BIGINT NOT NULL,
            checksum TEXT
        )
        """,
        """
        INSERT INTO almoner_heads (campaign, seq)
        SELECT id, (SELECT coalesce(max(seq), 0) FROM almoner_events WHERE campaign = id)
        FROM almoner_campaigns
        """,
    ),
    (
        # Each on an expression of its own: by its statistics of other campaigns PostgreSQL took
        # another index on campaign for the cheaper one, and read a whole log to find a decision.
        "DROP INDEX almoner_once",
        "DROP INDEX almoner_keys",
        "CREATE UNIQUE INDEX almoner_once ON almoner_events ((campaign + 0), decision, kind)",
        """
        CREATE UNIQUE INDEX almoner_keys ON almoner_events ((campaign - 0), key)
        WHERE key IS NOT NULL
        """,
    ),
    (
        "ALTER TABLE almoner_events ADD COLUMN detail TEXT",
        # 0 for campaigns created before this step, whose decisions all have ids from 1 on.
        "ALTER TABLE almoner_campaigns ADD COLUMN first_id BIGINT NOT NULL DEFAULT 0",
    ),
    (
        # NULL for campaigns created before this step, which have no terms about persons.
        "ALTER TABLE almoner_campaigns ADD COLUMN person_key TEXT",
        """
        CREATE TABLE almoner_persons (
            campaign BIGINT NOT NULL REFERENCES almoner_campaigns (id),
            person TEXT NOT NULL,
            decision BIGINT NOT NULL,
            at BIGINT NOT NULL,
            PRIMARY KEY (campaign, decision)
        )
        """,
        "CREATE INDEX almoner_visits ON almoner_persons ((campaign + 0), person)",
    ),
    (
        # For each row PostgreSQL runs a query on the campaign, a third of what a row takes. Nothing
        # else depends on the constraint: a log is appended to only under the lock of its row in
        # almoner_heads, which refers to the campaign, so that neither is deleted meanwhile, nor the
        # campaign later. SQLite, which cannot drop a constraint, checks it in a tenth of the time.
        OnlyIn(
            "postgresql",
            "ALTER TABLE almoner_events DROP CONSTRAINT IF EXISTS almoner_events_campaign_fkey",
        ),
        # A decision is found by its number, which is that of its event: only the events that follow
        # need this index, and only of them there could be two.
        "DROP INDEX almoner_once",
        """
        CREATE UNIQUE INDEX almoner_once ON almoner_events ((campaign + 0), decision, kind)
        WHERE kind <> 'decided'
        """,
    ),
)

KEYED = 2
"""The first version with API keys."""

CHAINED = 3
"""The first version whose events have checksums."""

INDEXED = 4
"""The first version whose indexes of decisions and keys are on expressions, as in `LOOKUPS`."""

DETAILED = 5
"""The first version whose events have details, and whose campaigns have ids of their own."""

PERSONS = 6
"""The first version that keeps the actions of persons."""

FOLLOWS = "kind <> 'decided'"
"""Condition of the events in the index almoner_once, in the words of which planners know it."""

LOOKUPS = {
    "decision": "campaign + 0",
    "key": "campaign - 0",
    "person": "campaign + 0",
    "seq": "campaign",
}
"""Expressions of the indexes by which events and persons are found, by column."""

READABLE = 1
"""The oldest version whose campaigns can be read as they are; a step that alters them raises it."""

_TABLE = re.compile(r"CREATE TABLE (\w+)")
_VERSION_TABLE = "CREATE TABLE almoner_schema (version BIGINT PRIMARY KEY)"


def migrate(
    transaction: Statements,
    *,
    find: str,
    steps: Sequence[Step] = MIGRATIONS,
    missing: str | None = None,
) -> int:
    """Run the missing steps in a transaction; return the version.

    A store that is up to date is only read: rights to its tables are enough.

    Parameters
    ----------
    transaction
        Runs the statements.
    find
        A query that returns a row if a table of the given name exists.
    steps
        The statements of each version.
    missing
        The name under which a database without a store is refused; left out, it gets one.
    """
    version = _version(transaction, find, steps)
    if version == 0 and missing is not None:
        raise no_store(missing)
    if version < len(steps):
        transaction.begin_migration()
        if not run(transaction, find, "almoner_schema"):
            run(transaction, _VERSION_TABLE)
    for number in range(version, len(steps)):
        try:
            for statement in steps[number]:
                if isinstance(statement, str):
                    run(transaction, statement)
                elif statement.dialect == transaction.dialect:
                    run(transaction, statement.text)
            run(transaction, f"INSERT INTO almoner_schema (version) VALUES ({number + 1})")  # noqa: S608
        except Exception as reason:
            if version == 0:  # a new store: the reason says enough
                raise
            raise StoreError(
                f"the store must be brought from version {version} of its schema to {len(steps)}, "
                f"and was left as it is: {str(reason).strip().splitlines()[0]}; open it once as "
                "the owner of its tables, while no export or other long read is under way"
            ) from reason
    return len(steps)


def refuse_unreadable(
    transaction: Statements, *, name: str, find: str, readable: int = READABLE
) -> int:
    """Return the version of a store; refuse one that would need a migration to be read.

    For ``find`` see `migrate`.
    """
    version = _version(transaction, find, MIGRATIONS)
    if version == 0:
        raise no_store(name)
    if version < readable:
        raise StoreError(
            f"{name} was written by an older almoner (its schema is version {version}) and cannot "
            "be read as it is; open it with Agent.open or almoner serve, which brings it up to date"
        )
    return version


def no_store(name: str) -> MissingStore:
    """Return the error for a database without a store."""
    return MissingStore(f"{name} holds no campaigns of almoner; check the path")


def _version(transaction: Statements, find: str, steps: Sequence[Step]) -> int:
    """Return the version of a store; refuse one that is newer, or has tables of a later version.

    Taken for an older one, it would be read without its checksums.
    """
    version = 0
    if run(transaction, find, "almoner_schema"):
        version = run(transaction, "SELECT coalesce(max(version), 0) FROM almoner_schema")[0][0]
    if not isinstance(version, int):
        raise BrokenLedger(
            f"the store says that its schema is version {version!r}, which is no number: "
            "almoner_schema was changed; restore it from a copy"
        )
    if version > len(steps):
        raise StoreError(
            f"the store was written by a newer almoner (its schema is version {version}, this one "
            f"knows {len(steps)}); upgrade almoner"
        )
    later = [text for text in chain.from_iterable(steps[version:]) if isinstance(text, str)]
    for table in _TABLE.findall("\n".join(later)):
        if run(transaction, find, table):
            raise BrokenLedger(
                f"the store says that its schema is version {version}, but it has the table "
                f"{table} of a later one: almoner_schema was changed; restore it from a copy"
            )
    return version
