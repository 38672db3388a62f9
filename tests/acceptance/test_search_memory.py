"""How many texts stay in memory for searches."""

from __future__ import annotations

import pytest

from beliefledger import InvalidQuery, open_memory

PEOPLE = ("ana", "ben", "cleo")
TURNS = ("I live in Lisbon.", "My cat is called Miso.", "I work at Acme.", "I like jazz.")
ASKED = "where do I live?"


def filled(place):
    memory = open_memory(place, consent="consent", embedder="hashed-1")
    for person in PEOPLE:
        for each in TURNS:
            memory.remember(person, each)
    return memory


def told(memory, person):
    return [(each.text, each.score) for each in memory.search(person, ASKED).results]


def kept(memory):
    return [memory._log.subject(person) for person in PEOPLE], list(memory._indexes()._indexes)


def test_who_was_asked_about_last_stays_and_the_others_go(place, monkeypatch):
    with filled(place) as memory:
        everything = {person: told(memory, person) for person in PEOPLE}
        assert len(kept(memory)[1]) == len(PEOPLE)
    monkeypatch.setenv("BELIEFLEDGER_INDEXED_TEXTS", "1")
    with open_memory(place, embedder="hashed-1") as memory:
        for person in (*PEOPLE, *PEOPLE):
            assert told(memory, person) == everything[person]
            refs, there = kept(memory)
            assert [ref for ref, *_ in there] == [refs[PEOPLE.index(person)]]


def test_as_many_stay_as_there_is_room_for(place, monkeypatch):
    with filled(place) as memory:
        texts = len(memory.search("ana", ASKED).results)
        assert texts > 1
    # Four turns and what was kept of them, each read anew and so counted double.
    monkeypatch.setenv("BELIEFLEDGER_INDEXED_TEXTS", str(2 * 2 * 2 * len(TURNS)))
    with open_memory(place, embedder="hashed-1") as memory:
        for person in PEOPLE:
            told(memory, person)
        refs, there = kept(memory)
        assert [ref for ref, *_ in there] == refs[1:]


@pytest.mark.parametrize("wrong", ["-1", "many", "1.5"])
def test_a_number_that_is_none_is_refused(tmp_path, monkeypatch, wrong):
    monkeypatch.setenv("BELIEFLEDGER_INDEXED_TEXTS", wrong)
    with pytest.raises(InvalidQuery, match="no number of texts"):
        open_memory(tmp_path / "ledger")
