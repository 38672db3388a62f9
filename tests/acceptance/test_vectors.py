"""Vectors are computed once, move to another model and back, come along with a copy."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from command_line import CliRunner
from sqlalchemy import select, update

from beliefledger import open_memory
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import (
    EmbedderMissing,
    InvalidTurn,
    LogCorrupted,
    NotPermitted,
    UnknownMemory,
    VersionConflict,
)
from beliefledger.ledger.events.ops import EmbedderAdopted
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import embedder_stream
from beliefledger.operations.copy import copy
from beliefledger.projections.embedding import MINILM, WEIGHTS_SHA256, WHEEL, Hashed
from beliefledger.projections.tables import vectors as table
from beliefledger.search import models
from beliefledger.tools.cli import app

SAID = {
    "ana": [
        "I always drink green tea.",
        "I row on the river on Sundays.",
        "My dentist is Dr. Sousa.",
    ],
    "ben": ["I like quiet offices.", "I work as a glassblower.", "I moved to Oslo."],
}
QUERIES = ["green tea", "rowing on Sunday", "who is my dentist", "the river"]


class Counting(Hashed):
    """Counts the texts it is given."""

    def __init__(self, name="hashed-1"):
        self.name = name
        self.texts = 0

    def embed(self, texts):
        self.texts += len(texts)
        return super().embed(texts)


class Knowing(Counting):
    """A better model: it knows other words for some things."""

    def embed(self, texts):
        known = {"beverage": "green tea", "stomatologist": "dentist"}
        return super().embed([" ".join(known.get(w, w) for w in text.split()) for text in texts])


@pytest.fixture
def opening(clock):
    """Opens a ledger whose process has models of our own: `counted`, `second` and `knowing`."""
    opened = []

    def open_(place):
        memory = open_memory(place, clock=clock)
        opened.append(memory)
        memory.counted, memory.second = Counting(), Counting("second")
        for model in (memory.counted, memory.second, Knowing("knowing")):
            memory._embedders._loaded[model.name] = model
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opening, place):
    memory = opening(place)
    tell(memory)
    return memory


def tell(memory, said=SAID):
    for person, texts in said.items():
        memory.consent.grant(person, "consent")
        for text in texts:
            memory.record_turn(person, text, session="s")
    memory.process()


def ask(memory, *more):
    for query in (*QUERIES, *more):
        assert memory.search("ana", query).results
    memory._core.recorder.flush()


def texts_of(memory):
    return memory.vectors.status().texts


def adopted(memory):
    stream = embedder_stream(memory._log.tenant)
    return [each.event for each in memory._log.read_stream(stream)]


def kept(memory):
    there = memory.vectors.status().kept
    return {each.model: (each.vectors, each.subjects) for each in there if each.vectors}


def test_what_is_missing_is_built_once(memory, opening, place):
    before = memory.vectors.status("ana")
    assert (before.model, before.adopted, before.installed) == ("hashed-1", False, True)
    assert before.rollback_to is None
    assert before.missing == before.texts >= len(SAID["ana"])
    assert memory.counted.texts == 0, "asking how it is computes nothing"
    assert kept(memory) == {}
    [row] = memory.vectors.status().kept
    assert (row.model, row.vectors, row.in_force) == ("hashed-1", 0, True)
    steps = []
    total = texts_of(memory)
    built = memory.vectors.build("ana")
    assert (built.subjects, built.texts, built.computed) == (1, before.texts, memory.counted.texts)
    assert memory.vectors.status("ana").missing == 0
    assert memory.vectors.status("ben").missing == total - before.texts
    rest = memory.vectors.build(progress=lambda *step: steps.append(step))
    assert (rest.subjects, rest.texts) == (2, total)
    assert built.computed + rest.computed == memory.counted.texts == total
    assert steps[-1] == (total, total)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert memory.vectors.build().computed == 0
    assert kept(memory) == {"hashed-1": (total, 2)}
    assert not memory._indexes().holds(memory._log.subject("ana"), "hashed-1"), "not kept in memory"
    again = opening(place)
    assert again.vectors.build().computed == 0
    again.search("ana", "tea", record=False)
    assert again.counted.texts == 1, "the query's alone"
    with pytest.raises(UnknownMemory):
        memory.vectors.build("nobody")
    with pytest.raises(UnknownMemory):
        memory.vectors.status("nobody")


def test_what_another_process_deleted_is_built_again(memory, opening, place):
    ask(memory)
    total = memory.vectors.status("ana").texts
    other = opening(place)
    assert other.vectors.drop("hashed-1", in_force=True).vectors == total
    assert memory.vectors.build("ana").computed == total
    assert kept(memory) == {"hashed-1": (total, 1)}


def test_a_move_is_compared_and_every_process_follows_at_its_next_search(memory, opening, place):
    other = opening(place)
    ask(memory)
    total = texts_of(memory)
    assert other.search("ana", "tea", record=False).embedder == "hashed-1"
    done = memory.vectors.migrate("second", by="dora")
    assert (done.previous, done.model, done.adopted, done.refused) == (
        "hashed-1",
        "second",
        True,
        None,
    )
    assert (done.queries, done.parity, done.worst) == (len(QUERIES), 1.0, ())
    assert (done.built.texts, done.built.computed) == (total, total)
    [event] = adopted(memory)
    assert event == EmbedderAdopted(
        model="second",
        dimension=Hashed.dimension,
        previous="hashed-1",
        queries=len(QUERIES),
        parity=1_000_000,
    )
    assert not memory._indexes().holds(memory._log.subject("ana"), "hashed-1")
    before = other.second.texts
    assert other.search("ana", "tea", record=False).embedder == "second"
    assert other.second.texts == before + 1, "every text's vector was built before the move"
    assert not other._indexes().holds(other._log.subject("ana"), "hashed-1")
    status = other.vectors.status()
    assert (status.model, status.adopted, status.rollback_to) == ("second", True, "hashed-1")
    with pytest.raises(NotPermitted, match="in force"):
        memory.vectors.migrate("second", by="dora")

    counted = memory.counted.texts
    back = other.vectors.rollback(by="dora")
    assert (back.model, back.previous) == ("hashed-1", "second")
    assert memory.search("ana", "tea", record=False).embedder == "hashed-1"
    assert memory.counted.texts == counted + 1, "its vectors were still there"
    assert memory.vectors.rollback(by="dora").model == "second", "and there again"
    assert memory.proofs.verify().ok


def test_a_model_that_finds_less_is_refused_when_told(memory):
    assert memory.vectors.migrate("knowing", by="dora").adopted
    unsaid = ("beverage", "stomatologist")
    ask(memory, *unsaid)
    tried = memory.vectors.migrate("hashed-1", by="dora", dry_run=True)
    assert not tried.adopted
    assert tried.refused is None
    assert 0 < tried.parity < 1
    assert tried.queries == len(QUERIES) + len(unsaid)
    assert kept(memory)["hashed-1"] == kept(memory)["knowing"] == (texts_of(memory), 2)
    worst = [each.overlap for each in tried.worst]
    assert worst == sorted(worst)
    assert worst[0] == 0
    first = tried.worst[0]
    assert first.subject == "ana"
    assert first.query in unsaid
    assert first.missed
    refused = memory.vectors.migrate("hashed-1", by="dora", at_least=tried.parity + 0.01)
    assert not refused.adopted
    assert "asked for" in refused.refused
    assert refused.built.computed == 0, "built before"
    assert [each.model for each in adopted(memory)] == ["knowing"]
    assert memory.search("ana", "tea", record=False).embedder == "knowing"
    assert not memory._indexes().holds(memory._log.subject("ana"), "hashed-1")
    few = memory.vectors.migrate("hashed-1", by="dora", queries=2, dry_run=True)
    assert (few.queries, few.parity) == (2, 0.5), "the last ones, of which words of slots find one"
    taken = memory.vectors.migrate("hashed-1", by="dora", at_least=tried.parity - 0.01)
    assert taken.adopted
    assert adopted(memory)[-1].parity == round(tried.parity * 1_000_000)


def test_without_a_recorded_search_there_is_no_parity(memory):
    refused = memory.vectors.migrate("second", by="dora", at_least=0.5)
    assert (refused.parity, refused.queries, refused.adopted) == (None, 0, False)
    assert "No search" in refused.refused
    done = memory.vectors.migrate("second", by="dora")
    assert done.adopted
    assert adopted(memory)[0].parity == 0


def test_recorded_searches_are_made_as_of_then(memory, clock):
    ask(memory)
    clock.ahead(60)
    tell(memory, {"ana": [f"I bought tea number {number}." for number in range(20)]})
    assert memory.vectors.migrate("second", by="dora").parity == 1.0
    erased = memory.erase("ana", by="system")
    assert erased.bodies
    assert memory.vectors.migrate("hashed-1", by="dora").queries == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"model": "second", "by": " "}, NotPermitted),
        ({"model": "second", "by": "dora", "queries": -1}, InvalidTurn),
        ({"model": "second", "by": "dora", "at_least": 1.5}, InvalidTurn),
        ({"model": "no-such-directory/model", "by": "dora"}, EmbedderMissing),
        ({"model": "second@0123456789abcdef", "by": "dora"}, EmbedderMissing),
    ],
)
def test_what_cannot_be_moved_to_changes_nothing(memory, arguments, problem):
    with pytest.raises(problem):
        memory.vectors.migrate(**arguments)
    assert adopted(memory) == []
    assert kept(memory) == {}


def test_a_directory_without_a_whole_model_is_refused(memory, tmp_path):
    with pytest.raises(EmbedderMissing, match="holds no model"):
        memory.vectors.migrate(str(tmp_path), by="dora")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbedderMissing, match="cannot be loaded"):
        memory.vectors.migrate(str(tmp_path), by="dora")
    assert adopted(memory) == []


def test_of_two_who_move_at_once_the_second_is_told(memory, opening, place, monkeypatch):
    other = opening(place)
    ask(memory)

    def first(*_step):
        if not adopted(other):
            other.vectors.migrate("knowing", by="ben")

    with pytest.raises(VersionConflict):
        memory.vectors.migrate("second", by="dora", progress=first)
    assert [each.model for each in adopted(memory)] == ["knowing"]


def test_without_an_earlier_model_nothing_goes_back(memory):
    with pytest.raises(NotPermitted, match="nothing to go back to"):
        memory.vectors.rollback(by="dora")
    memory.vectors.migrate("hashed-1", by="dora")  # what was the default stays, whatever comes
    assert [each.previous for each in adopted(memory)] == [None]
    with pytest.raises(NotPermitted, match="nothing to go back to"):
        memory.vectors.rollback(by="dora")


def test_a_model_that_is_not_here_is_stood_in_for(memory):
    event = EmbedderAdopted(model="of/another-machine", dimension=8, previous=None)
    stream = embedder_stream(memory._log.tenant)
    memory._log.append([New(event, new_id(), stream, None, "system")], {stream: 0})
    found = memory.search("ana", "tea", record=False)
    assert found.embedder == "words-3"
    assert any("of/another-machine, which is not installed" in note for note in found.notes)
    status = memory.vectors.status()
    assert (status.model, status.used, status.installed) == (
        "of/another-machine",
        "words-3",
        False,
    )
    with pytest.raises(EmbedderMissing):
        memory.vectors.build()
    assert memory.operations.jobs.run("vectors").error == "EmbedderMissing"


def test_words_are_the_default_and_what_adopted_the_older_fallback_stays(place, clock, monkeypatch):
    with open_memory(place, clock=clock) as older:
        tell(older)
        recorded = older.search("ana", "tea")
        assert recorded.embedder == "hashed-1"
    monkeypatch.delenv("BELIEFLEDGER_EMBEDDER")
    monkeypatch.setattr(models, "installed", lambda: False)
    with open_memory(place, clock=clock) as newer:
        found = newer.search("ana", "some hot beverage?", record=False)
        assert found.embedder == "words-3"
        assert any("word by word" in note and "pip install" in note for note in found.notes)
        assert newer.vectors.status("ana").missing == 0
        replay = newer.audit.replay_recall(recorded.recall_id)
        assert (replay.verdict, replay.reasons) == ("same", ())
        newer.vectors.migrate("hashed-1", by="dora")
    with open_memory(place, clock=clock) as newest:
        assert newest.search("ana", "tea", record=False).embedder == "hashed-1"


def test_vectors_of_a_model_are_dropped_unless_it_is_in_force(memory):
    memory.vectors.build()
    memory.vectors.build(model="second")
    total, of_ana = texts_of(memory), memory.vectors.status("ana").texts
    with pytest.raises(NotPermitted, match="in force"):
        memory.vectors.drop("hashed-1")
    assert memory.vectors.drop("second", subject="ana").vectors == of_ana
    assert kept(memory) == {"hashed-1": (total, 2), "second": (total - of_ana, 1)}
    assert memory.vectors.drop("second").vectors == total - of_ana
    assert memory.vectors.drop("second").vectors == 0
    assert memory.vectors.drop("hashed-1", subject="ana", in_force=True).vectors == of_ana
    counted = memory.counted.texts
    assert memory.search("ana", "tea", record=False).results
    assert memory.counted.texts == counted + of_ana + 1


def change_one(memory, person):
    """Flip a bit in one vector of somebody's."""
    with memory._indexes().store._home.writing() as connection:
        own = table.c.subject_ref == memory._log.subject(person)
        tag, blob = connection.execute(select(table.c.tag, table.c.vector).where(own)).first()
        changed = bytes(blob)[:-1] + bytes([bytes(blob)[-1] ^ 1])
        connection.execute(update(table).where(table.c.tag == tag).values(vector=changed))


