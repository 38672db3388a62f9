"""Indexes as they are kept for other processes: what comes of one that was taken up is what comes
of one that was read anew, and none outlives what was erased or is not this log's."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from beliefledger import open_memory
from beliefledger.projections.embedding import Hashed
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_state import cut, packed, unpacked
from beliefledger.projections.tables import kept_indexes as table
from beliefledger.search import indexes, kept

CANARY = "I always use xylographic mode."
ASKED = ("where do I live?", "xylographic mode", "what did I say about tea in March?", "sister")


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch, master):
    monkeypatch.setattr(kept, "LEAST_KEPT", 1)
    monkeypatch.setattr(kept, "_LEAST_NEW", 1)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", master.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", Hashed.name)


@pytest.fixture
def taken_up(monkeypatch):
    """How many texts each index had that was taken up; 0 where there was nothing to take."""
    found = []
    take_up = kept.take_up

    def told(log, queries, store, live, model):
        take_up(log, queries, store, live, model)
        found.append(len(live.index))

    monkeypatch.setattr(indexes, "take_up", told)
    return found


@pytest.fixture
def memory(place, clock, taken_up):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        tell(opened, "I live in Lisbon.", CANARY, "My sister Maria works at Acme.", "I like tea.")
        tell(opened, "I moved to Porto.", "What if I were a doctor?", "I have asthma.")
        opened.search("ana", ASKED[0])
        yield opened


def tell(memory, *texts):
    """Have the person say it, and the agent repeat it; returns the ids of the person's turns."""
    turns = []
    for text in texts:
        turn = memory.record_turn("ana", text, session="s", metadata={"of": "a test"})
        turns.append(turn.turn_id)
        memory.record_turn("ana", f"I see: {text}", role="assistant", session="s")
    memory.process()
    return turns


def found(memory):
    """All that searches say, but for their ids on record and for how often something was shown."""
    return [
        [
            each.model_dump(exclude={"accesses", "left"})
            for each in memory.search("ana", asked, k=20).results
        ]
        for asked in ASKED
    ]


def rows(memory):
    with memory._indexes().store._home.reading() as connection:
        return connection.execute(select(table)).all()


def ref(memory):
    return memory._log.subject("ana")


def old(memory):
    """The rows of indexes that were read before the last erasure."""
    erasures = memory._log.erasures_of(ref(memory))
    return [row for row in rows(memory) if row.erasures < erasures]


def put_back(memory, kept_before):
    """What a crash, or a copy of the file, leaves behind."""
    with memory._indexes().store._home.writing() as connection:
        connection.execute(table.delete())
        connection.execute(table.insert(), [row._asdict() for row in kept_before])


def test_what_is_taken_up_answers_as_what_is_read_anew(memory, place, clock, taken_up):
    expected = found(memory)
    [live] = memory._indexes()._indexes.values()
    with open_memory(place, clock=clock) as other:
        assert found(other) == expected
        assert taken_up == [0, len(live.index)]
        assert found(memory) == expected


def restored(state):
    """As another process has it."""
    return unpacked(cut(packed(state), 1_000))


def test_all_of_an_index_comes_back(memory):
    [live] = memory._indexes()._indexes.values()
    state = live.index.state()
    again = SubjectIndex(live.index.subject_ref, live.index.keys, live.index.model)
    again.restore(restored(state), Hashed.dimension)
    again._know_places()
    assert again.tags == live.index.tags
    for name, value in vars(live.index).items():
        if name in {"rows", "texts", "shown", "dense", "lock", "_found"}:
            continue
        if isinstance(value, (dict, set, list, tuple, str, int)):
            assert vars(again)[name] == value, name
    assert b"".join(packed(again.state())) == b"".join(packed(state))
    fold = live.standing.fold
    anew = type(fold)()
    anew.restore(restored(fold.state()))
    for name, value in vars(fold).items():
        if name not in {"_touched", "_taken_back", "_at"}:
            assert vars(anew)[name] == value, name
    assert vars(anew._taken_back) == vars(fold._taken_back)


def test_what_was_said_since_is_followed(memory, place, clock, taken_up):
    tell(memory, "I moved to Faro.", "I do not like tea.", "No, I am a nurse.")
    memory.revoke(memory.beliefs("ana")[0].memory_id, by="ana")
    with open_memory(place, clock=clock) as other:
        following = found(other)
        assert taken_up
        assert taken_up[-1] > 0
        other._indexes().store.indexes.forget(ref(other))
        other._indexes().drop()
        assert found(other) == following
        assert taken_up[-1] == 0


