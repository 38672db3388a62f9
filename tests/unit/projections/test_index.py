"""The index of a subject over a real ledger: kept up by several, rebuilt in between, and whole
after a read that failed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from beliefledger import open_memory
from beliefledger.projections.columns import Codes, Columns
from beliefledger.projections.embedding import Hashed
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_texts import heading


@pytest.fixture
def memory(tmp_path, clock):
    with open_memory(tmp_path, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        opened.store("ana", "green tea", attribute="drink")
        opened.record_turn("ana", "I drink tea.", session="s")
        opened.record_turn("ana", "With milk?", role="assistant", session="s")
        opened.process()
        yield opened


def index_of(memory):
    ref = memory._log.subject("ana")
    return memory._indexes().index(ref, Hashed())


def places(index):
    return sorted(int(each) for each in index.texts["words_at"])


def test_columns_grow_and_keep_what_they_hold():
    columns = Columns(("a", "b"))
    for number in range(300):
        columns.add([(number, -number)])
    columns.add([])
    columns.add([(300, -300), (301, -301)])
    assert list(columns["a"]) == list(range(302))
    columns["b"][7] = 5
    assert (columns["b"][7], len(columns)) == (5, 302)


def test_codes_are_one_for_each_name():
    codes = Codes()
    assert [codes(each) for each in ("x", None, "x", "y")] == [0, 1, 0, 2]
    assert codes.known(["y", "z", None]) == [2, 1]


def test_a_read_that_fails_takes_nothing_in_twice(memory, monkeypatch):
    memory.search("ana", "tea")
    memory._core.recorder.flush()
    ref = memory._log.subject("ana")
    keys = memory._log.keys(ref)
    index = SubjectIndex(ref, keys, Hashed.name)
    finder = memory._indexes()
    monkeypatch.setattr("beliefledger.search.indexes.SubjectIndex", lambda *_: index)
    finder.drop()
    for step in ("_shown_since", "_turns_since"):
        whole = getattr(index, step)

        def failing(*_):
            raise OSError("the connection is gone")

        index.start()
        monkeypatch.setattr(index, step, failing)
        with pytest.raises(OSError, match="gone"), index_of(memory):
            pass
        monkeypatch.setattr(index, step, whole)
        with index_of(memory) as followed:
            assert followed is index
            assert len(places(index)) == len(set(places(index))) == 4
            assert len(index.rows) == 2
            assert len(index.shown) == 2
            assert not index.waiting


def test_many_may_search_while_it_grows_and_is_rebuilt(memory):
    done = threading.Event()

    def search(_):
        counts = []
        while not done.is_set():
            answer = memory.search("ana", "tea", k=1_000, record=False)
            ids = [hit.id for hit in answer.results]
            assert len(ids) == len(set(ids))
            assert answer.candidates >= len(ids) + answer.suppressed  # some are one result
            counts.append(answer.candidates)
        assert counts == sorted(counts), "what was found once is found again"
        return counts[-1]

    with ThreadPoolExecutor(4) as pool:
        searching = [pool.submit(search, each) for each in range(4)]
        try:
            for number in range(12):
                memory.remember("ana", f"tea {number}", session="s")
                if number % 4 == 1:
                    memory.operations.rebuild("turns")
                    memory.remember("ana", f"more tea {number}")
        finally:
            done.set()
        for each in searching:
            assert each.result(timeout=60) <= 19
    assert memory.search("ana", "tea", record=False).candidates == 19
    with index_of(memory) as index:
        assert len(places(index)) == len(set(places(index))) == 19


def test_what_another_handle_writes_is_found(memory, clock):
    assert memory.search("ana", "parsnips", record=False).results == ()
    with open_memory(memory.place, clock=clock) as other:
        other.remember("ana", "Do parsnips need much water?")
        other.store("ana", "parsnips", attribute="drink")
        found = memory.search("ana", "parsnips", record=False).results
        assert {each.kind for each in found} == {"memory", "episode"}
        other.erase("ana", by="system")
        assert memory.search("ana", "parsnips", record=False).results == ()
    memory.consent.grant("ben", "consent")
    memory.search("ben", "parsnips", record=False)
    assert [ref for ref, *_ in memory._indexes()._indexes] == [memory._log.subject("ben")]


def test_the_heading_of_a_turn_has_its_day_and_speaker():
    day = datetime(2023, 5, 7, tzinfo=UTC)
    assert heading("Bob", int(day.timestamp()) * 1_000_000) == "7 May 2023 Bob"
