"""After an erasure no file of the ledger's directory holds a trace of the person, and no table of
its Postgres a row that could be read."""

from __future__ import annotations

import base64
import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import programs
import psycopg
import pytest

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger import codec
from beliefledger.ledger.encryption import derive
from beliefledger.ledger.errors import BackendUnavailable, NotPermitted, UnknownMemory
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.postgres.schema import vault_schema, views_schema
from beliefledger.ledger.postgres.server import PostgresURL

DAY = 86_400_000_000
ANA, BEN = "ana.quintela@example.org", "ben.marlow@example.org"
TURNS = [
    ("I live in Vilarinho.", "kitchen-session-77"),
    ("I always use xylographic mode.", "kitchen-session-77"),
    ("I'm allergic to peanuts.", "clinic-session-12"),
    ("I work as a glassblower at Mondego Labs.", "kitchen-session-77"),
    ("I moved to Freixo.", "garden-session-3"),
    ("What if I were a doctor?", "garden-session-3"),
    ("My password is hunter2, and I like Quarkbread.", "garden-session-3"),
]
TRACES = [
    ANA,
    "quintela",
    *"Vilarinho xylographic peanuts glassblower Mondego Freixo Quarkbread hunter2".split(),
    "kitchen-session-77",
    "clinic-session-12",
    "garden-session-3",
    "Ana Maria",
    "helpdesk-agent-9",
    "because she asked us twice",
]


class Clock:
    def __init__(self):
        self.now = 1_772_355_600_000_000

    def __call__(self):
        self.now += 1_000_000
        return self.now