def test_it_is_kept_again_once_it_has_grown(memory):
    [before] = {row.saved for row in rows(memory)}
    memory.search("ana", ASKED[0])
    assert {row.saved for row in rows(memory)} == {before}
    tell(memory, *(f"I have {number} books." for number in range(5)))
    memory.search("ana", ASKED[0])
    assert {row.saved for row in rows(memory)} != {before}


def test_an_erasure_takes_it_along(memory, place, clock, taken_up):
    [turn] = tell(memory, CANARY)
    memory.search("ana", ASKED[0])
    kept_before = rows(memory)
    memory.erase("ana", turn=turn, by="ana")
    assert old(memory) == []
    # A copy of what was there is put back: it is not taken up, and the job deletes it.
    put_back(memory, kept_before)
    with open_memory(place, clock=clock) as other:
        _looked, left = other._indexes().probe(ref(other), [1])
        assert left == len(kept_before)
        other.search("ana", ASKED[0])
        assert taken_up[1:] == [0]
        erasures = {row.erasures for row in rows(other)}
        assert erasures == {other._log.erasures_of(ref(other))}
        assert other._indexes().probe(ref(other), [1])[1] == 0


def test_the_job_sweeps_what_a_crash_left(memory):
    [turn] = tell(memory, CANARY)
    memory.search("ana", ASKED[0])
    left = rows(memory)
    memory.erase("ana", turn=turn, by="ana")
    put_back(memory, left)
    assert old(memory)
    assert memory._indexes().sweep(contents=True) == 0
    assert old(memory) == []


def test_of_an_erased_person_nothing_is_kept(memory):
    memory.erase("ana", by="ana")
    assert rows(memory) == []


def test_what_is_erased_while_it_is_kept_is_not_there_after_it(memory, monkeypatch):
    log, store = memory._log, memory._indexes().store
    [live] = memory._indexes()._indexes.values()
    live.kept = 0
    theirs = live.index.erasures.theirs
    monkeypatch.setattr(log, "erasures_of", lambda *_: theirs + 1)
    kept.keep(log, store.indexes, live, Hashed())
    assert rows(memory) == []
    monkeypatch.undo()


def test_what_was_changed_is_read_anew(memory, place, clock, taken_up):
    expected, last = found(memory), rows(memory)[-1]
    with memory._indexes().store._home.writing() as connection:
        changed = bytes([*last.sealed[:-1], last.sealed[-1] ^ 1])
        connection.execute(update(table).where(table.c.part == last.part).values(sealed=changed))
    with open_memory(place, clock=clock) as other:
        assert found(other) == expected
        assert taken_up[1:] == [0]
        assert rows(other)[-1].sealed != changed


@pytest.mark.parametrize("what", ["last_event", "version", "generations"])
def test_of_another_log_views_or_version_it_is_not_taken_up(
    memory, place, clock, taken_up, monkeypatch, what
):
    expected = found(memory)
    load = kept.KeptIndexes.load
    monkeypatch.setattr(
        kept.KeptIndexes, "load", lambda self, *given: load(self, *given) | {what: "another"}
    )
    with open_memory(place, clock=clock) as other:
        assert found(other) == expected
        assert taken_up[1:] == [0]


def test_with_other_words_for_what_is_withheld_it_is_not_taken_up(
    memory, place, clock, taken_up, monkeypatch
):
    expected = found(memory)
    monkeypatch.setattr("beliefledger.search.kept.digest", lambda *_packages: "another")
    with open_memory(place, clock=clock) as other:
        assert found(other) == expected
        assert taken_up[1:] == [0]


def test_words_that_may_no_longer_be_shown_go(memory, place, clock):
    assert rows(memory)
    belief = next(each for each in memory.beliefs("ana") if "xylographic" in each.text)
    memory.revoke(belief.memory_id, by="ana")
    with open_memory(place, clock=clock) as other:
        assert not other.search("ana", "xylographic mode", record=False).results
    [live] = memory._indexes()._indexes.values()
    memory.search("ana", "tea")
    state = memory._indexes().store.indexes.load(
        live.index.keys, live.index.model, live.standing.purpose
    )
    assert state is None or not any("xylograph" in term for term in state["words.terms"])


def test_of_vectors_that_are_dropped_no_index_is_left(memory):
    memory.vectors.drop(Hashed.name, in_force=True)
    assert rows(memory) == []
