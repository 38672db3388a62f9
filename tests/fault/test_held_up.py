"""One login that takes its turn to write and does not go on: the others write all the same."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from beliefledger import open_memory
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import ClockAhead, HeldUp, VersionConflict
from beliefledger.ledger.group_commit import AppendRequest
from beliefledger.ledger.postgres import arrays, schema
from beliefledger.ledger.postgres import server as postgres_server
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.postgres.tiles import PostgresTiles
from beliefledger.ledger.proofs.notes import Signer
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.store import ErasedMeanwhile, Sealed
from beliefledger.ledger.times import SECOND, system_clock


def sealed(stream: str, version: int = 1) -> Sealed:
    address = Address(os.urandom(16).hex(), "turn.parked.v1", stream, version, "a", None)
    return Sealed(address, b'{"recorded_at":', b"}", None)


class Place:
    """A ledger, and logins that are members of its app's role and of nothing else."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = PostgresURL.parse(url).schema
        self.close = ExitStack()
        self.root = self.connect(url)
        for tenant in ("a", "b"):
            server = Server(PostgresURL.parse(f"{url}&tenant={tenant}"), size=1)
            schema.init(server)
            postgres_vault.init(server)
            server.close()
        for login in ("a", "b"):
            self.root.execute(f"CREATE ROLE {self.name}_{login} LOGIN IN ROLE {self.name}_app")

    def connect(self, url: str) -> psycopg.Connection[Any]:
        conninfo = PostgresURL.parse(url).conninfo
        made = psycopg.connect(conninfo, autocommit=True)
        return self.close.enter_context(closing(made))

    def of(self, login: str, **more: object) -> str:
        parts = urlsplit(self.url)
        query = "".join(f"&{name}={value}" for name, value in more.items())
        return (
            parts._replace(netloc=f"{self.name}_{login}@{parts.hostname or ''}").geturl()
            + f"&tenant={login}{query}"
        )

    def login(self, login: str) -> psycopg.Connection[Any]:
        return self.connect(self.of(login))

    def store(self, login: str, **more: object) -> PostgresEventStore:
        server = Server(PostgresURL.parse(self.of(login, **({"lock_timeout": 0.3} | more))))
        schema.check(server)
        return self.close.enter_context(closing(PostgresEventStore(server)))

    def end_holder(self, connection: psycopg.Connection[Any]) -> tuple[str, int | None, str | None]:
        [row] = connection.execute(f"SELECT * FROM {self.name}.end_holder()")
        return row


@pytest.fixture
def place(postgres_place: str) -> Iterator[Place]:
    made = Place(postgres_place)
    with made.close:
        yield made