def test_a_damaged_vector_stops_a_search_until_it_is_dropped_as_advised(memory, opening, place):
    memory.vectors.build()
    change_one(memory, "ana")
    again = opening(place)
    with pytest.raises(LogCorrupted, match="beliefledger vectors drop --damaged"):
        again.search("ana", "tea", record=False)
    assert again.search("ben", "offices", record=False).results
    assert again.vectors.repair("ben").vectors == 0
    counted = again.counted.texts
    assert again.vectors.repair().vectors == 1
    assert again.search("ana", "tea", record=False).results
    assert again.counted.texts == counted + 2, "the query's, and the one that was dropped"


def test_the_job_builds_what_is_missing_and_sweeps_what_nobody_is_behind(memory, clock):
    total = texts_of(memory)
    rows = [("0" * 32, "f" * 32, "hashed-1", b"left by a process that was killed")]
    memory._indexes().store.bring(rows)
    run = memory.operations.jobs.run("vectors")
    assert (run.outcome, run.counts) == ("done", {"computed": total, "swept": 1})
    assert kept(memory) == {"hashed-1": (total, 2)}
    clock.ahead(3600)
    assert memory.operations.jobs.run("vectors").counts == {"computed": 0, "swept": 0}
    tell(memory, {"ana": ["I play the cello."]})
    clock.ahead(3600)
    assert memory.operations.jobs.run("vectors").counts == {
        "computed": texts_of(memory) - total,
        "swept": 0,
    }
    memory.vectors.drop("hashed-1", subject="ben", in_force=True)
    clock.ahead(3600)
    assert (
        memory.operations.jobs.run("vectors").counts["computed"]
        == memory.vectors.status("ben").texts
    )


