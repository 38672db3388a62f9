"""Statements that SQLAlchemy has compiled, kept for all ledgers of a process."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sqlalchemy.engine import Compiled
from sqlalchemy.util import LRUCache

_KEPT = 1_000
_MANY = 100
"""More than are made of two generations of all views: of some five."""


class CompiledStatements(LRUCache[Any, Compiled]):
    """A cache of compiled statements that engines of one kind of database share.

    SQLAlchemy's own belongs to one engine, so every ledger that was opened compiled its statements
    anew, which took a third of the time of a short visit. Its keys begin with the engine's dialect
    object. Here they begin with what a dialect compiles by: its kind and the server's version.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_shared(key), default)

    def __setitem__(self, key: Any, compiled: Compiled) -> None:
        super().__setitem__(_shared(key), compiled)

    def forget(self) -> None:
        """Empty it, where a rebuild put other tables in use and there are many statements: this
        ledger asks the tables before no more, and they would stay as long as their statements do.
        Another ledger may be asking tables of the same number, so a few stay."""
        if len(self) < _MANY:
            return
        for key in list(self):
            with suppress(KeyError):  # another thread was first
                del self[key]


def _shared(key: Any) -> tuple[Any, ...]:
    dialect, *statement = key
    return type(dialect), dialect.server_version_info, *statement


STATEMENTS = CompiledStatements(_KEPT)
"""No words are in it: the views have none, and neither have the questions to them."""
