"""When two statements are about the same thing, and when they agree."""

from __future__ import annotations

import pytest

from beliefledger.gate.registry import MemoryType, RelationType, SlotRule, default_types
from beliefledger.gate.slots import (
    STATEFUL_RELATIONS,
    canonical_attribute,
    canonical_context,
    canonical_entity,
    canonical_text,
    canonical_value,
    far_end,
    slot_attribute,
    stateful,
    value_of,
    words,
)
from beliefledger.ledger.candidate import Candidate, Precision, Resolved, Span, When
from beliefledger.ledger.times import DAY

KINDS = {kind.name: kind for kind in default_types()}
TYPELESS = MemoryType(name="relation", prior=0.1, half_life_days=1, slot=SlotRule.RELATION)
"""Without a vocabulary of relations of its own."""


def candidate(type_="fact", attribute="home.location", value="Porto", claim="c", **fields):
    return Candidate(
        claim=claim, spans=(Span(start=0, end=1, quote="x"),), type=type_, attribute=attribute,
        value=value, importance=1, confidence=1, **fields,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("my the Dog's  bowl", ["dog's", "bowl"]),
        ("the a my", ["my"]),
        ("bowl of the dog", ["bowl", "of", "the", "dog"]),
        ("user’s Node.js v20.1", ["node.js", "v20.1"]),
        ("C++ & C#!", ["c++", "c#"]),
        ("state-of-the-art", ["state-of-the-art"]),
        ("b_c", ["b", "c"]),
        ("ＡＢ", ["ab"]),
        ("…", []),
    ],
)
def test_words_are_folded_and_without_articles_in_front(text, found):
    assert words(text) == found


@pytest.mark.parametrize("article", "a an the my our their your his her its user's".split())
def test_each_article_in_front_is_left_out(article):
    assert words(f"{article} house") == ["house"]


@pytest.mark.parametrize("preposition", "on at in for during when while with".split())
def test_each_preposition_before_a_context_is_left_out(preposition):
    assert canonical_context(f"{preposition} school") == "school"


@pytest.mark.parametrize(
    ("context", "plain"),
    [
        (None, None),
        ("on Fridays", "friday"),
        ("in the mornings", "morning"),
        ("for my backend services", "backend service"),
        ("while at work", "work"),
        ("with", "with"),
        ("gas", "gas"),
        ("buss", "bus"),
        ("—", "—"),
    ],
)
def test_a_context_has_no_preposition_in_front_and_no_plurals(context, plain):
    assert canonical_context(context) == plain


def test_a_text_without_words_stands_as_it_is():
    assert canonical_text("  👍 ") == "👍"
    assert canonical_text("The  Cat") == "cat"


def test_the_speaker_is_one_whatever_the_name():
    assert [canonical_entity(name) for name in ("User", "", "the User", "Ana")] == [
        "user", "user", "user", "ana",
    ]  # fmt: skip


def test_an_attribute_has_dotted_parts():
    assert canonical_attribute("Home. my Postal code .") == "home.postal-code"


@pytest.mark.parametrize(
    ("precision", "day"),
    [("exact", 8), ("day", 8), ("week", 8), ("month", 8), ("approximate", None), ("unknown", None)],
)
def test_what_happens_on_another_day_is_another_event(precision, day):
    when = When(start=8 * DAY + 5, end=9 * DAY, precision=Precision(precision))
    said = candidate("event", claim="The User saw Ana", when=when)
    suffix = "" if day is None else f" on {day}"
    assert slot_attribute(said, KINDS["event"]) == f"content:user saw ana{suffix}"


def test_an_event_without_a_time_says_no_day():
    said = candidate("event", claim="User saw Ana", when=When(precision=Precision.DAY))
    assert slot_attribute(said, KINDS["event"]) == "content:user saw ana"


def test_a_fact_is_about_its_attribute():
    assert slot_attribute(candidate(attribute="Home.Location"), KINDS["fact"]) == "home.location"


@pytest.mark.parametrize(
    ("attribute", "slot"),
    [
        ("relation.reports-to", "relation.reports-to"),
        ("relation.reports-to.x", "relation.reports-to"),
        ("relation.located-at", "relation.located-at"),
        ("relation.works-with", "relation.works-with:ana"),
        ("relation.works-with.x", "relation.works-with:ana"),
        ("relation", "relation:ana"),
    ],
)
@pytest.mark.parametrize("kind", [KINDS["relation"], TYPELESS])
def test_a_relation_is_about_its_kind_and_far_end_unless_there_is_one_at_a_time(
    attribute, slot, kind
):
    said = candidate("relation", attribute, value="the Ana")
    assert slot_attribute(said, kind) == slot


def test_a_vocabulary_of_its_own_says_which_relation_there_is_one_of():
    own = TYPELESS.model_copy(update={"relations": {"married-to": RelationType(stateful=True)}})
    assert stateful("relation.married-to", own)
    assert not stateful("relation.reports-to", own)
    assert not stateful("relation.married-to", TYPELESS)
    assert {"relation.reports-to", "relation.located-at"} == STATEFUL_RELATIONS


def test_a_far_end_goes_by_the_name_it_is_known_by():
    known = Resolved(entity="e1", target="e2", target_name="ana lopez")
    nameless = Resolved(entity="e1")
    boss = candidate("relation", "relation.reports-to", value="Annie")
    for resolved, end in ((None, "Annie"), (nameless, "Annie"), (known, "ana lopez")):
        said = boss.model_copy(update={"resolved": resolved})
        assert far_end(said) == end
        assert value_of(said, KINDS["relation"]) == end.casefold()
        assert value_of(said, KINDS["fact"]) == "annie"
        assert value_of(said, None) == "annie"


def test_a_denial_is_another_value():
    assert canonical_value("The Cat", negated=True, kind=KINDS["fact"]) == "not cat"
    assert canonical_value("The Cat", negated=False, kind=None) == "cat"
    assert value_of(candidate(negated=True), KINDS["fact"]) == "not porto"
    assert canonical_value("x", negated=True, kind=KINDS["event"]) == "said"
