"""Vectors as they are kept, in a file and in a schema of Postgres: sealed, and each only once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import programs
import psycopg
import pytest
from sqlalchemy import select, update

from beliefledger import open_memory
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.postgres.schema import views_schema
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres
from beliefledger.opening.backends import open_place
from beliefledger.opening.place import place_of
from beliefledger.projections.embedding import Hashed
from beliefledger.projections.tables import vectors as table
from beliefledger.projections.vectors import rounded, text_tag
from beliefledger.search.live_index import open_vectors
from beliefledger.settings import Settings

ROOT = Path(__file__).parents[2]
ANA, BEN = (SubjectKeys.of(letter * 32, letter.encode() * 32) for letter in "ab")
DIMENSION = Hashed.dimension


@pytest.fixture
def opened(place):
    opened = open_place(place_of(place), Settings.read(), create=True)
    yield opened
    opened.vault.close()
    opened.store.close()


@pytest.fixture
def store(opened):
    store = open_vectors(opened.home())
    yield store
    store.close()


def made(keys, *texts, model="m"):
    """Vectors of texts by their tags, as they are searched when they were just computed."""
    vectors = rounded(Hashed().embed(texts))
    return {text_tag(keys, model, text): each for text, each in zip(texts, vectors, strict=True)}


def same(found, expected):
    assert found.keys() == expected.keys()
    for tag, vector in expected.items():
        assert np.array_equal(np.asarray(found[tag], np.float32), vector)


def test_what_is_kept_comes_back_to_the_bit(store):
    ana, ben, other = made(ANA, "I like tea", "I row"), made(BEN, "I like tea"), made(ANA, "x")
    store.keep(ANA, "m", ana)
    store.keep(BEN, "m", ben)
    store.keep(ANA, "other", other)
    same(store.all_of(ANA, "m", DIMENSION), ana)
    same(store.all_of(BEN, "m", DIMENSION), ben)
    assert store.all_of(BEN, "other", DIMENSION) == {}
    first = next(iter(ana))
    same(store.some(ANA, [first, "0" * 32], DIMENSION), {first: ana[first]})
    assert [(each.model, each.vectors, each.subjects) for each in store.counts()] == [
        ("m", 3, 2),
        ("other", 1, 1),
    ]
    assert store.counted("m") == {ANA.subject_ref: 2, BEN.subject_ref: 1}
    assert store.count(ANA.subject_ref, "other") == 1
    assert store.tags_of(ANA.subject_ref) == ana.keys() | other.keys()


def test_of_the_same_text_two_people_have_different_tags_and_models_too():
    assert (
        len({text_tag(ANA, "m", "tea"), text_tag(BEN, "m", "tea"), text_tag(ANA, "n", "tea")}) == 3
    )


def test_more_tags_than_a_statement_takes(store):
    vectors = made(ANA, *(f"text {number}" for number in range(1_203)))
    store.keep(ANA, "m", vectors)
    same(store.some(ANA, list(vectors), DIMENSION), vectors)


def test_what_is_there_stays(store):
    [(tag, vector)] = made(ANA, "I like tea").items()
    store.keep(ANA, "m", {tag: vector})
    before = list(store.pages([ANA.subject_ref]))
    store.keep(ANA, "m", {tag: -vector})
    store.keep(ANA, "m", {})
    assert list(store.pages([ANA.subject_ref])) == before
    same(store.all_of(ANA, "m", DIMENSION), {tag: vector})


def test_forgetting_and_dropping(store):
    store.keep(ANA, "m", made(ANA, "a", "b"))
    store.keep(ANA, "n", made(ANA, "c", model="n"))
    store.keep(BEN, "m", made(BEN, "a"))
    assert store.forget(ANA.subject_ref, "n") == 1
    assert store.forget(ANA.subject_ref, "n") == 0
    assert store.drop("m") == 3
    assert store.counts() == []
    store.keep(ANA, "m", made(ANA, "a"))
    store.keep(ANA, "n", made(ANA, "a", model="n"))
    store.keep(BEN, "m", made(BEN, "a"))
    assert store.forget(ANA.subject_ref) == 2
    assert store.counted("m") == {BEN.subject_ref: 1}


def test_strangers_are_swept_and_nobody_else(store):
    store.keep(ANA, "m", made(ANA, "a", "b"))
    store.keep(BEN, "m", made(BEN, "a"))

    def known():
        store.keep(SubjectKeys.of("c" * 32, b"c" * 32), "m", {"c" * 32: np.ones(4, np.float32)})
        return {BEN.subject_ref}

    assert store.sweep(known) == 2
    assert set(store.counted("m")) == {BEN.subject_ref, "c" * 32}, "who came meanwhile stays"


def test_rows_go_to_another_store_as_they_are(store, new_place):
    vectors = made(ANA, "a", "b")
    store.keep(ANA, "m", vectors)
    store.keep(BEN, "m", made(BEN, "a"))
    other_place = open_place(place_of(new_place()), Settings.read(), create=True)
    other = open_vectors(other_place.home())
    try:
        for _ in range(2):
            for page in store.pages([ANA.subject_ref, "f" * 32]):
                other.bring(page)
        other.bring([])
        same(other.all_of(ANA, "m", DIMENSION), vectors)
        assert other.counted("m") == {ANA.subject_ref: 2}
        assert list(other.pages([ANA.subject_ref])) == list(store.pages([ANA.subject_ref]))
    finally:
        other.close()
        other_place.vault.close()
        other_place.store.close()


def blobs(store):
    with store._home.reading() as connection:
        return {
            row[0]: bytes(row[1]) for row in connection.execute(select(table.c.tag, table.c.vector))
        }


def change(store, tag, blob):
    with store._home.writing() as connection:
        connection.execute(update(table).where(table.c.tag == tag).values(vector=blob))


def test_vectors_are_sealed(store, place):
    vectors = made(ANA, "my own words")
    store.keep(ANA, "m", vectors)
    [(tag, vector)] = vectors.items()
    start = int(np.flatnonzero(vector)[0])  # where there is something to be found
    part = vector[start : start + 16]
    forms = [part.astype(kind).tobytes() for kind in (np.float16, np.float32)]
    kept = blobs(store)[tag]
    assert all(form not in kept for form in forms)
    if not is_postgres(place):
        files = [file.read_bytes() for file in (Path(place) / "views").iterdir()]
        assert any(kept in file for file in files)
        assert not any(form in file for form in forms for file in files)


def test_a_vector_that_was_changed_is_named_and_can_be_dropped_alone(store):
    vectors = made(ANA, "a", "b", "c")
    store.keep(ANA, "m", vectors)
    flipped, moved, whole = vectors
    kept = blobs(store)
    change(store, flipped, kept[flipped][:-1] + bytes([kept[flipped][-1] ^ 1]))
    change(store, moved, kept[whole])
    with pytest.raises(LogCorrupted, match=f"{flipped}.*vectors drop --damaged"):
        store.some(ANA, [flipped], DIMENSION)
    with pytest.raises(LogCorrupted):
        store.all_of(ANA, "m", DIMENSION)
    with pytest.raises(LogCorrupted, match=moved):
        store.some(ANA, [moved], DIMENSION)
    assert store.drop_damaged(BEN, {"m": DIMENSION}) == 0
    assert store.drop_damaged(ANA, {"m": DIMENSION}) == 2
    same(store.all_of(ANA, "m", DIMENSION), {whole: vectors[whole]})
    with pytest.raises(LogCorrupted):
        store.all_of(ANA, "m", DIMENSION + 1)
    assert store.drop_damaged(ANA, {"m": DIMENSION + 1}) == 1


KEEP = """
import sys
import numpy as np
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.search.live_index import open_vectors
from beliefledger.opening.backends import open_place
from beliefledger.opening.place import place_of
from beliefledger.settings import Settings

