"""Rephrasings merge; what differs in a number, a date, a denial or a person never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from beliefledger.gate.registry import default_types
from beliefledger.gate.rephrasings import Original, kinds, merged, refusal, unfaithful
from beliefledger.ledger.candidate import Resolved, Span, When
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.memory import Memory

TYPES = {kind.name: kind for kind in default_types()}
PAIRS = {
    wanted: [[part.strip() for part in line.split("|")] for line in lines]
    for wanted, lines in parsed((Path(__file__).parent / "rephrasings.yaml").read_bytes()).items()
}


def original(claim, value, *, name="a", type="fact", belief=None, **given):
    own = {"spans"}
    of_memory = {k: given.pop(k) for k in list(given) if k in Memory.model_fields.keys() - own}
    memory = {"attribute": "relation.reports-to" if type == "relation" else f"part.{name}"}
    memory |= {"said_at": 1, "said_at_stated": False, "valid_from": 1, "turn": "t", "spans": ()}
    fields = {"confidence": 1, "base": 1, "importance": 1, "visibility_scope": "subject"}
    fields |= {"basis": "consent", "grant": "g", "memory_id": name, "belief": belief or name}
    return Original(
        **fields | {"type": type} | given,
        memory=Memory(**memory | {"claim": claim, "value": value} | of_memory),
    )


def pair(row):
    kind, claim, value, other, other_value = row
    return (
        original(claim, value, name="a", type=kind),
        original(other, other_value, name="b", type=kind),
        TYPES[kind],
    )


@pytest.mark.parametrize("row", PAIRS["merge"], ids=lambda row: f"{row[1]} = {row[3]}")
def test_one_thing_said_twice(row):
    one, other, kind = pair(row)
    assert refusal(one, other, kind) is None
    assert refusal(other, one, kind) is None


@pytest.mark.parametrize("row", PAIRS["never"], ids=lambda row: f"{row[1]} ≠ {row[3]}")
def test_two_things(row):
    one, other, kind = pair(row)
    assert refusal(one, other, kind)
    assert refusal(other, one, kind)


def test_there_are_enough_pairs_to_tell():
    assert min(map(len, PAIRS.values())) >= 30


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"belief": "a", "value": "Faro"}, "two values of one slot"),
        ({"entity": "Ana"}, "about"),
        ({"participants": ("Ben",)}, "takes part"),
        ({"context": "on weekends"}, "contexts"),
        ({"category": "health"}, "categories"),
        ({"grant": "another"}, "grants"),
        ({"negated": True}, "denied"),
        ({"when": When(start=1, end=2)}, "dates"),
        ({"valid_to": 5}, "end"),
        ({"fields": {"dose": "5 mg"}}, "fields"),
        ({"type": "preference"}, "type"),
        ({"resolved": Resolved(entity="another")}, "about"),
        ({"value": "Porto 2"}, "numbers"),
        ({"value": "Porto old town"}, "values"),
    ],
)
def test_the_same_words_with_other_facts_are_two_things(given, why):
    one = original("User lives in Porto", "Porto", name="a")
    given = {"value": "Porto", "name": "b"} | given
    other = original("User resides in Porto", given.pop("value"), **given)
    assert why in (refusal(one, other, TYPES["fact"]) or "they merge")
    assert why in (refusal(other, one, TYPES["fact"]) or "they merge")


def test_what_only_one_session_may_see_stays_there():
    here = {"visibility_scope": "session", "session": "s1"}
    one = original("User lives in Porto", "Porto", **here)
    assert refusal(one, original("User resides in Porto", "Porto", name="b", **here), None) is None
    for elsewhere in (here | {"session": "s2"}, {"visibility_scope": "subject", "session": "s1"}):
        other = original("User resides in Porto", "Porto", name="b", **elsewhere)
        assert "sessions" in (refusal(one, other, None) or "")


def test_a_merged_memory_has_the_evidence_of_all_and_the_least_trust_of_any():
    one = original(
        "User lives in Porto",
        "Porto",
        confidence=900_000,
        base=700_000,
        importance=100_000,
        visibility_scope="team",
        turns=frozenset({"t1", "t2"}),
        spans=(Span(start=0, end=3, quote="", turn="t1"),),
        said_at=5,
        valid_from=5,
        expires_at=None,
    )
    other = original(
        "User resides in Porto",
        "Porto",
        name="b",
        confidence=600_000,
        base=750_000,
        importance=400_000,
        turns=frozenset({"t2", "t3"}),
        spans=(Span(start=1, end=4, quote="", turn="t3"),),
        said_at=9,
        valid_from=3,
        expires_at=50,
    )
    made = merged([one, other], ("session", "subject", "team"))
    assert made.memory.claim == "User lives in Porto"
    assert (made.confidence, made.base, made.importance) == (600_000, 700_000, 400_000)
    assert made.visibility_scope == "subject"
    assert made.turns == ("t1", "t2", "t3")
    assert [span.turn for span in made.memory.spans] == ["t1", "t3"]
    assert (made.memory.valid_from, made.memory.expires_at) == (3, 50)


@pytest.mark.parametrize(
    ("wording", "why"),
    [
        ("User adores spicy food", None),
        ("User really likes spicy food", None),
        ("User likes spicy Thai food", "thai and nothing"),
        ("User likes food", "nothing and spicy"),
        ("User does not like spicy food", "denies"),
        ("User likes 2 spicy food", "numbers"),
        ("User liked spicy food", "over"),
    ],
)
def test_a_wording_says_no_more_and_no_less_than_the_originals(wording, why):
    originals = [
        original("User likes spicy food", "spicy food"),
        original("User loves spicy food", "spicy food", name="b"),
    ]
    found = unfaithful(wording, originals)
    assert found is None if why is None else why in (found or "")


def test_the_sieve_lets_through_all_that_merges():
    everything = [each for rows in PAIRS.values() for row in rows for each in pair(row)[:2]]
    numbers = kinds(everything)
    merging = 2 * len(PAIRS["merge"])
    for at in range(0, merging, 2):
        assert numbers[at] == numbers[at + 1], everything[at].memory.claim
    assert len(set(numbers[merging:])) > len(numbers[merging:]) * 0.8