@pytest.fixture
def home(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def memory(home):
    with open_memory(home, clock=Clock()) as opened:
        tell(opened, ANA, TURNS)
        tell(opened, BEN, [("I live in Aveiro.", "s"), ("I like quiet offices.", "s")])
        yield opened


def tell(memory, person, turns):
    memory.consent.grant(person, "consent", note="because she asked us twice")
    for text, session in turns:
        memory.record_turn(
            person, text, session=session, speaker="Ana Maria", agent="helpdesk-agent-9"
        )
    memory.store(
        person, "Quarkbread", attribute="breakfast", details=Details(session="garden-session-3")
    )
    memory.process()
    memory.status()
    memory.beliefs(person)


def secrets_of(memory, person) -> dict[str, bytes]:
    """The subject's key in every form in which it was, or could have been, written."""
    vault = memory._log.vault
    ref = vault.find("default", person)
    key, sealed_id, _ = vault._key(ref)
    plain = sqlite3.connect(memory.place / "keys.db")
    [[wrapped]] = plain.execute("SELECT wrapped FROM keys WHERE subject_ref = ?", (ref,)).fetchall()
    plain.close()
    return {
        "key": key,
        "key of bodies": derive(key, "bodies"),
        "key of ids": derive(key, "ids"),
        "wrapped key": wrapped,
        "wrapped key without its nonce": wrapped[13:],
        "sealed id": sealed_id,
    }


def traces(home: Path, secrets: dict[str, bytes]) -> list[str]:
    forms = {f"{word!r}": word.encode() for word in TRACES}
    forms |= {f"{word!r} in lower case": word.lower().encode() for word in TRACES}
    forms |= {f"{word!r} in UTF-16": word.encode("utf-16-le") for word in TRACES}
    forms |= {f"{word!r} in hex": word.encode().hex().encode() for word in TRACES}
    for name, secret in secrets.items():
        forms[name] = secret
        forms[f"{name} in hex"] = secret.hex().encode()
        forms[f"{name} in HEX"] = secret.hex().upper().encode()
        for code in (base64.b64encode, base64.urlsafe_b64encode):
            forms[f"{name} in {code.__name__}"] = code(secret).rstrip(b"=")[:-1]
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [f"{name} in {path.name}" for name, form in forms.items() if form in data]
            found += [f"a name: {path}" for word in TRACES if word in str(path)]
    return found


def bodies_of(memory, person) -> list[bytes]:
    ref = memory._log.vault.find("default", person)
    return [row.body for row in memory._log.raw() if ref.encode() in row.envelope and row.body]


def holding(home: Path, blobs: list[bytes]) -> list[str]:
    return [
        path.name
        for path in home.rglob("*")
        if path.is_file()
        for data in [path.read_bytes()]
        if any(blob in data for blob in blobs)
    ]


def test_words_are_nowhere_but_in_sealed_bodies_even_before_an_erasure(memory, home):
    found = traces(home, secrets_of(memory, ANA))
    assert {each.split(" in ")[0] for each in found} == {
        "wrapped key",
        "wrapped key without its nonce",
        "sealed id",
    }


def test_no_trace_is_left_while_the_ledger_is_open_nor_after(memory, home):
    secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
    assert len(bodies) > 20
    assert holding(home, bodies)
    answer = memory.erase(ANA, by="system")
    assert answer.bodies == len(bodies)
    assert traces(home, secrets) == []
    assert holding(home, bodies) == []
    memory.close()
    assert traces(home, secrets) == []
    assert holding(home, bodies) == []


def test_no_row_of_a_view_is_left_but_decisions_without_words(memory, home):
    memory.erase(ANA, by="system")
    ref = next(each.subject_ref for each in memory._log.read() if each.type == SubjectErased.NAME)
    plain = sqlite3.connect(home / "views" / "views.db")
    tables = [
        name
        for (name,) in plain.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if any(column[1] == "subject_ref" for column in plain.execute(f"PRAGMA table_info({name})"))
    ]
    left = {
        name
        for name in tables
        if plain.execute(f"SELECT 1 FROM {name} WHERE subject_ref = ?", (ref,)).fetchone()
    }
    plain.close()
    assert left == {"decisions_1"}
    assert len(tables) == 14


def test_what_remains_names_nobody_and_every_question_is_answered(memory):
    memory.erase(ANA, by="system")
    assert memory.beliefs() == memory.beliefs(BEN) != []
    assert all(each.claim is None for each in memory.decisions() if each.subject != BEN)
    assert memory.proofs.verify().ok
    assert memory.proofs.verify().destroyed > 20
    replayed = memory.audit.replay_all()
    assert replayed.different == 0
    assert replayed.inputs_destroyed > 0
    assert replayed.same > 0
    before = {view.name: view.content_digest for view in memory.status(digests=True).views}
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    assert {view.name: view.content_digest for view in memory.status(digests=True).views} == before
    assert memory.conflicts.loops() == memory.conflicts.list() == []
    with memory.subscribe(follow=False) as events:
        assert sum(1 for each in events if each.event is None) > 20


def test_a_rebuild_after_an_erasure_leaves_no_trace_either(memory, home):
    secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
    memory.erase(ANA, by="system")
    memory.operations.rebuild()
    assert traces(home, secrets) + holding(home, bodies) == []


def test_the_erased_are_not_recorded_again_until_a_named_actor_says_so(memory, home):
    secrets = secrets_of(memory, ANA)
    memory.erase(ANA, by="system")
    head = memory.status().position
    for attempt in (
        lambda: memory.record_turn(ANA, "I live in Vilarinho."),
        lambda: memory.remember(ANA, "I live in Vilarinho.", consent="consent"),
        lambda: memory.consent.grant(ANA, "consent"),
        lambda: memory.store(ANA, "x", attribute="y"),
        lambda: memory.erasure.register_anew(ANA, by="system"),
        lambda: memory.erasure.register_anew(ANA, by=" "),
    ):
        with pytest.raises(NotPermitted):
            attempt()
    assert memory.status().position == head
    memory.erasure.register_anew(ANA, by="dora")
    assert memory.beliefs(ANA) == []
    memory.remember(ANA, "I live in Lisbon.", consent="consent")
    assert [belief.value for belief in memory.beliefs(ANA)] == ["Lisbon"]
    assert traces(home, secrets) == []


def test_everybody_can_be_erased_one_after_the_other(memory, home):
    people = {name: secrets_of(memory, name) for name in (ANA, BEN)}
    for name in people:
        memory.erase(name, by="system")
    assert [each for secrets in people.values() for each in traces(home, secrets)] == []
    assert memory.beliefs() == []
    assert memory.proofs.verify().ok


OTHER = """
import sys
from beliefledger import open_memory
memory = open_memory(sys.argv[1])
print(len(memory.beliefs(sys.argv[2])), flush=True)
sys.stdin.readline()
print(len(memory.beliefs(sys.argv[2])), flush=True)
for attempt in (
    lambda: memory.record_turn(sys.argv[2], "I live in Vilarinho."),
    lambda: memory.store(sys.argv[2], "x", attribute="y"),
):
    try:
        attempt()
    except Exception as problem:
        print(type(problem).__name__, flush=True)
memory.process()
print(memory.proofs.verify().ok, memory.status().position, flush=True)
memory.close()
"""


@contextlib.contextmanager
def another_process(home):
    with programs.Program(
        [sys.executable, "-c", OTHER, str(home), ANA],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        try:
            yield other, lambda: other.stdout.readline().strip()
        finally:
            other.kill()


def test_another_process_that_is_idle_changes_nothing_and_reads_nothing_more(home):
    with open_memory(home) as memory:
        tell(memory, ANA, TURNS)
        secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
        with another_process(home) as (other, hear):
            assert int(hear()) > 1
            memory.erase(ANA, by="system")
            assert traces(home, secrets) + holding(home, bodies) == []
            other.stdin.write("\n")
            other.stdin.flush()
            assert hear() == "0"
            assert [hear(), hear()] == ["NotPermitted", "NotPermitted"]
            assert hear() == f"True {memory.status().position}"
            other.wait()
        assert traces(home, secrets) + holding(home, bodies) == []


def test_while_another_process_reads_the_log_an_erasure_does_not_claim_to_be_done(memory, home):
    secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
    with memory._log._store._database.connection(writing=True) as connection:
        connection.execute("PRAGMA busy_timeout=1")
    reader = sqlite3.connect(home / "log.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM bodies").fetchone()
    with pytest.raises(BackendUnavailable, match="does not let go"):
        memory.erase(ANA, by="system")
    assert SubjectErased.NAME not in {each.type for each in memory._log.read()}
    assert "key" not in " ".join(traces(home, secrets)), "the key is gone at once"
    with pytest.raises(NotPermitted):
        memory.record_turn(ANA, "I live in Vilarinho.")
    reader.close()
    memory.erase(ANA, by="system")
    assert traces(home, secrets) + holding(home, bodies) == []
    assert memory.proofs.verify().ok


def test_an_erasure_that_was_held_up_is_completed_by_opening_again(memory, home):
    secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
    with memory._log._store._database.connection(writing=True) as connection:
        connection.execute("PRAGMA busy_timeout=1")
    reader = sqlite3.connect(home / "log.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM bodies").fetchone()
    with pytest.raises(BackendUnavailable):
        memory.erase(ANA, by="system")
    memory.close()
    reader.close()
    with open_memory(home, clock=Clock()) as again:
        assert SubjectErased.NAME in {each.type for each in again._log.read()}
        again.status()
        assert traces(home, secrets) + holding(home, bodies) == []
        assert again.proofs.verify().ok


def test_while_another_process_reads_the_views_an_erasure_stays_open(memory, home):
    secrets, bodies = secrets_of(memory, ANA), bodies_of(memory, ANA)
    reader = sqlite3.connect(home / "views" / "views.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM view_state").fetchone()
    with memory._core.projector.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=1")
    with pytest.raises(BackendUnavailable):
        memory.erase(ANA, by="system")
    assert traces(home, secrets) + holding(home, bodies) == []
    assert [each.completed_at for each in memory.erasure.list()] == [None]
    assert memory.beliefs(ANA) == []
    reader.close()
    memory.erase(ANA, by="system")
    [record] = memory.erasure.list()
    assert record.bodies == len(bodies)
    assert traces(home, secrets) + holding(home, bodies) == []
    assert memory.beliefs(ANA) == []


# On a Postgres


@pytest.fixture
def tables(postgres_place):
    """Counts the rows of a subject in every table of the ledger, as somebody who may see all."""
    url = PostgresURL.parse(postgres_place)
    views = views_schema(url.schema, url.tenant)
    schemas = [url.schema, vault_schema(url.schema), views]
    with psycopg.connect(url.conninfo, autocommit=True) as connection:
        yield lambda ref: _rows_of(connection, schemas, ref)


def _rows_of(connection, schemas, ref):
    found = connection.execute(
        "SELECT table_schema, table_name, bool_or(column_name = 'subject_ref')"
        " FROM information_schema.columns WHERE table_schema = ANY (%s) GROUP BY 1, 2",
        (schemas,),
    ).fetchall()
    counts = {}
    for schema, table, names_subject in found:
        of_ref = "subject_ref = %s"
        if table == "bodies":
            of_ref = f"position IN (SELECT position FROM {schema}.history WHERE {of_ref})"
        if names_subject or table == "bodies":
            rows = connection.execute(
                f"SELECT count(*) FROM {schema}.{table} WHERE {of_ref}", (ref,)
            )
            counts[table] = rows.fetchone()[0]
    return {table: count for table, count in counts.items() if count}


def everything(memory, person, ids):
    """What a client shows of somebody's beliefs: warms its caches, too."""
    shown = [memory.beliefs(person), memory.beliefs(), memory.decisions(person), memory.decisions()]
    shown += [memory.consent.list(person), memory.conflicts.loops(), memory.conflicts.list()]
    for belief_id, memory_id in ids:
        with contextlib.suppress(UnknownMemory):
            shown.append(memory.history(belief_id))
        with contextlib.suppress(UnknownMemory):
            shown.append(memory.explain(memory_id))
    with memory.subscribe(follow=False) as events:
        shown += [each.event for each in events]
    return repr(shown)


def test_no_row_of_a_postgres_and_no_client_with_warm_caches_keeps_anything(postgres_place, tables):
    with open_memory(postgres_place) as memory, open_memory(postgres_place) as other:
        tell(memory, ANA, TURNS)
        tell(memory, BEN, [("I live in Aveiro.", "s")])
        ids = [(each.belief_id, each.memory_id) for each in memory.beliefs(ANA)]
        ref = memory._log.subject(ANA)
        words = [ANA, *"Vilarinho xylographic glassblower Freixo kitchen-session-77".split()]
        for client in (memory, other):
            shown = everything(client, ANA, ids)
            assert [word for word in words if word not in shown] == []
        # Both know her key by now, and have read the beliefs they would write to.
        other.store(ANA, "toast", attribute="breakfast")
        memory.store(ANA, "porridge", attribute="breakfast")
        sealed = [row for row in memory._log.raw() if ref.encode() in row.envelope and row.body]
        before = tables(ref)
        assert before["bodies"] == len(sealed) > 20
        assert before["keys"] == 1
        assert codec.unseal(sealed[-1], other._log.vault).event is not None

        assert memory.erase(ANA, by="system").bodies == len(sealed)
        assert tables(ref).keys() == {"history", "tombstones", "decisions_1"}
        for client in (other, memory):
            shown = everything(client, ANA, ids)
            assert [word for word in [*words, "porridge"] if word in shown] == []
            assert [client.beliefs(ANA), client.decisions(ANA), client.consent.list(ANA)] == [
                [],
                [],
                [],
            ]
            for belief_id, memory_id in ids:
                with pytest.raises(UnknownMemory):
                    client.history(belief_id)
                with pytest.raises(UnknownMemory):
                    client.explain(memory_id)
            client._log.principal("somebody else")
            head = client.status().position
            for attempt in (
                lambda its=client: its.record_turn(ANA, "I live in Vilarinho."),
                lambda its=client: its.store(ANA, "x", attribute="breakfast"),
                lambda its=client: its.consent.grant(ANA, "consent"),
                lambda its=client: its.erase(ANA, by="somebody else"),
            ):
                with pytest.raises(NotPermitted):
                    attempt()
            assert client.erase(ANA, by="system").already
            assert client.status().position == head
            # Not even from a copy of her sealed bodies that somebody had kept.
            assert [codec.unseal(row, client._log.vault).event for row in sealed] == [None] * len(
                sealed
            )
            assert {each.value for each in client.beliefs(BEN)} == {"Aveiro", "Quarkbread"}
            assert client.proofs.verify().ok
        assert all(view.same for view in other.operations.rebuild(verify=True))
        assert tables(ref).keys() == {"history", "tombstones", "decisions_2"}


def test_another_process_on_a_postgres_shows_and_writes_nothing_more(postgres_place, tables):
    with open_memory(postgres_place) as memory:
        tell(memory, ANA, TURNS)
        ref = memory._log.subject(ANA)
        with another_process(postgres_place) as (other, hear):
            assert int(hear()) > 1
            memory.erase(ANA, by="system")
            other.stdin.write("\n")
            other.stdin.flush()
            assert hear() == "0"
            assert [hear(), hear()] == ["NotPermitted", "NotPermitted"]
            assert hear() == f"True {memory.status().position}"
            other.wait()
        assert tables(ref).keys() == {"history", "tombstones", "decisions_1"}


def test_an_erasure_that_a_crash_cut_short_is_completed_on_a_postgres(postgres_place, tables):
    class Crash(BaseException):
        pass

    def crash(subject_ref):
        raise Crash

    with open_memory(postgres_place) as memory:
        tell(memory, ANA, TURNS)
        ref = memory._log.subject(ANA)
        memory._log._store.delete_bodies = crash
        with pytest.raises(Crash):
            memory.erase(ANA, by="system")
        assert {"bodies", "tombstones"} <= tables(ref).keys()
        assert "keys" not in tables(ref)
    with open_memory(postgres_place) as again:
        assert again.beliefs() == []
        assert tables(ref).keys() == {"history", "tombstones", "decisions_1"}
        assert again.proofs.verify().ok