opened = open_place(place_of(sys.argv[1]), Settings.read(), create=False)
store = open_vectors(opened.home())
keys = SubjectKeys.of("a" * 32, b"a" * 32)
print("ready", flush=True)
sys.stdin.readline()
for start in range(0, 400, 20):
    tags = [f"{n:032x}" for n in range(start, start + 20)]
    store.keep(keys, "m", {each: np.full(8, 0.5, np.float32) for each in tags})
store.close()
opened.vault.close()
opened.store.close()
"""


def test_several_processes_keep_the_same_vectors_at_once(store, place):
    both = [
        programs.Program(
            [sys.executable, "-c", KEEP, place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ,
        )
        for _ in range(2)
    ]
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    assert [each.wait(60) for each in both] == [0, 0]
    for each in both:
        each.stdin.close()
        each.stdout.close()
    found = store.all_of(ANA, "m", 8)
    assert len(found) == 400
    assert all(np.array_equal(each, np.full(8, 0.5)) for each in found.values())


def test_found_alike_whether_just_computed_or_read_back(place, clock):
    def look(memory):
        return [
            [(each.id, each.score, each.arms, each.components) for each in answer.results]
            for query in ("What do I drink?", "rowing on the river", "tea")
            for answer in [memory.search("ana", query, record=False)]
        ]

    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        for text in ("I always drink green tea.", "I row on the river.", "I hate drinking coffee."):
            memory.record_turn("ana", text, session="s")
        memory.process()
        computed = look(memory)
        assert any(computed)
    with open_memory(place, clock=clock) as memory:
        assert look(memory) == computed


def test_on_a_postgres_each_tenant_sees_its_own(postgres_place):
    opened = open_place(place_of(postgres_place), Settings.read(), create=True)
    store = open_vectors(opened.home())
    store.keep(ANA, "m", made(ANA, "a"))
    url = PostgresURL.parse(postgres_place)
    with psycopg.connect(url.conninfo) as connection:
        name = views_schema(url.schema, url.tenant)
        rows = connection.execute(f"SELECT tenant FROM {name}.vectors").fetchall()
        assert rows == [(url.tenant,)]
        shown = connection.execute(
            "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = %s::regclass",
            (f"{name}.vectors",),
        ).fetchall()
        assert shown == [(True, True)]
    store.close()
    opened.vault.close()
    opened.store.close()
