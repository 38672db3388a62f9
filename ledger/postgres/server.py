"""How a Postgres is reached: a URL, a pool of connections, transactions that say whose they are.

No state is kept in a session: role and tenant are set for each transaction, so that a pooler which
hands out connections by the transaction can stand between: it is noticed, statements are then not
prepared, and who waits for events listens at the address that `listen=` names.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, cast
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

import psycopg
from eventsourcing.postgres import ConnectionPool, PostgresDatastore
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolClosed, PoolTimeout

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    CallerMistake,
    LedgerError,
    OlderProgram,
)
from beliefledger.ledger.postgres.faults import MISSING, OLDEST, fault, first_line
from beliefledger.ledger.secret_filter import refuse

DEFAULT_SCHEMA = "beliefledger"
DEFAULT_TENANT = "default"
POOL_SIZE = 8
TENANT_SETTING = "beliefledger.tenant"
_SCHEMES = ("postgresql", "postgres")
_OURS = ("schema", "tenant", "prepare", "lock_timeout", "listen", "read", "read_lag")
LOCK_SECONDS = 5.0
"""How long a writer waits for its turn, unless the URL says otherwise."""
_LONGEST_LOCK_SECONDS = 60.0
READ_LAG = 5.0
"""How many seconds an answer of a replica may be behind, unless the URL says otherwise."""
_LONGEST_READ_LAG = 3600.0
_REPLICA_CONNECTS = {"connect_timeout": "2", "tcp_user_timeout": "5000"}
_QUESTION_SECONDS = 20
"""How long a question waits for a lock, as while keys are rewritten or a schema changes."""
_PREPARED_AFTER = 5
"""A statement is prepared when it is sent over a connection so many times."""
_POOL_SECONDS = 20.0
"""How long a connection of the pool is waited for."""
_TRIES = 5
"""Of a read whose connection turns out to be dead: a restarted server leaves the pool full of them,
and one that was being made meanwhile comes to it late.
"""

logger = logging.getLogger("beliefledger")
Connection = psycopg.Connection[Any]
Values = Sequence[object]


def is_postgres(url: str) -> bool:
    return url.partition("://")[0] in _SCHEMES and "://" in url


@dataclass(frozen=True, slots=True)
class PostgresURL:
    """A ledger's place: `postgresql://user@host/database?schema=beliefledger&tenant=default`.

    `schema` and `tenant` are ours and may be left out, and so may `lock_timeout` (the seconds that
    a writer waits for its turn before it is tried again), `prepare` (whether statements are
    prepared: by default unless a pooler stands between), `listen` (`host:port` or
    `host:port/database` of the server itself, where a pooler hands on no notifications), `read`
    (the same of a streaming replica that questions may go to) and `read_lag` (the seconds that its
    answers may be behind). All else is libpq's.
    """

    conninfo: str = field(repr=False)
    schema: str = DEFAULT_SCHEMA
    tenant: str = DEFAULT_TENANT
    prepare: bool | None = None
    """None: it is found out."""
    lock_timeout: float = LOCK_SECONDS
    listen: str | None = None
    read: str | None = None
    read_lag: float = READ_LAG

    @classmethod
    def parse(cls, url: str) -> PostgresURL:
        """Raises `CallerMistake` for a URL that says something impossible."""
        if not is_postgres(url):
            raise CallerMistake("A Postgres URL begins with postgresql://.")
        parts = _split(url)
        said = parse_qsl(parts.query, keep_blank_values=True)
        ours = {name: value for name, value in said if name in _OURS}
        rest = urlencode([each for each in said if each[0] not in _OURS], quote_via=quote)
        conninfo = f"{parts.scheme}://{parts.netloc}{parts.path}{rest and '?' + rest}"
        try:
            conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError as problem:
            raise CallerMistake(f"{_NO_URL}: {_unquoted(problem, parts)}.") from None
        schema = ours.get("schema", DEFAULT_SCHEMA)
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,39}", schema) or schema.startswith("pg_"):
            raise CallerMistake(
                f"{schema!r} cannot be a schema: use up to 40 small letters, digits and _."
            )
        tenant = ours.get("tenant", DEFAULT_TENANT)
        if not re.fullmatch(r"[!-~]{1,200}", tenant):
            raise CallerMistake(
                f"{tenant!r} cannot be a tenant: use up to 200 ASCII characters without spaces."
            )
        refuse(tenant, "The tenant's name")
        prepare = ours.get("prepare")
        if prepare not in {None, "yes", "no"}:
            raise CallerMistake(f"prepare is yes or no, not {prepare!r}.")
        patience = _seconds(ours, "lock_timeout", LOCK_SECONDS, 0.001, _LONGEST_LOCK_SECONDS)
        lag = _seconds(ours, "read_lag", READ_LAG, 0, _LONGEST_READ_LAG)
        for name, what in (("listen", "the server itself"), ("read", "a streaming replica")):
            if name in ours and not _ADDRESS.fullmatch(ours[name]):
                raise CallerMistake(
                    f"{name} is host:port or host:port/database of {what}, without a user: it is"
                    " the one of the URL."
                )
        if "read_lag" in ours and "read" not in ours:
            raise CallerMistake("read_lag is of a replica: say with read=host:port which.")
        known = None if prepare is None else prepare == "yes"
        return cls(
            conninfo, schema, tenant, known, patience, ours.get("listen"), ours.get("read"), lag
        )

    def __str__(self) -> str:
        """Without the password."""
        parts = conninfo_to_dict(self.conninfo)
        where = parts.get("host") or parts.get("hostaddr") or "localhost"
        port = f":{parts['port']}" if parts.get("port") else ""
        more = {"schema": self.schema, "tenant": self.tenant}
        fallback = {"schema": DEFAULT_SCHEMA, "tenant": DEFAULT_TENANT}
        said = urlencode({name: value for name, value in more.items() if value != fallback[name]})
        host = quote(str(where), safe="")
        return f"postgresql://{host}{port}/{parts.get('dbname') or ''}{said and '?' + said}"

    @property
    def without_passwords(self) -> str:
        """The URL as it can be given again, where the passwords come from elsewhere."""
        said = conninfo_to_dict(self.conninfo)
        kept = {
            name: str(value)
            for name, value in said.items()
            if value is not None and name not in {"password", "sslpassword", "user", "dbname"}
        }
        ours = (
            ("schema", self.schema, DEFAULT_SCHEMA),
            ("tenant", self.tenant, DEFAULT_TENANT),
            ("prepare", {None: None, True: "yes", False: "no"}[self.prepare], None),
            ("listen", self.listen, None),
            ("read", self.read, None),
            ("read_lag", f"{self.read_lag:g}", f"{READ_LAG:g}"),
        )
        kept |= {name: value for name, value, usual in ours if value and value != usual}
        user = f"{quote(str(said['user']), safe='')}@" if said.get("user") else ""
        database = quote(str(said.get("dbname") or ""), safe="")
        return f"postgresql://{user}/{database}{kept and '?' + urlencode(kept, quote_via=quote)}"

    @property
    def direct(self) -> str:
        """How libpq reaches the server itself: by `listen`, where that is said."""
        return self.conninfo if self.listen is None else self._at(self.listen)

    def of_replica(self) -> PostgresURL:
        """The URL of the replica that `read` names. It is given up soon: the primary is there."""
        conninfo = self._at(self.read or "")
        given = conninfo_to_dict(conninfo)
        soon = {name: each for name, each in _REPLICA_CONNECTS.items() if name not in given}
        # Nobody listens there, so no pooler before it needs to be told of.
        conninfo = make_conninfo(conninfo, **soon)
        return replace(self, conninfo=conninfo, listen=self.read, read=None, read_lag=READ_LAG)

    def _at(self, address: str) -> str:
        """How libpq reaches another address as the same user."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise CallerMistake(f"{address!r} is no host:port.")
        said = {name: value for name, value in found.groupdict().items() if value}
        return make_conninfo(self.conninfo, **said | {"host": said["host"].strip("[]")})


