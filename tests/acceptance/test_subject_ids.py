"""Ids of people that look alike are one person, or are refused."""

from __future__ import annotations

import unicodedata

import pytest

from beliefledger import TurnInput, open_memory
from beliefledger.ledger import names
from beliefledger.ledger.errors import CallerMistake, NotPermitted

NFC, NFD = (unicodedata.normalize(form, "José") for form in ("NFC", "NFD"))


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent", embedder="hashed-1") as opened:
        yield opened


@pytest.mark.parametrize(
    "subject", ["ana ", " ana", "ana\n", "\tana", "a\x00na", "ana\u00a0", "\u200bana", "a\u2028na"]
)
def test_an_id_with_a_blank_at_its_end_or_an_unseen_character_is_nobody_s(memory, subject):
    memory.remember("ana", "I live in Lisbon.")
    head = memory._log.head().position
    for verb in (
        lambda: memory.remember(subject, "I live in Porto."),
        lambda: memory.store(subject, "red", attribute="colour"),
        lambda: memory.beliefs(subject),
        lambda: memory.search(subject, "where?"),
        lambda: memory.erase(subject, by="dpo"),
        lambda: memory.process(subject=subject),
    ):
        with pytest.raises(CallerMistake, match="Give the id without it"):
            verb()
    assert memory._log.head().position <= head + 1  # who erases became known
    assert [each.subject for each in memory.subjects().subjects] == ["ana"]


@pytest.mark.parametrize(("first", "other"), [(NFC, NFD), (NFD, NFC)], ids=["NFC", "NFD"])
def test_an_id_in_another_form_of_unicode_is_the_same_person(memory, first, other):
    memory.remember(first, "I live in Lisbon.")
    memory.remember(other, "I have a dog named Rex.")
    for each in (first, other):
        assert len(memory.beliefs(each)) == 2
    assert [each.subject for each in memory.subjects().subjects] == [NFC]
    memory.record_turns([TurnInput(each, "Hello.") for each in ("Zoë", "Zoe\u0308")])
    assert [each.subject for each in memory.subjects().subjects].count("Zoë") == 1
    memory.erase(other, by="dpo")
    for each in (first, other):
        assert memory.erasure.was_erased(each)
        with pytest.raises(NotPermitted, match="erased"):
            memory.record_turn(each, "Hello.")


def test_who_an_older_ledger_has_under_such_an_id_is_still_reached(memory, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(names, "check_subject", lambda _subject: None)
        older.setattr("beliefledger.ledger.vault.composed", str)
        older.setattr(names, "forms", lambda subject: (subject,))
        for subject in ("ana ", NFD):
            memory.remember(subject, "I live in Lisbon.")
    memory.remember("ana ", "I have a dog named Rex.")
    assert len(memory.beliefs("ana ")) == 2
    assert memory.beliefs("ana") == []
    assert len(memory.beliefs(NFC)) == len(memory.beliefs(NFD)) == 1
    memory.remember(NFC, "I have a dog named Rex.")
    assert len(memory.beliefs(NFD)) == 2
    assert {each.subject for each in memory.subjects().subjects} == {"ana ", NFD}
