"""The view of recalls, on both backends: folded from envelopes, of both versions of its event."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from beliefledger import open_memory
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import recall_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.projections import recalls
from beliefledger.projections.recalls import RecallsView
from beliefledger.search.options import SearchOptions


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        for name in ("ana", "ben"):
            opened.consent.grant(name, "consent")
            opened.store(name, "green tea", attribute="drink")
            opened.store(name, "dark mode", attribute="editor.theme")
            opened.record_turn(name, "I drink tea with milk.", session="s1")
        yield opened


def rows_of(memory):
    memory._core.recorder.flush()
    with memory._queries.view(RecallsView.name) as (connection, generation):
        view = memory._core.projector.views[RecallsView.name]
        return [
            sorted(map(tuple, connection.execute(select(table))))
            for table in view.tables(generation)
        ]


def test_a_search_and_what_was_shown_are_rows(memory, clock):
    memory.record_turn("ana", "Tea with ginger and honey was all they had at the station.")
    memory.process()
    answer = memory.search("ana", "tea", session="s1")
    assert len({hit.kind for hit in answer.results}) == 2
    rows_of(memory)
    clock.ahead(5)
    [drink] = [each for each in memory.beliefs("ana") if each.attribute == "drink"]
    memory.recalls.record_shown("ana", [drink], query="x")
    made, found = rows_of(memory)
    assert len(made) == 2
    with memory._queries.view(RecallsView.name) as (connection, generation):
        shown, searched = recalls.last(connection, generation)
        assert recalls.last(connection, generation, searches=True) == [searched]
        assert recalls.last(connection, generation, limit=1) == [shown]
        assert recalls.last(connection, generation, found=drink.memory_id) == [shown, searched]
        assert recalls.last(connection, generation, found=answer.results[-1].id)
        assert recalls.last(connection, generation, found="nothing") == []
        ben = memory._log.subject("ben")
        assert recalls.last(connection, generation, subject_ref=ben) == []
        assert recalls.with_id(connection, generation, answer.recall_id or "") == searched
        assert recalls.with_id(connection, generation, "f" * 32) is None
    assert (searched.found, searched.embedder) == (len(answer.results), answer.embedder)
    assert (shown.found, shown.ranker, shown.embedder) == (1, "shown", None)
    assert shown.asked_at - searched.asked_at >= 5_000_000
    ranked = [row for row in found if row[0] == searched.position]
    assert [row[3] for row in ranked] == [hit.id for hit in answer.results]
    assert [bool(row[4]) for row in ranked] == [hit.kind == "memory" for hit in answer.results]
    assert [row[5] for row in ranked] == [round(hit.score * 1e6) for hit in answer.results]


def live(memory):
    for query in ("tea", "mode", "green milk"):
        for name in ("ana", "ben"):
            memory.search(name, query)
            memory.search(
                name, query, options=SearchOptions(profile="recall", include=("memories",))
            )
    memory.recalls.record_shown("ana", memory.beliefs("ana"))


def test_what_was_folded_live_is_what_is_rebuilt(memory):
    rows_of(memory)
    live(memory)
    before = rows_of(memory)
    assert len(before[0]) == 13
    [answer] = memory.operations.rebuild(RecallsView.name, verify=True)
    assert answer.same
    assert rows_of(memory) == before


def test_recalls_of_the_first_version_fold_too(memory):
    """It had no body, and nothing of what was searched."""
    ref = memory._log.subject("ana")
    ids = [each.memory_id for each in memory.beliefs("ana")]
    event = MemoriesRecalled(
        purpose="test",
        session_tag=None,
        query_digest="d",
        ranker="shown",
        memories=tuple(ids),
        scores=(),
    )
    stream = recall_stream(ref)
    memory._log.append([New(event, new_id(), stream, ref, SYSTEM)], {stream: 0})
    old = memory._log.read_stream(stream)[-1]
    for missing in ("ranked", "position", "asked_at", "embedder", "index", "unembedded"):
        old.facts.pop(missing, None)
    view = RecallsView()
    with memory._core.projector.writing() as connection:
        generation = memory._core.projector.states(connection)[RecallsView.name].generation
        view.start(generation, empty=False)
        view.apply(old, connection)
        [row], found = list(view._new), list(view._found)
    assert row[0] == old.position
    assert row[-3:] == (len(ids), old.recorded_at, old.recorded_at)
    assert row[5] is None
    assert [each[3:6] for each in found] == [(each, True, 0) for each in ids]
    made, _ = rows_of(memory)
    assert made == [row]


def test_an_erasure_deletes_the_rows_of_whom_it_is(memory):
    live(memory)
    made, found = rows_of(memory)
    ref = memory._log.subject("ana")
    memory.search("ana", "tea")  # this one still waits
    memory.erase("ana", by="system")
    kept = [
        [row for row in made if row[2] != ref],
        [row for row in found if row[2] != ref],
    ]
    assert all(kept)
    assert rows_of(memory) == kept
    [answer] = memory.operations.rebuild(RecallsView.name, verify=True)
    assert answer.same
    assert rows_of(memory) == kept