_ADDRESS = re.compile(
    r"(?P<host>/[^\s:]+|\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(:(?P<port>[0-9]{1,5}))?(/(?P<dbname>[^\s/?#@]+))?"
)
_NO_URL = "The URL is not one of Postgres"
_WRITE = (
    "write postgresql://user:password@host:5432/database, with characters such as @ : / ? # of the"
    " password as %40 %3A %2F %3F %23"
)


def _split(url: str) -> SplitResult:
    """The parts of a URL, none of which may be taken for another: errors name host and database."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise CallerMistake(f"{_NO_URL}: {_WRITE}.") from None
    who, _, hosts = parts.netloc.rpartition("@")
    names = [each.partition("=")[0] for each in parts.query.split("&")]
    if (
        not re.fullmatch(r"((\[[^]]*\]|[^:,\[\]]*)(:\d*)?(,|$))*", hosts)
        or any("@" in part for part in (who, parts.path, *names))
        or "#" in url
    ):
        raise CallerMistake(f"{_NO_URL}: {_WRITE}.")
    return parts


def _unquoted(problem: Exception, parts: SplitResult) -> str:
    """What libpq says of a URL, unless it quotes what may be secret."""
    said = first_line(problem)
    secret = parts.netloc.rpartition("@")[0]
    quoted = re.findall(r'"([^"]*)"', said)
    return _WRITE if any(each in secret or secret in each for each in quoted if secret) else said


def _seconds(said: Mapping[str, str], name: str, usual: float, least: float, most: float) -> float:
    """A number of seconds that a URL says. Raises `CallerMistake` for what is none."""
    given = said.get(name, str(usual))
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", given) or not least <= float(given) <= most:
        raise CallerMistake(f"{name} is a number of seconds up to {most:g}, not {given!r}.")
    return float(given)


class _Connecting:
    """What a pool connects with: it is given a connection that is there already, then new ones."""

    def __init__(self) -> None:
        self.first: Connection | None = None

    def connect(self, conninfo: str, **options: Any) -> Connection:
        first, self.first = self.first, None
        return psycopg.connect(conninfo, **options) if first is None else first


class Server(PostgresDatastore):
    """eventsourcing's Postgres datastore over a pool of our own, and our errors.

    Connections are made when they are first needed. Safe to use from several threads.
    """

    def __init__(
        self, url: PostgresURL, *, size: int = POOL_SIZE, patience: float = _POOL_SECONDS
    ) -> None:
        super().__init__("", "", "", "", "", schema=url.schema)
        self.url = url
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._opened = self._closed = False
        self._version: Callable[[Connection], int] | None = None
        self._demoted: str | None = None
        said = conninfo_to_dict(url.conninfo)
        self._options: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": _PREPARED_AFTER if url.prepare else None,
            "application_name": said.get("application_name", "beliefledger"),
            "connect_timeout": said.get("connect_timeout", 10),
            # A host that vanishes is noticed in half a minute, and not when TCP gives up.
            "keepalives_idle": said.get("keepalives_idle", 10),
            "keepalives_interval": said.get("keepalives_interval", 5),
            "keepalives_count": said.get("keepalives_count", 4),
            "tcp_user_timeout": said.get("tcp_user_timeout", 30_000),
        }
        self.pooled: bool | None = None
        """Whether a pooler stands between; None before the first connection."""
        self._connecting = _Connecting()
        self.pool = ConnectionPool(
            url.conninfo,
            connection_class=cast("type[Connection]", self._connecting),
            kwargs=self._options,
            min_size=1,
            max_size=size,
            open=False,
            timeout=patience,
            reconnect_timeout=15,
            num_workers=1,
        )

    def __str__(self) -> str:
        return str(self.url)

    def register_type_adapters(self) -> None:
        """None are needed; the library's own would connect."""

    # Connections

    def connect(self) -> Connection:
        """A connection of one's own, outside the pool, as for the views' pool."""
        made = self._connected(self.url.conninfo)
        if self.pooled is None:
            try:
                self._look_for_pooler(made)
            except psycopg.Error as problem:  # the server went away just now
                made.close()
                raise self._fault(problem) from problem
        return made

    def connect_directly(self) -> Connection:
        """A connection of one's own to the server itself, as far as the URL says where that is: a
        pooler hands on no notifications."""
        return self._connected(self.url.direct)

    @property
    def is_notified(self) -> bool:
        """Whether notifications come through, as far as is known."""
        return self.url.listen is not None or not self.pooled

    def _look_for_pooler(self, made: Connection) -> None:
        """A pooler tells an id of its own where the server tells its process'."""
        found = made.execute("SELECT pg_backend_pid()").fetchone()
        self.pooled = found is not None and found[0] != made.info.backend_pid
        if self.url.prepare is None and not self.pooled:
            made.prepare_threshold = self._options["prepare_threshold"] = _PREPARED_AFTER
        if not self.is_notified:
            logger.info(
                "A pooler stands before %s: followers look by themselves. Say listen=host:port in"
                " the URL, the server's own address, and they are told at once.",
                self,
            )

    def _connected(self, conninfo: str) -> Connection:
        try:
            made = psycopg.connect(conninfo, **self._options)
        except (psycopg.Error, UnicodeError) as problem:  # of a host whose name cannot be one
            raise self._fault(problem) from problem
        version = made.info.server_version // 10_000
        if version < OLDEST:
            made.close()
            raise BackendUnusable(
                f"{self} is PostgreSQL {version}, which lacks something that is needed: use"
                f" {OLDEST} or newer."
            )
        return made

    def _fault(self, problem: Exception) -> LedgerError:
        if self._opened and getattr(problem, "sqlstate", None) in MISSING:
            newer = self._newer()
            if newer is not None:
                return newer
        return fault(self, self.url.schema, problem, first=not self._opened)

    def _newer(self) -> OlderProgram | None:
        """That a newer program has brought the ledger up to date since it was opened, if so."""
        if self._version is None:
            return None
        try:
            with psycopg.connect(self.url.conninfo, **self._options) as connection:
                self._version(connection)
        except OlderProgram as problem:
            return problem
        except psycopg.Error:
            return None
        return None

    def check_process(self) -> None:
        """Raises `CallerMistake` in a child of the process that opened it."""
        if os.getpid() != self._process:
            raise CallerMistake(f"{self} was opened before a fork: open it in the child.")

    def _open(self) -> None:
        self.check_process()
        if self._closed:
            raise CallerMistake(f"{self} was closed: open it again.")
        if not self._opened:
            with self._opening:
                if not self._opened:
                    # Tried once before the pool, whose own attempts say nothing of the cause.
                    tried = self.connect()
                    if self._closed:
                        tried.close()
                        return
                    self._connecting.first = tried
                    self.pool.open(wait=True)  # or who asks next gets a second connection made
                    self._opened = True

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection in autocommit mode. What Postgres says over it is raised as our errors."""
        self._open()
        try:
            with self.pool.connection() as connection:
                yield cast("Connection", connection)
        except PoolClosed:
            raise CallerMistake(f"{self} was closed: open it again.") from None
        except PoolTimeout as problem:
            raise self._fault(self._why_none() or problem) from problem
        except psycopg.Error as problem:
            raise self._fault(problem) from problem

    def _why_none(self) -> psycopg.Error | None:
        """Why the pool has no connection to give, which it does not say itself: for example, the
        password was changed. None where a connection can be made."""
        try:
            psycopg.connect(self.url.conninfo, **self._options).close()
        except psycopg.Error as problem:
            return problem
        return None

    @contextmanager
    def as_tenant(self) -> Iterator[Connection]:
        """One transaction of the app's role on behalf of the tenant; left by an error, rolled
        back."""
        with self.connection() as connection, connection.transaction():
            connection.execute(*self.settings())
            yield connection

    def settings(self) -> tuple[str, Values]:
        """The statement that each transaction begins with, and its values."""
        waits = f"set_config('lock_timeout', '{_QUESTION_SECONDS}s', true)"
        if self._demoted is None:
            return f"SELECT set_config(%s, %s, true), {waits}", (TENANT_SETTING, self.url.tenant)
        return (
            f"SELECT set_config('role', %s, true), set_config(%s, %s, true), {waits}",
            (self._demoted, TENANT_SETTING, self.url.tenant),
        )

    def checks_version(self, version: Callable[[Connection], int]) -> None:
        """Ask this where something is missing: it raises `OlderProgram` for a newer version."""
        self._version = version

    def act_as(self, role: str | None) -> None:
        """From now on transactions act as this role, for a connection that could do more."""
        self._demoted = role

    @property
    def acts_as(self) -> str | None:
        """The role that transactions act as; None for the one that logs in."""
        return self._demoted

    def ask(self, statement: str, values: Values = ()) -> list[Any]:
        """The rows of one question, in a transaction of its own and in one round trip.

        A connection that turns out to be dead is replaced and the question asked again.
        """
        return self.ask_all((statement, values))[0]

    def ask_all(self, *questions: tuple[str, Values]) -> list[list[Any]]:
        """Like `ask`, for several questions: the rows of each."""

        def asked(connection: Connection) -> list[list[Any]]:
            with connection.pipeline(), connection.transaction():
                connection.execute(*self.settings())
                cursors = [connection.execute(*each, binary=True) for each in questions]
            return [cursor.fetchall() for cursor in cursors]

        return self.again(asked)

    def ask_plain(self, statement: str, values: Values = ()) -> list[Any]:
        """Like `ask`, but without tenant and role: for what belongs to no tenant."""
        return self.again(
            lambda connection: connection.execute(statement, values, binary=True).fetchall()
        )

    def again(self, ask: Callable[[Connection], list[Any]]) -> list[Any]:
        """What `ask` gives over a connection; over another one where that turns out to be dead."""
        for tries_left in reversed(range(_TRIES)):
            try:
                with self.connection() as connection:
                    return ask(connection)
            except BackendUnavailable as problem:
                if not (tries_left and self._opened and is_lost(problem.__cause__)):
                    raise
                self.pool.drain()
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the pool. What other threads are doing ends with `CallerMistake`."""
        if not hasattr(self, "_process"):
            return  # called by the library before it was made
        if os.getpid() == self._process and not self._closed:
            self._closed = True
            with self._opening:
                self.pool.close()


def is_lost(problem: BaseException | None) -> bool:
    """True for a connection that ended: what it was asked may or may not have happened."""
    if not isinstance(problem, psycopg.OperationalError) or isinstance(problem, PoolTimeout):
        return False  # without a connection nothing was asked, and the pool has waited already
    # Without a code the connection broke; with these the server, or a pooler before it, ends it.
    return problem.sqlstate is None or problem.sqlstate.startswith(("57P", "08"))
