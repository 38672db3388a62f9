"""After an erasure nothing can be asked what the person's words were near to: there is no row of
theirs in a file or a table, and no index in memory, in this process or another."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import programs
import psycopg
import pytest
from sqlalchemy import select

from beliefledger import open_memory
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.errors import BackendUnavailable, NotPermitted
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.projections.embedding import Hashed
from beliefledger.projections.tables import vectors as table
from beliefledger.projections.vectors import rounded, text_tag

ROOT = Path(__file__).parents[2]
CANARY = "I always use xylographic mode."
PROBE = "xylographic mode"


@pytest.fixture(autouse=True)
def _master_key(monkeypatch, master):
    """A ledger on a server is told its master key."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", master.key.hex())


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        tell(opened)
        yield opened


def tell(memory):
    for person, texts in {"ana": [CANARY, "I live in Vilarinho."], "ben": ["I like tea."]}.items():
        memory.consent.grant(person, "consent")
        for text in texts:
            memory.record_turn(person, text, session="s")
    memory.process()


def rows(memory, ref):
    """Somebody's rows, as they are kept."""
    store = memory._indexes().store
    with store._home.reading() as connection:
        found = connection.execute(select(table).where(table.c.subject_ref == ref)).all()
    return [(row[0], bytes(row[3])) for row in found]


def nearest(vectors):
    """How near the canary's own vector comes to any of these."""
    probe = rounded(Hashed().embed([f"ana: {CANARY}", CANARY]))
    return max((float((probe @ vector).max()) for vector in vectors), default=-1.0)


def holding(place, blobs):
    return [
        path.name
        for path in Path(place).rglob("*")
        if path.is_file()
        for data in [path.read_bytes()]
        if any(blob in data or blob[:64] in data or tag.encode() in data for tag, blob in blobs)
    ]


def warm(memory):
    """Whether a search finds the canary; afterwards the index is in memory."""
    return any("xylographic" in each.text for each in memory.search("ana", PROBE).results)


def test_the_canarys_vector_is_nowhere_after_an_erasure(memory, place):
    assert warm(memory)
    ref = memory._log.subject("ana")
    keys = memory._log.keys(ref)
    finder = memory._indexes()
    kept = rows(memory, ref)
    there = finder.store.all_of(keys, "hashed-1", Hashed.dimension)
    assert nearest(there.values()) > 0.99
    index = finder._indexes[ref, "hashed-1", "assistance"].index
    assert nearest(index.dense.vectors(range(len(index)))) > 0.99
    if not is_postgres(place):
        assert holding(place, kept)
    of_ben = memory.search("ben", "tea", record=False).results
    memory.erase("ana", by="system")
    assert rows(memory, ref) == []
    assert finder._indexes.keys() == {(memory._log.subject("ben"), "hashed-1", "assistance")}
    assert memory._log.keys(ref) is None
    with pytest.raises(NotPermitted), finder.index(ref, Hashed()):
        pass
    assert memory.search("ana", PROBE).results == ()
    if not is_postgres(place):
        assert holding(place, kept) == []
    assert memory.search("ben", "tea", record=False).results == of_ben
    memory.vectors.build()
    memory.operations.rebuild()
    memory.search("ana", PROBE)
    assert rows(memory, ref) == []
    memory.close()
    if not is_postgres(place):
        assert holding(place, kept) == []


def test_another_open_ledger_that_had_the_index_warm_finds_nothing_more(memory, place, clock):
    with open_memory(place, clock=clock) as other:
        assert warm(other)
        ref, their = other._log.subject("ana"), other._indexes()
        assert warm(memory)
        memory.erase("ana", by="system")
        assert their.holds(ref, "hashed-1"), "nobody has told it yet"
        with pytest.raises(NotPermitted), their.index(ref, Hashed()):
            pass
        assert not their.holds(ref, "hashed-1")
        assert not warm(other)
        other.search("ben", "tea")
        assert {each[0] for each in their._indexes} == {other._log.subject("ben")}
        assert rows(other, ref) == []


def test_a_search_for_somebody_else_lets_go_of_the_erased_too(memory, place, clock):
    with open_memory(place, clock=clock) as other:
        assert warm(other)
        ref = other._log.subject("ana")
        memory.erase("ana", by="system")
        assert other.search("ben", "tea").results
        assert not other._indexes().holds(ref, "hashed-1")


