"""Sealing and opening events: each body is bound to its envelope and to its subject's key."""

from __future__ import annotations

import dataclasses

import pytest

from beliefledger.ledger import canonical, codec, envelope
from beliefledger.ledger.codec import New, Raw
from beliefledger.ledger.errors import KeyMissing, LogCorrupted, NotPermitted, UnknownEventType
from beliefledger.ledger.events.belief import MemoryRevoked
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.events.turn import TurnParked, TurnRecorded
from beliefledger.ledger.store import Row
from beliefledger.ledger.vault import Vault

TURN = TurnRecorded(
    role="user",
    channel="conversation",
    secrets=0,
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
        "type": "turn.recorded.v2",
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
        "body_digest": canonical.digest(sealed.body),
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
    stored = stored._replace(envelope=stored.envelope.replace(b"turn.parked.v2", b"turn.parked.v9"))
    with pytest.raises(UnknownEventType, match=r"Position 8 holds 'turn\.parked\.v9'"):
        codec.unseal(stored, vault)


def test_fields_that_are_not_the_event_s_are_corruption_told_without_words(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    stored = row(sealed, position=8)
    stored = stored._replace(envelope=stored.envelope.replace(b'"role"', b'"rule"'))
    with pytest.raises(LogCorrupted, match=r"turn\.recorded\.v2 at position 8") as said:
        codec.unseal(stored, vault)
    assert "ski" not in str(said.value)


def parked():
    """A body that holds nothing that matters but a note."""
    return MemoryRevoked(memory_id="m", cause="actor", note="as asked")


@pytest.mark.parametrize("event", [TURN, parked()])
def test_what_is_left_for_later_is_opened_when_it_is_asked_for(vault, ana, event):
    sealed = codec.seal(new(ana, event), 1, "default", vault)
    at_once = codec.unseal(row(sealed, position=4), vault)
    later = codec.unseal(row(sealed, position=4), vault, later=True)
    assert (later.type, later.facts, later.position) == (event.NAME, at_once.facts, 4)
    assert not later.destroyed
    assert "event" not in vars(later)
    assert later.event == event == later.event
    assert later == at_once
    assert not later.destroyed
    with pytest.raises(AttributeError, match="evnt"):
        _ = later.evnt


def test_what_is_wrong_with_a_body_is_told_when_it_is_opened(vault, ana):
    sealed = codec.seal(new(ana), 1, "default", vault)
    wrong = sealed.body[:-1] + bytes([sealed.body[-1] ^ 1])
    later = codec.unseal(row(sealed, position=3, body=wrong), vault, later=True)
    assert later.facts["role"] == "user"
    with pytest.raises(LogCorrupted, match="position 3"):
        _ = later.event


def test_a_missing_key_is_told_at_once(vault, ana, tmp_path, master):
    sealed = codec.seal(new(ana), 1, "default", vault)
    other = Vault(tmp_path / "other.db", master)
    try:
        for later in (True, False):
            with pytest.raises(KeyMissing):
                codec.unseal(row(sealed), other, later=later)
    finally:
        other.close()


@pytest.mark.parametrize("later", [False, True])
def test_an_event_whose_body_is_gone_is_destroyed(vault, ana, later):
    sealed = codec.seal(new(ana), 1, "default", vault)
    assert not codec.unseal(row(sealed), vault, later=later).destroyed
    vault.destroy(ana, 1)
    gone = codec.unseal(row(sealed, body=None), vault, later=later)
    assert gone.destroyed
    assert gone.event is None
    assert not codec.unseal(row(codec.seal(new(None, TurnParked(attempts=2)), 1, "default", vault)),
                            vault, later=later).destroyed  # fmt: skip


def test_a_page_is_read_in_order(vault, ana):
    sealed = [codec.seal(new(ana), version, "default", vault) for version in (1, 2)]
    rows = [row(each, position=at) for at, each in enumerate(sealed, start=5)]
    assert [each.position for each in codec.unseal_page(rows, vault)] == [5, 6]
    assert all("event" in vars(each) for each in codec.unseal_page(rows, vault))
    assert not any("event" in vars(each) for each in codec.unseal_page(rows, vault, later=True))


def test_a_raw_page_has_the_parts_and_no_events(vault, ana):
    words, facts = codec.seal(new(ana), 1, "default", vault), new(None, TurnParked(attempts=2))
    sealed = codec.seal(facts, 1, "default", vault)
    rows = [row(words, position=5, at=70), row(sealed, position=6, at=71)]
    assert codec.raw_page(rows, vault) == [
        Raw(5, TURN.NAME, 70, *TURN.split()),
        Raw(6, TurnParked.NAME, 71, TurnParked(attempts=2).split()[0], None),
    ]
    vault.destroy(ana, 1)
    assert codec.raw_page([rows[0]], vault) == [Raw(5, TURN.NAME, 70, TURN.split()[0], None)]


class ContentErased:
    """A vault that knows whose bodies were erased: one event's, of somebody who lives."""

    def __init__(self, event_id, *, person=False):
        self._event_id, self._person = event_id, person

    def is_erased(self, _):
        return self._person

    def is_content_erased(self, _, event_id):
        return event_id == self._event_id


def test_an_event_of_the_living_is_read_without_its_erased_note(vault, ana):
    noted = codec.seal(new(ana, parked()), 1, "default", vault)
    opened = codec.unseal(row(noted, body=None), ContentErased("e" * 32))
    assert opened.event == MemoryRevoked(memory_id="m", cause="actor")
    assert codec.unseal(row(noted, body=None), ContentErased("e" * 32, person=True)).event is None
    said = codec.seal(new(ana), 1, "default", vault)
    assert codec.unseal(row(said, body=None), ContentErased("e" * 32)).event is None
    with pytest.raises(LogCorrupted, match="no erasure explains"):
        codec.unseal(row(said, body=None), ContentErased("f" * 32))


def test_the_actor_is_the_system_where_nobody_is_named():
    plain = New(TURN, "e" * 32, "5" * 32, None)
    assert (plain.actor, plain.causation, plain.correlation) == ("system", None, None)