def alive(connection: psycopg.Connection[Any]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def asked(
    connection: psycopg.Connection[Any], store: PostgresEventStore, request: AppendRequest
) -> str:
    """What `append` answers to this request when it is called by hand."""
    arrays.prepare(connection)
    [row] = connection.execute(
        store._appender.statement, store._appender.values(request), binary=True
    )
    return str(row[0])


def lift(connection: psycopg.Connection[Any]) -> None:
    """What a login that means harm does with the time it was given."""
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")


def writing(stream: str) -> AppendRequest:
    return AppendRequest([sealed(stream)], {stream: 0}, system_clock, None)


def refused(stream: str) -> AppendRequest:
    """Refused, and only with the row in hand: somebody may write that version just now."""
    return AppendRequest([sealed(stream, 8)], {stream: 7}, system_clock, None)


class Within:
    """Work in a thread of its own, which has to come to an end."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.told: object = None
        self.problem: Exception | None = None

        def run() -> None:
            try:
                self.told = work()
            except Exception as problem:  # noqa: BLE001  told by the test's own thread
                self.problem = problem

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def result(self, seconds: float = 60) -> object:
        self.thread.join(seconds)
        assert not self.thread.is_alive(), "it is still waiting"
        if self.problem is not None:
            raise self.problem
        return self.told


# Who holds it, however they came by it


def take_by_writing(mine, store):
    mine.execute("BEGIN")
    assert asked(mine, store, writing("mine")) == "ok"
    lift(mine)


def take_by_a_refusal(mine, store):
    """The row is locked and not changed."""
    mine.execute("BEGIN")
    assert asked(mine, store, refused("mine")) == "conflict"
    lift(mine)


def take_by_deleting(mine, store):
    mine.execute("BEGIN")
    mine.execute(f"SELECT {store._schema}.delete_bodies('a', 'nobody', 1000)")
    lift(mine)


def take_in_a_savepoint(mine, store):
    """The row's lock belongs to a transaction that the table of locks does not have any more."""
    mine.execute("BEGIN")
    mine.execute("SAVEPOINT one")
    assert asked(mine, store, writing("mine")) == "ok"
    mine.execute("RELEASE one")
    lift(mine)


def take_by_several(mine, store):
    """The row's lock belongs to two transactions, one within the other."""
    mine.execute("BEGIN")
    assert asked(mine, store, refused("mine")) == "conflict"
    mine.execute("SAVEPOINT one")
    assert asked(mine, store, writing("mine")) == "ok"
    mine.execute("RELEASE one")
    lift(mine)


def take_and_run_on(mine, store):
    """Never idle, and never for long in one statement."""
    take_by_writing(mine, store)

    def run() -> None:
        while alive(mine):
            time.sleep(0.2)

    threading.Thread(target=run, daemon=True).start()


def take_and_wait(mine, store):
    """Waits for a lock itself: that of another session."""
    take_by_writing(mine, store)
    mine.execute("SET LOCAL lock_timeout = 0")

    def wait() -> None:
        try:
            mine.execute("SELECT pg_advisory_lock(4711)")
        except psycopg.Error:
            return

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize(
    "take",
    [
        take_by_writing,
        take_by_a_refusal,
        take_by_deleting,
        take_in_a_savepoint,
        take_by_several,
        take_and_run_on,
        take_and_wait,
    ],
)
def test_who_takes_the_turn_and_does_not_go_on_is_ended(place, take):
    mine, store = place.login("a"), place.store("b")
    place.root.execute("SELECT pg_advisory_lock(4711)")
    take(mine, place.store("a"))
    waiting = [
        Within(lambda name=name: store.append([sealed(name)], {name: 0}, system_clock))
        for name in ("x", "y", "z")
    ]
    assert sorted(each.result().first for each in waiting) == [1, 2, 3]
    assert mine.closed or not alive(mine)


def test_other_tenants_record_turns_and_erase_while_one_does_not_go_on(place):
    mine, theirs = place.login("a"), place.store("a")
    with open_memory(place.of("b", lock_timeout=0.3)) as memory:
        memory.remember("ben", "I live in Faro.", consent="consent")
        take_by_writing(mine, theirs)
        turn = Within(lambda: memory.record_turn("ben", "I play the cello.")).result()
        assert turn.position > 0
        again = place.login("a")
        take_by_writing(again, theirs)
        assert Within(lambda: memory.erase("ben", by="lea")).result().bodies > 0
        assert memory.proofs.verify().ok
    assert not alive(mine)
    assert not alive(again)


def test_a_client_that_stands_still_by_mistake_is_ended_by_the_server(place):
    mine, store = place.login("a"), place.store("b", lock_timeout=20)
    mine.execute("BEGIN")
    assert asked(mine, place.store("a"), writing("mine")) == "ok"
    assert Within(lambda: store.append([sealed("x")], {"x": 0}, system_clock)).result().first == 1
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        mine.execute("SELECT 1")


# Who is not ended


def test_nobody_is_ended_but_who_holds_the_row(place):
    store, mine, caller = place.store("a"), place.login("a"), place.login("b")
    take_by_writing(mine, store)
    [(holder,)] = [(mine.info.backend_pid,)]
    reading, busy, waiting = place.login("b"), place.login("b"), place.login("b")
    reading.execute("BEGIN")
    reading.execute(f"SELECT * FROM {place.name}.head")
    busy.execute("BEGIN")
    busy.execute(f"LOCK TABLE {place.name}.consumers")
    busy.execute("SELECT pg_current_xact_id()")
    waiting.execute("BEGIN")
    waiting.execute("SELECT pg_current_xact_id()")
    waiting.execute("SET LOCAL statement_timeout = '50s'")
    patient = place.store("b", lock_timeout=60)
    line = Within(lambda: asked(waiting, patient, writing("theirs")))
    said = place.end_holder(caller)
    assert said == ("ended", holder, f"{place.name}_a")
    assert line.result() == "ok"
    lift(waiting)
    assert not alive(mine)
    assert all(map(alive, (reading, busy, waiting, caller)))

    # That one has it now, and has taken it just now.
    asking = [Within(lambda who=who: place.end_holder(place.login(who))) for who in "ab" * 3]
    time.sleep(2)
    waiting.execute("COMMIT")
    assert [each.result()[0] for each in asking] == ["none"] * 6
    assert all(map(alive, (reading, busy, waiting, caller)))
    assert place.end_holder(caller) == ("none", None, None)


def test_many_short_turns_of_one_session_are_none_that_is_kept(place):
    mine, store, caller = place.login("a"), place.store("a"), place.login("b")
    turns: list[int] = []

    def write() -> None:
        while len(turns) < 16:
            take_by_writing(mine, store)
            time.sleep(0.4)
            mine.execute("ROLLBACK")
            turns.append(1)

    writer = Within(write)
    while len(turns) < 16:
        assert place.end_holder(caller)[0] == "none"
    writer.result()
    assert alive(mine)


def test_a_superuser_is_not_ended_and_the_refusal_says_who_it_is(place, monkeypatch):
    monkeypatch.setattr("beliefledger.ledger.postgres.turns._LOCK_TRIES", 1)
    store = place.store("b")
    with place.root.transaction():
        place.root.execute(f"SELECT FROM {place.name}.head FOR UPDATE")
        pid = place.root.info.backend_pid
        with pytest.raises(HeldUp, match=rf"pg_terminate_backend\({pid}\)"):
            store.append([sealed("x")], {"x": 0}, system_clock)
    assert alive(place.root)
    assert store.append([sealed("x")], {"x": 0}, system_clock).first == 1


def test_an_owner_who_may_end_nobody_says_what_to_run(place):
    owner = f"{place.name}_owner"
    place.root.execute(f"REVOKE pg_signal_backend FROM {owner}")
    with open_memory(place.of("b", lock_timeout=0.3)) as memory:
        [warning] = [each for each in memory.status().warnings if "pg_signal_backend" in each]
    mine, store = place.login("a"), place.store("b")
    take_by_writing(mine, place.store("a"))
    with pytest.MonkeyPatch.context() as once:
        once.setattr("beliefledger.ledger.postgres.turns._LOCK_TRIES", 1)
        with pytest.raises(HeldUp, match=f"GRANT pg_signal_backend TO {owner}"):
            store.append([sealed("x")], {"x": 0}, system_clock)
    assert alive(mine)
    place.root.execute(warning[warning.index("GRANT") :])
    assert not store.append([sealed("x")], {"x": 0}, system_clock).already
    assert not alive(mine)


def test_init_works_for_who_may_not_give_that_right(postgres, postgres_url):
    name = PostgresURL.parse(postgres_url).schema
    with psycopg.connect(postgres, autocommit=True) as root:
        root.execute(f"CREATE ROLE {name}_maker LOGIN CREATEROLE")
        root.execute(f"GRANT CREATE ON DATABASE postgres TO {name}_maker")
    parts = urlsplit(postgres_url)
    url = parts._replace(netloc=f"{name}_maker@{parts.hostname or ''}").geturl()
    with closing(Server(PostgresURL.parse(url), size=2)) as server:
        assert schema.init(server)
        schema.check(server)
        assert any(f"TO {name}_owner;" in each for each in schema.warnings(server))
        with psycopg.connect(postgres, autocommit=True) as root:
            root.execute(f"GRANT pg_signal_backend TO {name}_owner")
        assert not any("pg_signal_backend" in each for each in schema.warnings(server))


# What needs no lock


def test_what_stays_refused_is_told_without_the_lock(place):
    store, mine = place.store("a"), place.login("a")
    known = sealed("s")
    store.append([known], {"s": 0}, system_clock)
    erasures = store.head().erasures
    store.delete_bodies("nobody")
    early = system_clock() - 600 * SECOND
    mine.execute("BEGIN")
    for request, status in (
        (AppendRequest([sealed("t")], {"t": 0}, system_clock, erasures), "erased"),
        (AppendRequest([sealed("s")], {"s": 0}, system_clock, None), "conflict"),
        (AppendRequest([known, sealed("t")], {}, system_clock, None), "known"),
        (AppendRequest([*[sealed("t")] * 2], {}, system_clock, None), "known"),
        (AppendRequest([sealed("t")], {"t": 0}, lambda: early, None), "clock"),
    ):
        assert asked(mine, store, request) == status
        place.root.execute(f"SELECT FROM {place.name}.head FOR UPDATE NOWAIT")
    assert mine.execute("SELECT pg_current_xact_id_if_assigned()").fetchone() == (None,)
    mine.execute("COMMIT")


def test_what_may_still_come_true_is_refused_with_the_lock_alone(place):
    """A writer that is waited for may write just what another expects."""
    store, mine, other = place.store("a"), place.login("a"), place.store("b", lock_timeout=30)
    mine.execute("BEGIN")
    assert asked(mine, store, writing("s")) == "ok"
    second = Within(lambda: other.append([sealed("s", 2)], {"s": 1}, system_clock))
    stale = Within(lambda: other.append([sealed("s")], {"s": 0}, system_clock))
    count = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    while place.root.execute(count).fetchone() == (0,):
        time.sleep(0.01)
    mine.execute("COMMIT")
    assert second.result().first == 2
    with pytest.raises(VersionConflict):
        stale.result()


def test_an_erasure_while_a_writer_waits_is_seen(place):
    store, mine, other = place.store("a"), place.login("a"), place.store("b", lock_timeout=30)
    mine.execute("BEGIN")
    mine.execute(f"SELECT {place.name}.delete_bodies('a', 'nobody', 1000)")
    late = Within(lambda: other.append([sealed("s")], {"s": 0}, system_clock, 0))
    count = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    while place.root.execute(count).fetchone() == (0,):
        time.sleep(0.01)
    mine.execute("COMMIT")
    with pytest.raises(ErasedMeanwhile):
        late.result()
    assert store.head().position == 0


# Locks of others


def test_signing_does_not_wait_for_ever_for_who_keeps_the_trees_lock(place, monkeypatch):
    monkeypatch.setattr(postgres_server, "_QUESTION_SECONDS", 1)
    mine, store = place.login("a"), place.store("b")
    store.append([sealed("s")], {"s": 0}, system_clock)
    mine.execute(
        "SELECT pg_advisory_lock(hashtextextended(%s, 0))", (f"beliefledger tree {place.name}",)
    )
    tree = Tree(store, PostgresTiles(store.server), Signer.generate("log"))
    with pytest.raises(HeldUp, match="pg_terminate_backend"):
        Within(tree.extend).result()
    mine.close()
    assert tree.extend().size == 1


def test_a_ledger_opens_while_another_keeps_the_lock_of_making_it(place):
    mine = place.login("a")
    mine.execute(
        "SELECT pg_advisory_lock(hashtextextended(%s, 0))", (f"beliefledger schema {place.name}",)
    )
    with open_memory(place.of("b")) as memory:
        memory.record_turn("ben", "I live in Faro.")
    opened = Within(lambda: open_memory(place.of("b")).close())
    opened.result()


# The clock


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The machine's clock, which can be put forward."""
    ahead = SimpleNamespace(seconds=0.0)
    real = time.time_ns
    monkeypatch.setattr(
        "beliefledger.ledger.times.time",
        SimpleNamespace(time_ns=lambda: real() + int(ahead.seconds * 1e9)),
    )
    return ahead


def test_a_machine_whose_clock_is_far_ahead_is_refused_and_spoils_it_for_nobody(place, wall):
    ahead, right = place.store("a"), place.store("b")
    wall.seconds = 299
    ahead.append([sealed("s")], {"s": 0}, system_clock)
    wall.seconds = 302
    with pytest.raises(ClockAhead, match=r"30[12] seconds ahead of postgresql"):
        ahead.append([sealed("s", 2)], {"s": 1}, system_clock)
    assert ahead.head().position == 1
    injected = system_clock()
    ahead.append([sealed("s", 2)], {"s": 1}, lambda: injected)  # whoever puts one in its place
    wall.seconds = 290
    assert right.append([sealed("t")], {"t": 0}, system_clock).first == 3
