"""Everyday sentences of every type are read as what they state."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.registry import default_types
from beliefledger.tools.bench.typing import fits, missed, read, sentences

PARTS = sentences(Path(__file__).with_name("typed_sentences.yaml"))
EVERYTHING = [row for rows in PARTS.values() for row in rows]


def test_there_are_enough_sentences_of_every_type():
    counts = Counter(row.type for row in EVERYTHING)
    assert set(counts) == {kind.name for kind in default_types()} - {"note"}  # of no rule
    assert min(counts.values()) >= 14
    assert len({row.text for row in EVERYTHING}) == len(EVERYTHING) >= 150
    assert len(PARTS["held"]) * 3 == len(EVERYTHING)


@pytest.mark.parametrize("part", [*PARTS, "all"])
def test_their_type_and_slot_are_found(part):
    rows = PARTS.get(part, EVERYTHING)
    wrong = missed(rows)
    assert len(wrong) <= 0.05 * len(rows), wrong


def test_what_is_found_stands_on_the_words():
    for row in EVERYTHING:
        for candidate in read(row.text):
            (span,) = candidate.spans
            assert row.text[span.start : span.end] == span.quote
            assert all(word in span.quote for word in candidate.value.split(", "))


def test_the_gate_lets_them_in(place):
    """Whatever the rules make of them, none is refused for saying more than its words."""
    with open_memory(place) as memory:
        for number in range(len(EVERYTHING)):
            memory.consent.grant(f"person {number}", "consent")
        receipts = memory.record_turns(
            [TurnInput(subject=f"person {n}", content=row.text) for n, row in enumerate(EVERYTHING)]
        )
        memory.process()
        decided = {}
        for decision in memory.decisions():
            decided.setdefault(decision.turn_id, []).append(decision)
        assert not [d.claim for each in decided.values() for d in each if d.outcome == "reject"]
        let_in = [
            row
            for row, receipt in zip(EVERYTHING, receipts, strict=True)
            if any(d.type == row.type for d in decided.get(receipt.turn_id, ()))
        ]
        assert len(let_in) >= 0.95 * len(EVERYTHING)


def test_a_wrong_type_or_slot_fits_nothing():
    row = next(row for row in EVERYTHING if row.text == "I report to Dana.")
    (found,) = read(row.text)
    assert fits(row, found)
    assert not fits(row, found.model_copy(update={"type": "fact"}))
    assert not fits(row, found.model_copy(update={"attribute": "relation.manages"}))
    assert not fits(row, found.model_copy(update={"value": "Tom"}))
