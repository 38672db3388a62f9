"""Sealing and opening events: each body is bound to its envelope and to its subject's key."""

from __future__ import annotations

import dataclasses

import pytest

from ledger import canonical, codec, envelope
from ledger.codec import New
from ledger.errors import KeyMissing, LogCorrupted, NotPermitted, UnknownEventType
from ledger.events.policy import PolicyAdopted
from ledger.events.turn import TurnParked, TurnRecorded
from ledger.store import Row

TURN = TurnRecorded(
    role="user",
    channel="conversation",
    redacted={},
    session_tag="",
    said_at_stated=False,
    content="I ski.",
)


@pytest.fixture
def ana(vault):
    return vault.register("default", ["ana"])[0]


def new(subject_ref, event=TURN, **changed):
    fields = {"event_id": "e" * 32, "stream": "5" * 32, "actor": "system", "causation": None}
    return New(event, subject_ref=subject_ref, **(fields | changed))


def row(sealed, position=1, at=7, **changed):
    stored = Row(position, envelope.stamp(sealed.head, at, sealed.tail), sealed.body)
    return stored._replace(**changed)


def test_what_was_sealed_opens_as_it_was(vault, ana):
    sealed = codec.seal(new(ana, causation="c" * 32, correlation="d" * 32), 2, "default", vault)
    opened = codec.unseal(row(sealed, position=9, at=123), vault)
    assert opened.event == TURN
    assert dataclasses.asdict(dataclasses.replace(opened, event=None)) == {
        "position": 9,
        "type": "turn.recorded.v1",
        "stream": "5" * 32,
        "version": 2,
        "event_id": "e" * 32,
        "tenant": "default",
        "subject_ref": ana,
        "actor": "system",
        "recorded_at": 123,
        "causation": "c" * 32,
        "correlation": "d" * 32,
        "facts": TURN.split()[0],
        "event": None,
    }


def test_neither_envelope_nor_body_shows_the_words(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    for part in (sealed.head, sealed.tail, sealed.body):
        assert b"ski" not in part


def test_the_envelope_carries_the_digest_of_the_body_as_stored(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    written = envelope.read(row(sealed).envelope, 1)
    assert written["body_digest"] == canonical.digest(sealed.body)


def test_an_event_of_facts_alone_needs_no_key(vault):
    sealed = codec.seal(new(None, TurnParked(attempts=2)), 1, "default", vault)
    assert sealed.body is None
    assert codec.unseal(row(sealed), vault).event == TurnParked(attempts=2)


def test_what_is_nobody_s_is_stored_as_it_is(vault):
    policy = PolicyAdopted(digest="d", policy={"name": "strict"})
    sealed = codec.seal(new(None, policy), 1, "default", vault)
    assert b'{"policy":{"name":"strict"}}' in sealed.body
    assert codec.unseal(row(sealed), vault).event == policy


def test_a_body_that_is_somebody_s_needs_somebody(vault):
    with pytest.raises(NotPermitted):
        codec.seal(new(None), 1, "default", vault)


def test_nothing_is_sealed_for_the_erased(vault, ana):
    vault.destroy(ana, 1)
    with pytest.raises(NotPermitted, match="erased"):
        codec.seal(new(ana), 1, "default", vault)


def test_a_stranger_s_key_is_missing_not_erased(vault):
    with pytest.raises(KeyMissing):
        codec.seal(new("f" * 32), 1, "default", vault)


@pytest.mark.parametrize("body_is_there", [True, False])
def test_an_erased_subject_s_event_reads_as_a_tombstone(vault, ana, body_is_there):
    sealed = codec.seal(new(ana), 1, "default", vault)
    vault.destroy(ana, 1)
    stored = row(sealed) if body_is_there else row(sealed, body=None)
    opened = codec.unseal(stored, vault)
    assert opened.event is None
    assert opened.facts["role"] == "user"


def test_a_body_that_is_gone_without_an_erasure_is_corruption(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    with pytest.raises(LogCorrupted, match="position 3 is missing and no erasure"):
        codec.unseal(row(sealed, position=3, body=None), vault)


def test_a_body_flipped_anywhere_is_corruption(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    for at in range(len(sealed.body)):
        flipped = bytearray(sealed.body)
        flipped[at] ^= 1
        with pytest.raises(LogCorrupted, match="position 3"):
            codec.unseal(row(sealed, position=3, body=bytes(flipped)), vault)


def test_a_clear_body_flipped_anywhere_is_corruption(vault):
    policy = PolicyAdopted(digest="d", policy={"name": "strict"})
    sealed = codec.seal(new(None, policy), 1, "default", vault)
    for at in range(1, len(sealed.body)):
        flipped = bytearray(sealed.body)
        flipped[at] ^= 1
        with pytest.raises(LogCorrupted, match="was changed"):
            codec.unseal(row(sealed, body=bytes(flipped)), vault)


def test_a_sealed_body_cannot_be_replaced_by_a_clear_one(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    forged = b"\x00" + canonical.encode(TURN.split()[1])
    with pytest.raises(LogCorrupted, match="was changed"):
        codec.unseal(row(sealed, body=forged), vault)


@pytest.mark.parametrize(
    "other",
    [
        {"event_id": "f" * 32},
        {"stream": "6" * 32},
        {"event": TurnRecorded(**(TURN.model_dump() | {"content": "I sail."}))},
    ],
)
def test_a_body_does_not_open_under_another_envelope(vault, ana, other):
    event = other.pop("event", TURN)
    ours = codec.seal(new(ana), 1, "default", vault)
    theirs = codec.seal(new(ana, event, **other), 1, "default", vault)
    if theirs.address == ours.address:
        # Same place, other words: it opens, and only its digest tells; `verify` looks at that.
        assert canonical.digest(theirs.body) != envelope.read(row(ours).envelope, 1)["body_digest"]
        return
    with pytest.raises(LogCorrupted, match="does not belong to its envelope"):
        codec.unseal(row(ours, body=theirs.body), vault)


def test_a_body_does_not_open_for_another_subject_version_or_tenant(vault, ana):
    ben = vault.register("default", ["ben"])[0]
    ours = codec.seal(new(ana), 1, "default", vault)
    for theirs in (
        codec.seal(new(ben), 1, "default", vault),
        codec.seal(new(ana), 2, "default", vault),
        codec.seal(new(ana), 1, "other", vault),
    ):
        with pytest.raises(LogCorrupted, match="does not belong"):
            codec.unseal(row(ours, body=theirs.body), vault)


def test_an_unknown_name_stops_the_reader_and_says_where(vault):
    sealed = codec.seal(new(None, TurnParked(attempts=2)), 1, "default", vault)
    stored = row(sealed, position=8)
    stored = stored._replace(envelope=stored.envelope.replace(b"turn.parked.v1", b"turn.parked.v9"))
    with pytest.raises(UnknownEventType, match=r"Position 8 holds 'turn\.parked\.v9'"):
        codec.unseal(stored, vault)


def test_fields_that_are_not_the_event_s_are_corruption_told_without_words(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    stored = row(sealed, position=8)
    stored = stored._replace(envelope=stored.envelope.replace(b'"role"', b'"rule"'))
    with pytest.raises(LogCorrupted, match=r"turn\.recorded\.v1 at position 8") as said:
        codec.unseal(stored, vault)
    assert "ski" not in str(said.value)
