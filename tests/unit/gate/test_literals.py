"""A guarded pattern finds what its pattern finds, and is not compiled for other texts."""

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.gate.literals import DIGIT, Guarded, Table, lowered
from beliefledger.ledger.late_patterns import _Late


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        (r"\b(?:i|we) moved to (?P<value>[A-Z]\w+)", {"moved to"}),
        (r"(?:quit|left) (?:my )?job", {"quit", "left"}),
        (r"\d+ (?:cats|dogs)", {"cats", "dogs"}),
        (r"\w+", set()),
        (r"\b(?:my|our) \w", {"my", "our"}),
        (r"\blol\b|[😂🤣]", {"lol", "😂", "🤣"}),
        (r"[0-9]+ \w", {DIGIT}),
        (r"\w+ %", {"%"}),
        (r"two|\d", {"two", DIGIT}),
        (r"[\dx]+ y", set()),
        (r"\b(?:i|we)(?:['’]m)\b", set()),
    ],
)
def test_it_knows_what_its_pattern_needs(source, needs):
    assert set(Guarded(source, re.I).needs) == needs


@pytest.mark.parametrize("text", ["We MOVED TO Porto", "i moved to Oslo", "I moved", ""])
def test_it_finds_what_its_pattern_finds(text):
    source = r"\b(?:i|we) moved to (?P<value>[A-Z]\w+)"
    guarded, plain = Guarded(source, re.I), re.compile(source, re.I)
    found, expected = guarded.search(text, text.lower()), plain.search(text)
    assert (found and found.groupdict()) == (expected and expected.groupdict())


def test_it_is_compiled_when_a_text_has_a_word_that_it_needs():
    guarded = Guarded(r"\bmoved to\b")
    assert isinstance(guarded.pattern, _Late)
    assert guarded.search("I live here", "i live here") is None
    assert "search" not in vars(guarded.pattern)
    assert guarded.search("I moved to Porto", "i moved to porto") is not None
    assert "search" in vars(guarded.pattern)


class Entry(NamedTuple):
    pattern: Guarded


SOURCES = (
    r"\bmoved to\b", r"(?:quit|left) (?:my )?job", r"\d+ (?:cats|dogs)", r"\w{9}", r"\bkicks?\b",
    r"\bmy\b", r"[😂,]", r"\d", r"[4-6]0", r"\b(?:ſo|it)\b",
)  # fmt: skip
TABLE = Table(Entry(Guarded(source, re.I)) for source in SOURCES)
WORDS = st.sampled_from(
    "I moved to my MY Job quit left 3 50 \u0663 cats DOGS".split()
    + "kick \u212aick\u017f k\u0131cks so IT , . 😂".split()
)


@given(st.lists(WORDS).map(" ".join))
def test_a_table_leaves_out_only_what_finds_nothing(text):
    possible = TABLE.possible(lowered(text))
    assert possible == [each for each in TABLE.entries if each in possible]
    for entry in TABLE.entries:
        if entry not in possible:
            assert re.search(entry.pattern.pattern.pattern, text, re.I) is None


@given(st.lists(WORDS).map(" ".join))
def test_what_needs_many_words_is_looked_up_as_surely(text):
    many = Guarded("|".join([*SOURCES[:3], *(f"word{n}" for n in range(100))]), re.I)
    assert len(many.needs) > 100
    if re.search(many.pattern.pattern, text, re.I):
        assert many.may_match(lowered(text))


def test_a_table_leaves_out_what_has_none_of_its_words():
    assert [SOURCES.index(each.pattern.pattern.pattern) for each in TABLE.possible("3 cats")] == [
        2, 3, 7, 8, 9,
    ]  # fmt: skip
