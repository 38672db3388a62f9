"""Which lines a context has, and what of them fits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.search.context import Candidate, fitted, merged
from beliefledger.search.context_text import FORMATS, ContextLine, estimated, of_bytes
from beliefledger.search.contexts import tokenizer_of
from beliefledger.search.turn_words import Over, TurnWords

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def memory(id_, text, section="memories", turn=None, span=(0, 5), **fields):
    line = ContextLine(
        citation=id_, id=id_, kind="memory", section=section, text=text, since=DAY, **fields
    )
    return Candidate(line, text.casefold(), {} if turn is None else {turn: (span,)})


def episode(id_, text, section="episodes"):
    line = ContextLine(
        citation=id_, id=id_, kind="episode", section=section, text=text, since=DAY, at=True,
        speaker="Ana", role="user",
    )  # fmt: skip
    return Candidate(line, text.casefold(), said=TurnWords(text))


def ids(lines):
    return [line.id for line in lines]


def test_a_memory_and_its_turn_are_one_line():
    words = "I moved to Porto. It rains there all the time in winter."
    lines = merged(
        [episode("t" * 32, words), memory("m" * 32, "User moved to Porto", turn="t" * 32)]
    )
    assert [(line.id, line.words) for line in lines] == [("m" * 32, None)]


def test_the_sentence_is_kept_where_it_says_more_than_the_memory():
    words = "I use nano. I moved to Porto because the rent in Lisbon got far too high."
    [line] = merged(
        [
            memory("m" * 32, "User moved to Porto", turn="t" * 32, span=(14, 30)),
            episode("t" * 32, words),
        ]
    )
    assert line.words == "I moved to Porto because the rent in Lisbon got far too high."


def test_memories_come_before_turns_and_a_claim_once():
    lines = merged(
        [
            episode("t1" * 16, "I like tea."),
            memory("m1" * 16, "User likes tea", "constraints"),
            episode("t2" * 16, "i like tea."),
            memory("m2" * 16, "user likes tea"),
            memory("m3" * 16, "User likes tea", "past"),
        ]
    )
    assert ids(lines) == ["m1" * 16, "m3" * 16, "t1" * 16]


def test_citations_are_short_and_tell_lines_apart():
    lines = merged(
        [memory("a" * 32, "one"), memory("a" * 12 + "b" * 20, "two", superseded_by="a" * 32)]
    )
    assert [line.citation for line in lines] == ["a" * 13, "a" * 12 + "b"]
    assert lines[1].superseded_by == lines[0].citation


def test_words_that_are_withheld_or_over_are_told_as_that():
    text = "I live in Lisbon. I have asthma. I use ruff."
    words = TurnWords(text, ((18, 32),), (Over(0, 16, DAY),))
    assert words.told() == "I live in Lisbon (no longer so since 2026-03-01). […] I use ruff."
    assert words.told(marked=False) == "I live in Lisbon. […] I use ruff."
    assert words.around([(2, 6)]) == ""
    assert words.around([(20, 25)]) == ""
    assert words.around([(33, 40), (2, 3)]) == "I use ruff."


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("count", [estimated, of_bytes, lambda text: len(text.split())])
def test_a_block_is_never_over_its_budget(format_, count):
    lines = merged(
        [memory(f"{n:032x}"[::-1], f"User has thing {n} " * n, "past" if n % 3 else "profile")
         for n in range(1, 14)]
    )  # fmt: skip
    full = fitted(lines, "ana", format_, 100_000, count)
    assert full.left_out == 0
    least = fitted([], "ana", format_, 100_000, count).tokens
    for budget in range(least, full.tokens + 2, 7):
        fit = fitted(lines, "ana", format_, budget, count)
        assert fit.tokens == count(fit.content) <= budget
        assert len(fit.lines) + fit.left_out == len(lines)
    assert fitted(lines, "ana", format_, full.tokens, count).left_out == 0
    with pytest.raises(InvalidQuery, match=f"takes {least}"):
        fitted(lines, "ana", format_, least - 1, count)


def test_what_else_was_said_and_is_over_stays_as_past():
    text = "I live in Lisbon. I work at Acme."
    turn = episode("t" * 32, text)
    over = Over(0, 16, DAY, "p" * 32)
    said = TurnWords(text, outdated=(over,))
    lines = merged(
        [
            replace(turn, said=said),
            memory("m" * 32, "User works at Acme", turn="t" * 32, span=(18, 32)),
        ]
    )
    assert [(line.section, line.text) for line in lines] == [
        ("memories", "User works at Acme"), ("past", "I live in Lisbon."),
    ]  # fmt: skip
    assert (lines[1].until, lines[1].superseded_by) == (DAY, "p" * 10)
    assert said.past([(0, 5)]) == []
    assert TurnWords(text, ((2, 6),), (over,)).past([]) == []


def test_what_is_wanted_first_goes_in_first_and_a_long_line_stops_no_shorter_one():
    first, long = memory("a" * 32, "first", "profile"), memory("b" * 32, "long " * 200)
    lines = merged([first, long, memory("c" * 32, "third", "constraints")])
    fit = fitted(lines, "ana", "text", 140, estimated)
    assert ids(fit.lines) == ["c" * 32, "a" * 32]  # in the order of the block
    assert fit.left_out == 1


def test_a_tokenizer_is_a_function_or_a_known_name():
    assert tokenizer_of("bytes")[1]("é") == 2
    name, count = tokenizer_of(len)
    assert (name, count("abc")) == ("callable", 3)
    with pytest.raises(InvalidQuery, match="there are: estimate, bytes"):
        tokenizer_of("gpt-17")
    with pytest.raises(InvalidQuery, match=r"returned 1\.5"):
        tokenizer_of(lambda _text: 1.5)[1]("a")
