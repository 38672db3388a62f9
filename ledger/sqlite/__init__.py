"""The ledger in SQLite files: the embedded store."""

from beliefledger.ledger.sqlite.store import SQLiteEventStore

__all__ = ["SQLiteEventStore"]