# Copying


@pytest.fixture
def places(tmp_path, postgres_place):
    return {
        "sqlite": (str(tmp_path / "source"), str(tmp_path / "copy")),
        "postgres": (postgres_place, f"{postgres_place}_copy"),
    }


@pytest.mark.parametrize(
    ("source", "destination"),
    [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite")],
)
def test_at_a_copy_no_vector_is_computed_again(places, opening, source, destination):
    source, destination = places[source][0], places[destination][1]
    first = opening(source)
    tell(first, {**SAID, "cy": ["I like cats."]})
    first.vectors.build()
    first.erase("cy", by="office")
    left = [("0" * 32, "f" * 32, "hashed-1", b"left by a process that was killed")]
    first._indexes().store.bring(left)
    total = texts_of(first)
    expected = [each.id for each in first.search("ana", "tea", record=False).results]
    first.close()
    assert copy(source, destination).vectors == total
    there = opening(destination)
    assert kept(there) == {"hashed-1": (total, 2)}
    assert [each.id for each in there.search("ana", "tea", record=False).results] == expected
    assert there.counted.texts == 1, "the query's alone"
    assert there.vectors.build().computed == 0
    there.close()

    assert copy(source, destination).vectors == 0, "they are there"
    first = opening(source)
    tell(first, {"ana": ["I play the cello."]})
    first.vectors.build()
    first.erase("ben", by="office")
    more = texts_of(first)
    gained = first.vectors.status("ana").texts
    first.close()
    brought = copy(source, destination)
    assert brought.vectors > 0
    there = opening(destination)
    assert more == gained
    assert kept(there) == {"hashed-1": (more, 1)}
    assert there.search("ana", "cello", record=False).results
    assert there.counted.texts == 1


def test_a_ledger_that_nobody_searched_brings_none(tmp_path, opening):
    first = opening(tmp_path / "source")
    tell(first)
    first.close()
    assert copy(tmp_path / "source", tmp_path / "copy").vectors == 0


# A model in a directory


@pytest.fixture
def packaged():
    pytest.importorskip("sentence_transformers")
    found = find_spec(WHEEL)
    return Path(found.origin).parent / "model"


def test_a_model_in_a_directory_is_known_by_its_digest(
    packaged, memory, place, clock, tmp_path, monkeypatch
):
    ours = tmp_path / "ours"
    shutil.copytree(packaged, ours)
    ask(memory)
    done = memory.vectors.migrate(str(ours), by="dora")
    assert done.adopted
    name, digest = done.model.split("@")
    assert (name, len(digest), done.dimension) == ("ours", 16, 384)
    assert str(tmp_path) not in repr(adopted(memory))
    found = memory.search("ana", "Which hot drink?", record=False)
    assert found.embedder == done.model
    with open_memory(place, clock=clock) as other:
        again = other.search("ana", "Which hot drink?", record=False)
        assert again.embedder == done.model
        assert [each.id for each in again.results] == [each.id for each in found.results]
    moved = tmp_path / "moved"
    ours.rename(moved)
    with open_memory(place, clock=clock) as other:
        status = other.vectors.status()
        assert (status.installed, status.used) == (False, "words-3")
        assert "BELIEFLEDGER_EMBEDDER" in status.note
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", str(moved))
    with open_memory(place, clock=clock) as other:
        assert other.vectors.status().used == done.model, "found where the environment says"
        assert other.vectors.build().computed == 0
    weights = moved / "config_sentence_transformers.json"
    weights.write_text(weights.read_text() + "\n")
    with open_memory(place, clock=clock) as other:
        assert other.vectors.status().used == "words-3", "another model lies there"


def test_minilm_finds_the_same_from_its_own_directory(packaged, place, clock, tmp_path):
    (tmp_path / "link").symlink_to(packaged)
    with open_memory(place, clock=clock) as memory:
        tell(memory)
        memory.vectors.build(model=MINILM)
        memory.vectors.build(model=str(tmp_path / "link"))
        there = memory.vectors.status().kept
        of_model = {each.model: each.vectors for each in there if each.vectors}
        assert len(of_model) == 2
        assert len(set(of_model.values())) == 1
        assert WEIGHTS_SHA256 in memory._indexes().store.place_of(MINILM)  # not read whole again
        keys = memory._log.keys(memory._log.subject("ana"))
        [one, two] = [
            np.stack(sorted(memory._indexes().store.all_of(keys, name, 384).values(), key=tuple))
            for name in of_model
        ]
        assert np.allclose(one, two, atol=1e-4)  # kept as float16: the last digit may differ


# The commands


def run(place, *words, code=0):
    answer = CliRunner().invoke(app, ["--ledger", place, "vectors", *words])
    assert answer.exit_code == code, answer.output
    return answer.stdout if code in {0, 3} and answer.stdout else answer.output


def test_the_commands(memory, place):
    pytest.importorskip("sentence_transformers")
    ask(memory)
    total = texts_of(memory)
    memory.close()

    def told(*words, code=0):
        return json.loads(run(place, *words, "--json", code=code))

    assert told("status")["model"] == "hashed-1"
    assert told("build")["texts"] == total
    assert told("status", "--subject", "ana")["missing"] == 0
    page = run(place, "status", "-s", "ana")
    assert "by default" in page
    assert "0 without a vector" in page
    assert "0 vectors of hashed-1 computed" in run(place, "build")
    tried = told("migrate", "--model", MINILM, "--by", "dora", "--dry-run")
    assert (tried["adopted"], tried["queries"], tried["dimension"]) == (False, len(QUERIES), 384)
    moving = ("migrate", "--model", MINILM, "--by", "dora")
    if tried["parity"] < 1:
        refused = told(*moving, "--at-least", "1", code=3)
        assert refused["refused"]
    assert "is in force" in run(place, *moving, "--queries", "3")
    assert "in force" in run(place, "drop", "--model", MINILM, code=3)
    assert told("rollback", "--by", "dora")["model"] == "hashed-1"
    assert told("drop", "--model", MINILM)["vectors"] == total
    assert "to compute them: beliefledger vectors build" in run(place, "rollback", "--by", "dora")
    assert told("rollback", "--by", "dora")["model"] == "hashed-1"
    assert told("drop", "--damaged") == {"model": None, "subject": None, "vectors": 0}
    for words in (
        ("drop",),
        ("drop", "--damaged", "--model", "x"),
        ("drop", "--damaged", "--in-force"),
    ):
        assert "either --model or --damaged" in run(place, *words, code=2)
    missing = run(place, "build", "--model", "nobody/nothing", code=3)
    assert "There is no model" in missing
    assert "name a model's directory" in missing
