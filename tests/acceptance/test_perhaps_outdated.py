"""A context says of a line that a later turn takes up that it is perhaps outdated."""

from __future__ import annotations

import pytest

from beliefledger import open_memory

TAKEN = [
    ("i take ramipril", "losartan now, the ramipril was awful", "what do i take"),
    ("i take ibuprofen", "paracetamol now, the ibuprofen was awful", "what do i take"),
]


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path, consent="contract", embedder="words-3") as opened:
        opened.consent.grant("ana", "explicit_consent", categories=("ordinary", "health"))
        yield opened


def tell(memory, *turns):
    for day, said in enumerate(turns, 1):
        memory.remember("ana", said, said_at=f"2026-03-{day:02}T10:00:00Z")


@pytest.mark.parametrize(("said", "later", "question"), TAKEN)
@pytest.mark.parametrize("form", ["text", "xml"])
def test_a_line_that_a_later_turn_takes_up_says_so(memory, said, later, question, form):
    tell(memory, said, later)
    answer = memory.context("ana", question, format=form)
    [old] = [line for line in answer.lines if line.kind == "memory" and "takes" in line.text]
    [new] = [line for line in answer.lines if later in line.text]
    assert old.taken_up_by == new.citation
    mark = "perhaps outdated, see [" if form == "text" else 'perhaps-outdated-by="'
    assert f"{mark}{new.citation}" in answer.content


def test_what_nothing_takes_up_is_told_without(memory):
    tell(memory, "i take ramipril", "i saw a heron at the lake")
    answer = memory.context("ana", "what do i take")
    assert answer.lines
    assert all(line.taken_up_by is None for line in answer.lines)


def test_what_took_it_up_is_not_named_once_it_is_erased(memory):
    tell(memory, *TAKEN[0][:2])
    found = memory.search("ana", "losartan").results
    turn = next(each for each in found if each.kind == "episode" and "losartan" in each.text)
    memory.erase("ana", turn=turn.id, by="dpo")
    assert all(line.taken_up_by is None for line in memory.context("ana", "what do i take").lines)