SEARCHING = """
import sys
from beliefledger import open_memory
memory = open_memory(sys.argv[1])
for _ in range(2):
    answer = memory.search("ana", sys.argv[2], record=False)
    print(len(answer.results), len(memory._indexes()._indexes), flush=True)
    sys.stdin.readline()
memory.close()
"""


def test_another_process_that_had_the_index_warm_finds_nothing_more(place):
    with open_memory(place) as memory:
        tell(memory)
        ref = memory._log.subject("ana")
        with programs.Program(
            [sys.executable, "-c", SEARCHING, place, PROBE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as other:
            try:
                found, indexes = other.stdout.readline().split()
                assert int(found) > 0
                assert indexes == "1"
                assert rows(memory, ref), "that process has kept them"
                memory.erase("ana", by="system")
                other.stdin.write("\n")
                other.stdin.flush()
                assert other.stdout.readline().split() == ["0", "0"]
                assert rows(memory, ref) == []
            finally:
                other.kill()


def test_what_is_computed_while_somebody_is_erased_does_not_stay(memory, place, clock):
    """The other process is in the middle of a build when the erasure comes."""

    class Slow(Hashed):
        def embed(self, texts):
            if rows(memory, ben):
                memory.erase("ana", by="system")
            return super().embed(texts)

    ana, ben = memory._log.subject("ana"), memory._log.subject("ben")
    memory.vectors.build("ben")
    with open_memory(place, clock=clock) as other:
        other._embedders._loaded["hashed-1"] = Slow()
        assert other.vectors.build("ana").computed == 0
        assert rows(other, ana) == []
        assert not other._indexes().holds(ana, "hashed-1")


@pytest.mark.parametrize("step", ["delete_bodies", "destroy"])
def test_an_erasure_that_a_crash_cut_short_leaves_no_index_to_be_asked(place, clock, step):
    class Crash(BaseException):
        pass

    def crash(*_args, **_options):
        raise Crash

    with open_memory(place, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        setattr(memory._log._store if step == "delete_bodies" else memory._log.vault, step, crash)
        with pytest.raises(Crash):
            memory.erase("ana", by="system")
        assert rows(memory, ref), "it did not come to them"
        if step == "delete_bodies":
            assert not warm(memory)
    with open_memory(place, clock=clock) as again:
        assert not warm(again)
        again.search("ben", "tea")
        assert rows(again, ref) == [], "swept by the first search"
        assert all(each != ref for each, *_ in again._indexes()._indexes)
        assert again.proofs.verify().ok


def test_who_cannot_be_reached_by_one_deletion_is_by_the_other(memory, monkeypatch):
    """The views are read by somebody who does not let go: the vectors go all the same."""
    assert warm(memory)
    ref = memory._log.subject("ana")

    def held(_ref, **_how):
        raise BackendUnavailable("read")

    monkeypatch.setattr(memory._views, "forget", held)
    with pytest.raises(BackendUnavailable):
        memory.erase("ana", by="system")
    assert rows(memory, ref) == []
    assert not memory._indexes().holds(ref, "hashed-1")


def test_what_a_reader_of_the_file_held_up_is_emptied_by_the_job(tmp_path, clock):
    with open_memory(tmp_path, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        kept = rows(memory, ref)
        with memory._indexes().store._home.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=1")
        reader = sqlite3.connect(tmp_path / "views" / "vectors.db", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM vectors").fetchone()
        with pytest.raises(BackendUnavailable, match="does not let go"):
            memory.erase("ana", by="system")
        assert rows(memory, ref) == []
        assert memory._log.keys(ref) is None
        assert memory.operations.jobs.run("vectors").outcome == "done"
        assert holding(tmp_path, kept), "sealed with a key that is gone"
        reader.close()
        clock.ahead(3600)
        assert memory.operations.jobs.run("vectors").outcome == "done"
        assert holding(tmp_path, kept) == []


def test_the_job_deletes_what_a_killed_erasure_left(memory):
    memory.vectors.build()
    ref = memory._log.subject("ana")
    left = list(memory._indexes().store.pages([ref]))
    memory.erase("ana", by="system")
    for page in left:
        memory._indexes().store.bring(page)
    assert rows(memory, ref)
    swept = memory.operations.jobs.run("vectors").counts["swept"]
    assert swept == sum(map(len, left)) > 0
    assert rows(memory, ref) == []


# Less than a subject, whose key lives on


def positions_of(memory, words=CANARY):
    """Where a turn lies that said something, and what was taken from it."""
    log = memory._log
    ref = log.subject("ana")
    told = list(log.of_subject(ref))
    [turn] = [each.stream for each in told if getattr(each.event, "content", None) == words]
    decided = {each.event_id for each in told if each.stream == turn}
    return [
        each.position
        for each in told
        if each.stream == turn or each.facts.get("decision") in decided
    ]


def requested(memory, positions):
    wanted = Wanted(memory._log.subject("ana"), "turn", positions=tuple(positions))
    [erasure] = memory._log.eraser.request(lambda: [wanted], actor="system", legal_basis="art. 17")
    return erasure


def of_texts(memory, *texts):
    """The rows of these texts, as they are kept."""
    ref = memory._log.subject("ana")
    tags = {text_tag(memory._log.keys(ref), "hashed-1", each) for each in texts}
    return [row for row in rows(memory, ref) if row[0] in tags]


def on_disk(memory, uri):
    """The bytes of the table's file on the server's disk."""
    name = f"{memory._indexes().store._home._schema}.vectors"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        found = connection.execute("SELECT pg_read_binary_file(pg_relation_filepath(%s))", [name])
        return bytes(found.fetchone()[0])


def test_vectors_of_erased_content_go_and_the_others_stay(memory, place):
    assert warm(memory)
    ref = memory._log.subject("ana")
    gone = of_texts(memory, CANARY)
    before = rows(memory, ref)
    assert gone
    positions = positions_of(memory)
    erasure = requested(memory, positions)
    memory._log.eraser.destroy(erasure)
    finder = memory._indexes()
    assert finder.probe(ref, positions)[1] >= 2, "in memory, and kept"
    count = finder.erase_content(ref, positions)
    after = rows(memory, ref)
    assert count == len(before) - len(after) > 0
    assert set(after) < set(before), "none was computed again"
    assert of_texts(memory, CANARY) == []
    assert of_texts(memory, "I live in Vilarinho.")
    assert nearest(finder.store.all_of(memory._log.keys(ref), "hashed-1", 384).values()) < 0.9
    assert not finder.holds(ref, "hashed-1")
    looked, found = finder.probe(ref, positions)
    assert (looked, found) == (len(after), 0)
    if not is_postgres(place):
        assert holding(place, gone) == []
    assert finder.erase_content(ref, positions) == 0
    memory._log.eraser.complete(erasure)
    assert not warm(memory)
    assert finder.probe(ref, positions)[1] == 0
    memory.vectors.build()
    assert set(rows(memory, ref)) == set(after)


def test_no_ciphertext_of_it_is_left_on_the_servers_disk(postgres_place, postgres, clock):
    with open_memory(postgres_place, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        [gone] = of_texts(memory, CANARY)
        [stays] = of_texts(memory, "I live in Vilarinho.")
        positions = positions_of(memory)
        memory._log.eraser.destroy(requested(memory, positions))
        memory._indexes().erase_content(ref, positions, purge=False)
        assert of_texts(memory, CANARY) == []
        assert gone[1] in on_disk(memory, postgres), "a deleted row lies where it was"
        memory._indexes().erase_content(ref, positions)
        assert gone[1] not in on_disk(memory, postgres)
        assert stays[1] in on_disk(memory, postgres)
        with psycopg.connect(postgres) as connection:
            sampled = connection.execute(
                "SELECT attname FROM pg_stats WHERE schemaname = %s AND tablename = 'vectors'"
                " AND attname = 'vector'",
                [memory._indexes().store._home._schema],
            )
            assert sampled.fetchall() == []


def test_who_holds_on_to_deleted_vectors_on_a_server_is_told_of(
    postgres_place, postgres, clock, monkeypatch
):
    monkeypatch.setattr("beliefledger.projections.postgres._HOLDERS_MAY_TAKE", 0.2)
    with open_memory(postgres_place, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        [gone] = of_texts(memory, CANARY)
        positions = positions_of(memory)
        memory._log.eraser.destroy(requested(memory, positions))
        with psycopg.connect(postgres) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1")
            with pytest.raises(BackendUnavailable, match="keeps their bytes"):
                memory._indexes().erase_content(ref, positions)
            assert of_texts(memory, CANARY) == []
            assert gone[1] in on_disk(memory, postgres)
        assert memory._indexes().erase_content(ref, positions) == 0
        assert gone[1] not in on_disk(memory, postgres)


def test_a_reader_of_the_file_holds_up_the_end_of_it(tmp_path, clock):
    with open_memory(tmp_path, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        gone = of_texts(memory, CANARY)
        positions = positions_of(memory)
        memory._log.eraser.destroy(requested(memory, positions))
        with memory._indexes().store._home.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=1")
        reader = sqlite3.connect(tmp_path / "views" / "vectors.db", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM vectors").fetchone()
        with pytest.raises(BackendUnavailable, match="does not let go"):
            memory._indexes().erase_content(ref, positions)
        assert of_texts(memory, CANARY) == []
        assert holding(tmp_path, gone)
        reader.close()
        assert memory._indexes().erase_content(ref, positions) == 0
        assert holding(tmp_path, gone) == []


@pytest.mark.parametrize("step", ["without", "forget_some", "purge"])
def test_an_erasure_of_content_that_a_crash_cut_short_is_completed(place, clock, step, monkeypatch):
    class Crash(BaseException):
        pass

    def crash(*_args, **_options):
        raise Crash

    with open_memory(place, clock=clock) as memory:
        tell(memory)
        assert warm(memory)
        ref = memory._log.subject("ana")
        gone, positions = of_texts(memory, CANARY), positions_of(memory)
        erasure = requested(memory, positions)
        memory._log.eraser.destroy(erasure)
        monkeypatch.setattr(memory._indexes().store, step, crash)
        with pytest.raises(Crash):
            memory._indexes().erase_content(ref, positions)
    with open_memory(place, clock=clock) as again:
        again._indexes().erase_content(ref, positions)
        again._log.eraser.complete(erasure)
        assert of_texts(again, CANARY) == []
        assert again._indexes().probe(ref, positions)[1] == 0
        if not is_postgres(place):
            assert holding(place, gone) == []
        assert not warm(again)


@pytest.mark.parametrize("completed", [True, False])
def test_what_is_computed_while_a_turn_is_erased_does_not_stay(memory, place, clock, completed):
    """The other process has read the words when the erasure comes, and keeps their vectors after
    those that were there are deleted."""

    class Slow(Hashed):
        done = False

        def embed(self, texts):
            if CANARY in texts and not self.done:
                self.done = True
                erasure = requested(memory, positions)
                memory._log.eraser.destroy(erasure)
                memory._indexes().erase_content(ana, positions)
                if completed:
                    memory._log.eraser.complete(erasure)
            return super().embed(texts)

    ana, positions = memory._log.subject("ana"), positions_of(memory)
    with open_memory(place, clock=clock) as other:
        other._embedders._loaded["hashed-1"] = slow = Slow()
        assert other.vectors.build("ana").computed > 0
        assert slow.done
        assert of_texts(other, CANARY) == []
        assert of_texts(other, "I live in Vilarinho.")
        assert other._indexes().probe(ana, positions)[1] == 0
        with other._indexes().index(ana, slow) as index:
            assert not set(positions) & set(index.texts["words_at"].tolist())


def test_the_job_finds_vectors_of_content_that_a_killed_process_kept(memory, clock):
    assert warm(memory)
    ref, finder = memory._log.subject("ana"), memory._indexes()
    left, positions = list(finder.store.pages([ref])), positions_of(memory)
    erasure = requested(memory, positions)
    memory._log.eraser.destroy(erasure)
    finder.erase_content(ref, positions)
    memory._log.eraser.complete(erasure)
    stays = rows(memory, ref)
    assert memory.operations.jobs.run("vectors").counts["swept"] == 0
    for page in left:
        finder.store.bring(page)
    assert of_texts(memory, CANARY)
    assert finder.probe(ref, positions)[1] > 0
    clock.ahead(3600)
    swept = memory.operations.jobs.run("vectors").counts["swept"]
    assert swept == sum(map(len, left)) - len(stays) > 0
    assert rows(memory, ref) == stays
    assert finder.probe(ref, positions)[1] == 0


def test_a_probe_of_a_whole_subject_counts_what_is_left(memory):
    assert warm(memory)
    ref, ben = memory._log.subject("ana"), memory._log.subject("ben")
    left = list(memory._indexes().store.pages([ref]))
    memory.search("ben", "tea")
    looked, found = memory._indexes().probe(ref)
    mine, theirs = len(rows(memory, ref)), len(rows(memory, ben))
    assert found == mine + len(memory._indexes()._indexes[ref, "hashed-1", "assistance"].index)
    assert looked == found + theirs
    memory.erase("ana", by="system")
    assert memory._indexes().probe(ref) == (theirs, 0)
    for page in left:
        memory._indexes().store.bring(page)
    assert memory._indexes().probe(ref) == (mine + theirs, mine)
