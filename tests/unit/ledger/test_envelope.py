"""The envelope: written in two halves around the recorded time."""

from __future__ import annotations

import json

import pytest
import rfc8785

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import LogCorrupted

ADDRESS = Address("e" * 32, "turn.parked.v1", "5" * 32, 3, "default", "a" * 32)


def halves(**changed):
    fields = {
        "actor": "system",
        "causation": None,
        "correlation": "c" * 32,
        "body_digest": "d" * 64,
        "facts": {"attempts": 3},
    }
    return envelope.split(ADDRESS, **(fields | changed))


def test_the_halves_around_a_time_are_the_canonical_form():
    head, tail = halves()
    written = envelope.stamp(head, 1_772_355_600_000_000, tail)
    assert written == rfc8785.dumps(json.loads(written))
    assert written == canonical.encode(json.loads(written))


def test_it_holds_twelve_fields_and_no_other():
    written = envelope.read(envelope.stamp(*_with(halves(), 7)), 1)
    assert written == {
        "actor": "system",
        "body_digest": "d" * 64,
        "causation": None,
        "correlation": "c" * 32,
        "event_id": "e" * 32,
        "facts": {"attempts": 3},
        "recorded_at": 7,
        "stream": "5" * 32,
        "subject_ref": "a" * 32,
        "tenant": "default",
        "type": "turn.parked.v1",
        "version": 3,
    }


def _with(parts, at):
    head, tail = parts
    return head, at, tail


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (b"not json", "not JSON"),
        (b"[]", "other fields"),
        (b"{}", "other fields"),
        (envelope.stamp(*_with(halves(), 7)).replace(b'"actor"', b'"actos"'), "other fields"),
        (envelope.stamp(*_with(halves(), 7))[:-1] + b',"x":1}', "other fields"),
    ],
)
def test_damage_is_told_with_its_position(damaged, said):
    with pytest.raises(LogCorrupted, match=f"position 42.*{said}|{said}.*position 42"):
        envelope.read(damaged, 42)


def test_the_same_envelope_is_known_whenever_it_was_recorded():
    head, tail = halves()
    assert envelope.same_but_time(envelope.stamp(head, 1, tail), head, tail)
    assert envelope.same_but_time(envelope.stamp(head, 10**15, tail), head, tail)


@pytest.mark.parametrize(
    "other",
    [
        {"facts": {"attempts": 4}},
        {"actor": "b" * 32},
        {"body_digest": None},
        {"correlation": None},
    ],
)
def test_any_other_content_is_another_envelope(other):
    head, tail = halves()
    assert not envelope.same_but_time(envelope.stamp(*_with(halves(**other), 1)), head, tail)


def test_nothing_but_digits_counts_as_a_time():
    head, tail = halves()
    assert not envelope.same_but_time(head + b'1,"recorded_at":2' + tail, head, tail)
    assert not envelope.same_but_time(head + tail, head, tail)
    assert not envelope.same_but_time(head[:-2] + tail[2:], head, tail)


def test_an_address_that_differs_anywhere_is_bound_differently():
    others = [
        Address("f" * 32, *_rest()),
        Address(ADDRESS.event_id, "turn.parked.v2", *_rest()[1:]),
        Address("e" * 32, "turn.parked.v1", "6" * 32, 3, "default", "a" * 32),
        Address("e" * 32, "turn.parked.v1", "5" * 32, 4, "default", "a" * 32),
        Address("e" * 32, "turn.parked.v1", "5" * 32, 3, "other", "a" * 32),
        Address("e" * 32, "turn.parked.v1", "5" * 32, 3, "default", None),
    ]
    assert len({ADDRESS.bytes(), *(other.bytes() for other in others)}) == 7


def _rest():
    return ADDRESS.type, ADDRESS.stream, ADDRESS.version, ADDRESS.tenant, ADDRESS.subject_ref
