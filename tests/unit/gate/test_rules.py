"""Every phrase and every candidate that must come of it, and what holds for all candidates."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefledger.gate.rules import RuleExtractor
from beliefledger.gate.rules.extractor import findings
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.ledger.candidate import SELF, Candidate, Durability, Precision, Source, SpeechAct
from beliefledger.ledger.data_files import parsed

SAID_AT = int(datetime(2023, 5, 24, 12, tzinfo=UTC).timestamp()) * 1_000_000
PHRASES = parsed((Path(__file__).parent / "rules_phrases.yaml").read_bytes())
EXTRACTOR = RuleExtractor()


class Said(NamedTuple):
    turn_id: str
    role: str
    content: str
    said_at: int = SAID_AT


def extract(text: str, *earlier: tuple[str, str]) -> list[Candidate]:
    before = [Said(f"turn-{n}", role, words) for n, (role, words) in enumerate(earlier)]
    return EXTRACTOR.extract(Said("now", "user", text), before)


def day(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).date().isoformat()


def shown(candidate: Candidate) -> dict[str, Any]:
    """The fields of a candidate that are not at their default, as the phrase table writes them."""
    found: dict[str, Any] = {
        name: getattr(candidate, name) for name in ("claim", "type", "attribute", "value")
    }
    if candidate.entity != SELF:
        found["entity"] = candidate.entity
    if candidate.negated:
        found["negated"] = True
    for name in ("context", "replaces", "category"):
        if getattr(candidate, name) is not None:
            found[name] = getattr(candidate, name)
    if candidate.act is not SpeechAct.STATEMENT:
        found["act"] = candidate.act.value
    if candidate.durability is not Durability.LASTING:
        found["durability"] = candidate.durability.value
    when = candidate.when
    if when.start is not None and when.end is not None:
        found["when"] = f"{day(when.start)} {day(when.end)} {when.precision.value}"
    elif when.precision is Precision.APPROXIMATE:
        found["over_by"] = day(when.end) if when.end else None
    return found


@pytest.mark.parametrize("case", PHRASES, ids=[case["say"] for case in PHRASES])
def test_each_phrase_says_exactly_this(case: dict[str, Any]) -> None:
    assert [shown(candidate) for candidate in extract(case["say"])] == case["expect"]


@pytest.mark.parametrize("case", PHRASES, ids=[case["say"] for case in PHRASES])
def test_an_assistant_is_never_evidence(case: dict[str, Any]) -> None:
    assert EXTRACTOR.extract(Said("now", "assistant", case["say"])) == []


@pytest.mark.parametrize(
    ("asked", "answer", "attribute", "value", "claim"),
    [
        ("So you live in Porto?", "Yes, that's right", "home.location", "Porto",
         "User lives in Porto"),
        ("Do you like jazz?", "yes", "likes.jazz", "jazz", "User likes jazz"),
        ("Your sister is called Anna?", "Exactly.", "relation.sister.name", "Anna",
         "User's sister is called Anna"),
    ],
)  # fmt: skip
def test_a_yes_confirms_what_the_assistant_said_of_the_user(
    asked: str, answer: str, attribute: str, value: str, claim: str
) -> None:
    (found,) = extract(answer, ("user", "hi"), ("assistant", asked))
    assert (found.attribute, found.value, found.claim) == (attribute, value, claim)
    assert found.source is Source.CONFIRMED
    here, there = found.spans
    assert (here.turn, there.turn) == (None, "turn-1")
    assert answer[here.start : here.end] == here.quote
    assert asked[there.start : there.end] == there.quote


def test_a_yes_confirms_nothing_when_the_assistant_spoke_of_other_things() -> None:
    assert extract("Yes, please", ("assistant", "Shall I show you the weather in Porto?")) == []


@pytest.mark.parametrize(
    "text", ["Actually it's Lisbon, not Porto", "No, I meant Lisbon, not Porto."]
)
def test_a_bare_correction_finds_its_slot_in_an_earlier_turn(text: str) -> None:
    (found,) = extract(text, ("user", "I live in Porto"), ("assistant", "Nice!"))
    assert (found.attribute, found.value, found.replaces, found.claim, found.act) == (
        "home.location", "Lisbon", "Porto", "User lives in Lisbon", SpeechAct.CORRECTION,
    )  # fmt: skip
    assert [span.turn for span in found.spans] == [None, "turn-0"]


def test_a_sentence_that_ends_with_whose_it_is_can_be_read() -> None:
    """A relative's "'s" with nothing behind it is no name: it raised IndexError."""
    said = "they cut the 42, I take the 17 bus to my mother's now"
    assert not any(each.entity == "mother" for each in extract(said))


def test_choices_of_one_kind_meet_in_one_slot() -> None:
    says = ["I use pytest", "I switched to unittest", "No, I use pytest, not unittest"]
    assert {extract(text)[0].attribute for text in says} == {"tool.test_framework"}


def test_a_role_and_a_place_of_work_are_two_facts() -> None:
    found = {c.attribute: c.value for c in extract("I'm a data engineer at Acme.")}
    assert found == {"work.role": "data engineer", "work.employer": "Acme"}


PIECES = [
    "I work at Acme", "my sister Anna", " and ", ", not ", "I don't ", "like", " jazz", ". ", "? ",
    '"', "I've been ", "to Rome ", "last May", "\n", "12/40/99 ", "if ", "I ", "never ", "was ",
    "no longer ", "my ", "is ", "named ", "(", "31 February ", "😀", "\x00", "’", "“", "a ", ",",
    "I'm ", "favorite ", "the 31st of last month", "When I ", ", I first ", "call me ", "$", "'s ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
)


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS)
def test_candidates_stand_on_their_words_whatever_is_said(text: str, before: str) -> None:
    earlier = [Said("user-1", "user", before), Said("assistant-1", "assistant", before)]
    contents = {None: text, "user-1": before, "assistant-1": before}
    found = EXTRACTOR.extract(Said("now", "user", text), earlier)
    assert [c.spans[0].start for c in found] == sorted(c.spans[0].start for c in found)
    for candidate in found:
        words = ""
        for span in candidate.spans:
            assert contents[span.turn][span.start : span.end] == span.quote
            words += span.quote + "\n"
        assert candidate.value in words
        assert candidate.context is None or candidate.context in words
        assert candidate.replaces is None or candidate.replaces in words


@pytest.mark.parametrize(
    "text",
    ["", " ", "I", "my", "I'm", "I have", "?" * 1000, "I like " + "very " * 5000 + "much",
     "I use tea, " * 9000, "a" * 100_000, '"' * 5000, "(" * 5000, "my " * 5000],
    ids=range(13),
)  # fmt: skip
def test_odd_turns_are_read_to_the_end(text: str) -> None:
    for candidate in extract(text):
        assert candidate.spans[0].quote == text[candidate.spans[0].start : candidate.spans[0].end]


def test_a_turn_of_one_word_is_read():
    """Whichever it is: "single" could not be read."""
    words = sorted({word for some in WORDS.values() for word in some})
    assert len(words) > 2000
    for each in words:
        list(findings(each, 0))
        list(findings(f"{each}!", 0))
