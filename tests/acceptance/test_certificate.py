"""The certificate of an erasure: what it says, who has to acknowledge, and that nobody who checks
it has to believe us."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.erasure.certificate import INTERNAL, signed_text, text_of
from beliefledger.ledger import envelope
from beliefledger.ledger.codec import New
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.erasures import commitment, spread
from beliefledger.ledger.errors import CallerMistake, NotPermitted, UnknownMemory
from beliefledger.ledger.events.ops import ConsumerAcknowledged, MasterKeyRotated
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.proofs.merkle import EMPTY_ROOT
from beliefledger.ledger.proofs.notes import Checkpoint, Signer, Verifier, issue
from beliefledger.ledger.store import OwnConsumer, Sealed
from beliefledger.ledger.streams import ops_stream, subject_stream
from beliefledger.operations.copy import copy
from beliefledger.tools import verifier
from beliefledger.tools.cli import app
from beliefledger.tools.witness import Store, Witness
from beliefledger.tools.witness_server import listen, serve

ROOT = Path(__file__).resolve().parents[2]
LEASE = 30.0


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        for who in ("ana", "bruno"):
            opened.consent.grant(who, "consent")
        opened.remember("ana", "I live in Porto.", session="s1")
        opened.remember("ana", "I use pytest.", session="s2")
        opened.remember("bruno", "I live in Faro.")
        clock.ahead(60)
        yield opened


def verdict(certificate):
    """What the stand-alone verifier makes of it: True, or why not."""
    return verdict_of(text_of(certificate).encode())


def verdict_of(data, **given):
    try:
        verifier.check(data, verifier.Checked((), **given))
    except (verifier.Refuted, verifier.Unusable) as problem:
        return str(problem)
    return True


def said_of(certificate):
    """What the verifier prints of a certificate that holds, and what it says nobody can prove."""
    checked = verifier.Checked(())
    verifier.check(text_of(certificate).encode(), checked)
    return checked.lines, checked.unproven


def facts(event):
    return json.loads(event["envelope"])["facts"]


def begin(memory, subject="ana", reach="subject", **what):
    """An erasure that is requested, and gets no further."""
    ref = memory._log.subject(subject)
    [erasure] = memory._log.eraser.request(
        lambda: [Wanted(ref, reach, **what)],
        actor=memory._core.actor("dpo"),
        legal_basis="legal obligation",
    )
    return erasure


# What it says


def test_the_certificate_of_a_person_is_complete_and_holds(memory):
    ref = memory._log.subject("ana")
    fingerprint, _ = memory._log.vault.fingerprint(ref)
    written = [
        each.position
        for each in memory._log.of_subject(ref)
        if each.facts is not None and each.event is not None and each.event.split()[1] is not None
    ]
    memory.proofs.tree.extend(keep=True)
    before = memory._log.head().position
    answer = memory.erase("ana", by="dpo", legal_basis="legal obligation")

    told = memory.erasure.certificates.issue(answer.erasure)
    assert verdict(told) is True
    assert (told["reach"], told["of"], told["basis"]) == ("subject", None, "legal obligation")
    assert told["bodies"] == answer.bodies == len(written) == sum(told["counts"].values())
    assert told["counts"]["turn.recorded.v2"] == 2
    assert told["commitment"] == commitment(written)
    assert told["key_fingerprints"] == [fingerprint]
    assert before <= int(told["before"].split("\n")[1]) < told["request"]["position"]
    assert int(told["after"].split("\n")[1]) >= told["completion"]["position"]
    assert facts(told["request"])["reach"] == "subject"
    assert facts(told["completion"])["request"] == told["erasure"] == answer.erasure
    assert {each["name"] for each in told["views"]} >= set(memory._core.projector.views)
    assert told["probes"]
    assert not any(each["found"] for each in told["probes"])
    assert told["state"] == "closed"
    left = {each["what"]: each["count"] for each in told["remains"]}
    assert left["envelopes of the events"] > told["bodies"]
    assert left["facts of decisions"] == 2
    assert left["tombstone in the vault"] == 1


def test_it_names_nobody(memory):
    answer = memory.erase("ana", by="dora the officer")
    text = text_of(memory.erasure.certificates.issue(answer.erasure))
    for word in ("ana", "bruno", "Porto", "pytest", "Faro", "dora", "officer", "s1"):
        assert not re.search(rf"\b{word}\b", text), word


def test_asked_again_it_is_the_same_to_the_byte(memory):
    answer = memory.erase("ana", by="dpo")
    first = text_of(memory.erasure.certificates.issue(answer.erasure))
    memory.remember("bruno", "I use vim.")
    assert text_of(memory.erasure.certificates.issue(answer.erasure[:12])) == first


def test_the_certificate_of_less_than_a_person_says_how_it_was_done(memory):
    memory_id = next(b.memory_id for b in memory.beliefs("ana") if b.value == "pytest")
    answer = memory.erase("ana", memory=memory_id, by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)
    assert verdict(told) is True
    assert (told["reach"], told["of"]) == ("memory", memory_id)
    assert told["key_fingerprints"] == []
    done = facts(told["completion"])
    rows = memory._log.store.read_at(spread(done["positions"]))
    bodies = [row.position for row in rows if json.loads(row.envelope)["body_digest"] is not None]
    assert told["commitment"] == commitment(bodies)
    assert told["bodies"] == len(bodies)
    assert "no key was destroyed" in told["backup_horizon"]["text"]
    left = {each["what"] for each in told["remains"]}
    assert "ciphertext in older backups" in left
    assert "tombstone in the vault" not in left
    assert any("still opens it" in each for each in told["cannot_prove"])
    assert [b.value for b in memory.beliefs("ana")] == ["Porto"]


def test_a_hold_placed_since_is_told(memory):
    memory_id = memory.beliefs("ana")[0].memory_id
    answer = memory.erase("ana", memory=memory_id, by="dpo")
    before = memory.erasure.certificates.issue(answer.erasure)["remains"]
    memory.erasure.holds.place("ana", "claim 17", by="legal")
    after = memory.erasure.certificates.issue(answer.erasure)["remains"]
    [new] = [each for each in after if each not in before]
    assert (new["what"], new["count"]) == ("bodies under legal hold", 1)


def test_without_an_earlier_checkpoint_it_says_so(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        erasure = begin(memory)
        memory._log.eraser.destroy(erasure)
        memory._log.eraser.complete(erasure)
        if [each for each in memory.proofs.tree.checkpoints() if 0 < each.size < erasure.position]:
            pytest.fail("this ledger was to have no checkpoint yet")
        told = memory.erasure.certificates.issue(erasure.id)
        assert told["before"] is told["consistency"] is None
        assert any("no checkpoint" in each for each in told["cannot_prove"])
        assert verdict(told) is True
        # Later checkpoints do not make it older than it is.
        memory.proofs.tree.extend(keep=True)
        assert memory.erasure.certificates.issue(erasure.id)["before"] is None


def test_the_first_versions_of_the_events_have_no_receipts_and_it_says_so(memory):
    log = memory._log
    ref = log.subject("ana")
    stream = subject_stream(ref)

    def append(name, told, at):
        address = Address(new_id(), name, stream, at + 1, log.tenant, ref)
        head, tail = envelope.split(
            address, actor="system", causation=None, correlation=None, body_digest=None, facts=told
        )
        log.store.append([Sealed(address, head, tail, None)], {stream: at}, log.clock)
        return address.event_id

    version = log.version(stream)
    basis = "request of the subject"
    requested = append("erasure.requested.v1", {"legal_basis": basis, "reach": "subject"}, version)
    fingerprint = log.vault.destroy(ref, log.clock())
    bodies = log.store.delete_bodies(ref)
    append("subject.erased.v1", {"bodies": bodies, "key_fingerprint": fingerprint}, version + 1)

    told = memory.erasure.certificates.issue(requested)
    assert verdict(told) is True
    assert told["bodies"] == bodies > 0
    assert [told[name] for name in ("counts", "commitment", "views", "probes")] == [None] * 4
    assert told["key_fingerprints"] == [fingerprint]
    assert any("no receipts" in each for each in told["cannot_prove"])
    assert memory.audit.counts().adds_up


# While it is not finished


def test_an_unfinished_erasure_is_not_certified_and_says_what_is_to_be_done(memory):
    erasure = begin(memory)
    with pytest.raises(NotPermitted, match="the key is to be destroyed") as caught:
        memory.erasure.certificates.issue(erasure.id)
    assert re.search(r"[1-9]\d* bodies are to be deleted", str(caught.value))
    memory._log.eraser.destroy(erasure)
    with pytest.raises(NotPermitted, match="views are to be emptied") as caught:
        memory.erasure.certificates.issue(erasure.id)
    assert "bodies are" not in str(caught.value)
    assert "key" not in str(caught.value)
    memory._log.eraser.complete(erasure)
    assert memory.erasure.certificates.issue(erasure.id)["state"] == "closed"


def test_of_less_than_a_person_the_register_is_to_be_made(memory):
    [turn] = [
        each.position
        for each in memory._log.of_subject(memory._log.subject("ana"))
        if each.type == "turn.recorded.v2"
    ][:1]
    erasure = begin(memory, reach="turn", positions=(turn,))
    with pytest.raises(NotPermitted, match="register it; 1 bodies are to be deleted"):
        memory.erasure.certificates.issue(erasure.id)


@pytest.mark.parametrize("given", ["0" * 32, "", "no such"])
def test_what_is_no_erasure_has_no_certificate(memory, given):
    memory.erase("ana", by="dpo")
    with pytest.raises(UnknownMemory, match="beliefledger erasure list"):
        memory.erasure.certificates.issue(given)


# Backups


@pytest.fixture
def rotate(memory, clock):
    """Record that one master key took over from another."""
    stream = ops_stream(memory._log.tenant)

    def rotate_(previous, key):
        clock.ahead(3600)
        event = MasterKeyRotated(previous=previous, key=key, subjects=2)
        version = memory._log.version(stream)
        memory._log.append([New(event, new_id(), stream, None)], {stream: version})
        return clock.now

    return rotate_


@pytest.fixture
def use(memory, monkeypatch):
    """Let the certificate find a master key of this id in force."""
    parts = memory._core

    def use_(key):
        monkeypatch.setattr(
            memory.erasure.certificates, "_core", replace(parts, master_key=Named(key))
        )

    return use_


@dataclass
class Named:
    id: str


def test_the_horizon_tells_of_rotations_before_and_after(memory, clock, rotate, use):
    ours = memory._core.master_key.id
    began = memory._log.read_at([1])[1].recorded_at
    rotated = rotate("0123456789abcdef", ours)
    clock.ahead(60)
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)["backup_horizon"]
    assert told["master_key"] == ours
    assert verifier.iso(rotated) == told["in_force_since"] != verifier.iso(began)
    assert (told["rotated_since"], told["rotated_at"]) == (False, None)
    assert "still in force" in told["text"]

    again = rotate(ours, "fedcba9876543210")
    use("fedcba9876543210")
    certificate = memory.erasure.certificates.issue(answer.erasure)
    told = certificate["backup_horizon"]
    assert told["master_key"] == ours
    assert (told["rotated_since"], told["rotated_at"]) == (True, verifier.iso(again))
    assert "opens anything" in told["text"]
    assert verdict(certificate) is True


def test_a_master_key_that_came_back_was_not_replaced(memory, clock, rotate, use):
    ours, other, third = memory._core.master_key.id, "0123456789abcdef", "fedcba9876543210"
    began = verifier.iso(memory._log.read_at([1])[1].recorded_at)
    rotate(ours, other)
    rotate(other, ours)
    answer = memory.erase("ana", by="dpo")

    def told():
        certificate = memory.erasure.certificates.issue(answer.erasure)
        assert verdict(certificate) is True
        return certificate["backup_horizon"]

    assert (told()["master_key"], told()["rotated_since"], told()["rotated_at"]) == (
        ours, False, None,
    )  # fmt: skip
    assert "still in force" in told()["text"]
    assert told()["in_force_since"] == began  # the backups of its first time open with it, too
    rotate(ours, other)
    use(other)
    assert told()["rotated_since"] is True
    rotate(other, ours)
    use(ours)
    assert told()["rotated_since"] is False
    at = rotate(ours, third)
    use(third)
    assert told()["rotated_at"] == verifier.iso(at)


def test_a_master_key_that_was_replaced_meanwhile_may_have_left_what_it_wrapped(
    memory, rotate, use
):
    """Between request and completion: then the destroyed key was wrapped under both."""
    ours, other = memory._core.master_key.id, "0123456789abcdef"
    erasure = begin(memory)
    rotate(ours, other)
    memory._log.eraser.destroy(erasure)
    memory._log.eraser.complete(erasure)
    use(other)
    told = memory.erasure.certificates.issue(erasure.id)["backup_horizon"]
    assert (told["master_key"], told["rotated_since"]) == (ours, False)
    assert "may have passed" in told["text"]
    assert "still in force" not in told["text"]


def test_the_horizon_has_the_master_key_that_the_request_names(memory):
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)
    assert told["backup_horizon"]["master_key"] == facts(told["request"])["master_key"]
    horizon = told["backup_horizon"] | {"master_key": "0123456789abcdef"}
    assert "master key" in verdict(signed(memory, told, backup_horizon=horizon))


def test_a_ledger_that_was_never_rotated_has_its_key_from_the_beginning(memory):
    began = memory._log.read_at([1])[1].recorded_at
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)["backup_horizon"]
    assert told["in_force_since"] == verifier.iso(began)


# Consumers


def run_consumer(memory, name):
    with memory.consumer(name, follow=False) as consumer:
        for event in consumer:
            consumer.ack(event)


def test_it_stays_open_until_every_consumer_has_acknowledged(memory):
    for name in ("warehouse", "search"):
        run_consumer(memory, name)
    for name in sorted(INTERNAL):  # the ledger's own
        memory._log.cursors.claim(OwnConsumer(name), "somebody", LEASE)
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)
    assert told["state"] == "open"
    assert told["consumers"] == {
        "acknowledged": [],
        "written_off": [],
        "open": ["search", "warehouse"],
    }
    assert verdict(told) is True

    said = memory.erasure.certificates.acknowledge("warehouse", answer.erasure[:10], by="ops")
    assert (said.already, said.open, said.erasure) == (False, ("search",), answer.erasure)
    [one] = memory.erasure.certificates.issue(answer.erasure)["consumers"]["acknowledged"]
    assert one["consumer"] == "warehouse"
    assert memory.actor_name(one["by"]) == "ops"
    assert memory._log.read_at([one["position"]])[one["position"]].type == (
        "consumer.acknowledged.v1"
    )

    assert memory.erasure.certificates.acknowledge("search", answer.erasure).open == ()
    told = memory.erasure.certificates.issue(answer.erasure)
    assert (told["state"], told["consumers"]["open"]) == ("closed", [])
    assert verdict(told) is True


def test_said_twice_it_is_written_once(memory):
    run_consumer(memory, "warehouse")
    answer = memory.erase("ana", by="dpo")
    first = memory.erasure.certificates.acknowledge("warehouse", answer.erasure)
    head = memory._log.head().position
    again = memory.erasure.certificates.acknowledge("warehouse", answer.erasure)
    assert (first.already, again.already) == (False, True)
    assert again.at == first.at
    assert memory._log.head().position == head


def test_said_by_several_at_once_it_is_written_once(memory):
    run_consumer(memory, "warehouse")
    answer = memory.erase("ana", by="dpo")
    gate, said = threading.Barrier(4), []

    def say():
        gate.wait()
        said.append(memory.erasure.certificates.acknowledge("warehouse", answer.erasure))

    threads = [threading.Thread(target=say) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.already for each in said) == [False, True, True, True]
    assert len(memory._log.of_types(("consumer.acknowledged.v1",))) == 1


def test_a_consumer_that_began_later_never_had_the_words(memory):
    run_consumer(memory, "warehouse")
    first = memory.erase("ana", by="dpo")
    run_consumer(memory, "newcomer")
    assert memory.erasure.certificates.issue(first.erasure)["consumers"]["open"] == ["warehouse"]
    second = memory.erase("bruno", by="dpo")
    assert memory.erasure.certificates.issue(second.erasure)["consumers"]["open"] == [
        "newcomer",
        "warehouse",
    ]


def requested(memory):
    """An erasure that is requested; whoever follows the log is still given what goes."""
    ref = memory._log.subject("ana")
    turn = next(e for e in memory._log.of_subject(ref) if e.type == TurnRecorded.NAME)
    wanted = Wanted(ref, "turn", turn.stream, (turn.position,))
    [erasure] = memory._log.eraser.request(lambda: [wanted], actor="system", legal_basis="request")
    memory._log.interrupted.append(erasure)
    return turn, erasure


def test_one_that_began_while_the_words_were_still_there_is_waited_for(memory):
    turn, erasure = requested(memory)
    with memory.consumer("late", follow=False) as consumer:
        given = {each.position: each.event for each in consumer}
    assert given[turn.position] is not None, "it was given the words"
    memory.erasure.finish()
    told = memory.erasure.certificates.issue(erasure.id)
    assert (told["state"], told["consumers"]["open"]) == ("open", ["late"])


def test_what_is_said_before_it_is_complete_does_not_close_it(memory):
    run_consumer(memory, "warehouse")
    _, erasure = requested(memory)
    with pytest.raises(NotPermitted, match="is not finished"):
        memory.erasure.certificates.acknowledge("warehouse", erasure.id)
    stream = ops_stream("default")
    early = New(
        ConsumerAcknowledged(consumer="warehouse", erasure=erasure.id), new_id(), stream, None
    )  # as an older version recorded it
    memory._log.append([early], {stream: memory._log.version(stream)})
    memory.erasure.finish()
    assert memory.erasure.certificates.issue(erasure.id)["state"] == "open"
    assert memory.erasure.certificates.acknowledge("warehouse", erasure.id).already is False
    assert memory.erasure.certificates.issue(erasure.id)["state"] == "closed"


def test_one_that_is_not_run_any_more_is_written_off_on_record(memory):
    for name in ("warehouse", "search"):
        run_consumer(memory, name)
    first = memory.erase("ana", by="dpo").erasure
    with pytest.raises(NotPermitted, match="named principal"):
        memory.erasure.certificates.write_off("search", by="system")
    off = memory.erasure.certificates.write_off("search", by="ops")
    assert (off.already, memory.erasure.certificates.write_off("search", by="ops").already) == (
        False,
        True,
    )
    told = memory.erasure.certificates.issue(first)
    [one] = told["consumers"]["written_off"]
    assert (one["consumer"], memory.actor_name(one["by"])) == ("search", "ops")
    assert memory._log.read_at([one["position"]])[one["position"]].facts["consumer"] == "search"
    assert (told["state"], told["consumers"]["open"]) == ("open", ["warehouse"])
    assert verdict(told) is True
    lines, _ = said_of(told)
    assert any("written off without that: search" in line for line in lines)
    memory.erasure.certificates.acknowledge("warehouse", first)
    assert memory.erasure.certificates.issue(first)["state"] == "closed"

    second = memory.erase("bruno", by="dpo").erasure
    told = memory.erasure.certificates.issue(second)["consumers"]
    assert ([each["consumer"] for each in told["written_off"]], told["open"]) == (
        ["search"],
        ["warehouse"],
    )


def test_one_that_is_run_again_is_waited_for_again(memory):
    run_consumer(memory, "search")
    first = memory.erase("ana", by="dpo").erasure
    with memory.consumer("search") as running:
        running._claim()
        with pytest.raises(NotPermitted, match="is running"):
            memory.erasure.certificates.write_off("search", by="ops")
    memory.erasure.certificates.write_off("search", by="ops")
    run_consumer(memory, "search")
    assert memory.erasure.certificates.issue(first)["state"] == "closed"
    second = memory.erase("bruno", by="dpo").erasure
    assert memory.erasure.certificates.issue(second)["consumers"]["open"] == ["search"]
    memory.erasure.certificates.acknowledge("search", first)
    told = memory.erasure.certificates.issue(first)["consumers"]
    assert ([each["consumer"] for each in told["acknowledged"]], told["written_off"]) == (
        ["search"],
        [],
    )


def test_a_certificate_of_the_first_format_is_still_one(memory):
    run_consumer(memory, "warehouse")
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    consumers = {name: told["consumers"][name] for name in ("acknowledged", "open")}
    first = signed(memory, told, format="beliefledger.certificate.v1", consumers=consumers)
    assert verdict(first) is True
    assert "has other fields" in verdict(signed(memory, told, consumers=consumers))


def test_a_copy_knows_when_each_consumer_began(memory, place, new_place):
    run_consumer(memory, "warehouse")
    memory.erase("ana", by="dpo")
    run_consumer(memory, "newcomer")
    begun = {each.name: each.since for each in memory._log.consumers()}
    assert begun["newcomer"] > begun["warehouse"] > 0
    memory.close()
    destination = new_place()
    copy(place, destination)
    with open_memory(destination) as copied:
        assert {each.name: each.since for each in copied._log.consumers()} == begun


def test_a_consumer_or_an_erasure_that_is_not_there_is_refused(memory):
    run_consumer(memory, "warehouse")
    answer = memory.erase("ana", by="dpo")
    for name in ("wherehouse", "projector", ""):
        with pytest.raises(CallerMistake, match="there are: warehouse"):
            memory.erasure.certificates.acknowledge(name, answer.erasure)
    with pytest.raises(UnknownMemory, match="beliefledger erasure list"):
        memory.erasure.certificates.acknowledge("warehouse", "0" * 32)
    assert memory._log.of_types(("consumer.acknowledged.v1",)) == []


# Whoever checks it


def test_any_character_that_is_changed_is_noticed(memory):
    memory.proofs.tree.extend(keep=True)
    answer = memory.erase("ana", by="dpo")
    data = text_of(memory.erasure.certificates.issue(answer.erasure)).encode()
    assert verdict_of(data) is True
    for at in range(0, len(data), 7):
        other = b"1" if data[at : at + 1] == b"0" else b"0"
        changed = data[:at] + other + data[at + 1 :]
        assert verdict_of(changed) is not True, data[max(at - 20, 0) : at + 20]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bodies", 0),
        ("state", "closed"),
        ("remains", []),
        ("cannot_prove", []),
        ("consumers", {"acknowledged": [], "written_off": [], "open": []}),
        ("before", None),
        ("views", []),
        ("issued_at", "2020-01-01T00:00:00Z"),
    ],
)
def test_a_field_that_is_changed_is_noticed_also_when_it_is_written_well(memory, name, value):
    run_consumer(memory, "warehouse")
    memory.proofs.tree.extend(keep=True)
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)
    assert told[name] != value
    assert "signature" in verdict(told | {name: value})


def signed(memory, told, **changed):
    """The certificate with other fields, signed again by the ledger's own operator."""
    made = {**told, **changed}
    return made | {"signature": memory.proofs.tree.sign(signed_text(made))}


def test_whoever_has_the_key_cannot_certify_what_the_log_does_not_say(memory):
    """The ledger's own operator: everything is signed again, and the proofs still tell."""
    memory.proofs.tree.extend(keep=True)
    first = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(first.erasure)

    assert verdict(signed(memory, told, issued_at="2020-01-01T00:00:00Z")) is True  # its own word
    less = {name: number - 1 for name, number in told["counts"].items()}
    assert "counts" in verdict(signed(memory, told, counts=less))
    assert "basis" in verdict(signed(memory, told, basis="unlawful processing"))
    assert "completed_at" in verdict(signed(memory, told, completed_at="2020-01-01T00:00:00Z"))
    assert "key_fingerprints" in verdict(signed(memory, told, key_fingerprints=[]))
    request = told["request"]
    other = request["envelope"].replace('"legal_basis":"', '"legal_basis":"u')
    assert "position" in verdict(signed(memory, told, request=request | {"envelope": other}))
    second = memory.erase("bruno", by="dpo")
    its = memory.erasure.certificates.issue(second.erasure)
    mixed = {name: its[name] for name in ("completion", "after", "consistency")}
    assert verdict(signed(memory, told, **mixed)) is not True


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("note", None),
        ("more", "request"),
        ("more", "consistency"),
        ("more", "backup_horizon"),
        ("more", "consumers"),
    ],
)
def test_a_field_more_is_refused_also_when_it_is_signed(memory, name, inside):
    memory.proofs.tree.extend(keep=True)
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    more = {name: "Every backup is gone."}
    made = signed(memory, told, **(more if inside is None else {inside: told[inside] | more}))
    assert "has other fields" in verdict(made)
    made = dict(told)
    del made["remains"]
    assert "has other fields" in verdict(signed(memory, made))


def test_true_is_not_one(memory):
    memory.proofs.tree.extend(keep=True)
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    one = next(name for name, number in told["counts"].items() if number == 1)
    assert "counts" in verdict(signed(memory, told, counts=told["counts"] | {one: True}))
    probes = [each | {"found": False} for each in told["probes"]]
    assert "probes" in verdict(signed(memory, told, probes=probes))


def test_a_checkpoint_of_nothing_is_none_from_before(memory):
    memory.proofs.tree.extend(keep=True)
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    nothing = issue(memory.proofs.tree.origin, 0, EMPTY_ROOT, memory.proofs.tree.signer).text
    made = signed(memory, told, before=nothing, consistency={"hashes": []})
    assert "before is of no events" in verdict(made)
    made = signed(memory, told, before=told["after"], consistency={"hashes": []})
    assert "has the request in it" in verdict(made)


def test_what_nobody_can_prove_is_not_for_the_issuer_to_say(memory):
    run_consumer(memory, "warehouse")
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    lies = {
        "cannot_prove": [],
        "remains": [],
        "backup_horizon": told["backup_horizon"] | {"text": "No backup can be read."},
        "consumers": {
            "acknowledged": [{"consumer": "warehouse", "position": 1, "at": "x", "by": "x"}],
            "written_off": [],
            "open": [],
        },
        "state": "closed",
    }
    lines, unproven = said_of(signed(memory, told, **lies))
    for part in ("closed", "warehouse", "what remains", "No backup can be read"):
        found = [line for line in lines if part in line]
        assert found
        assert all(line.startswith("  ?   ") for line in found), found
    assert set(verifier.CAVEATS) < set(unproven)
    assert any("no backup of the vault exists" in each for each in unproven)
    assert any("no earlier checkpoint" in each for each in unproven) is (told["before"] is None)


def test_of_less_than_a_person_it_says_that_the_key_lives(memory):
    memory_id = memory.beliefs("ana")[0].memory_id
    told = memory.erasure.certificates.issue(
        memory.erase("ana", memory=memory_id, by="dpo").erasure
    )
    _, unproven = said_of(signed(memory, told, cannot_prove=[]))
    assert any("the person's key, which lives" in each for each in unproven)


def test_a_completion_of_another_tenant_or_reach_is_none(memory):
    """Both events are in the log, and still do not belong together."""
    request = {
        "type": "erasure.requested.v2", "event_id": "1", "subject_ref": "s", "tenant": "main",
        "facts": {"reach": "memory", "legal_basis": "x"},
    }  # fmt: skip
    done = {
        "type": "content.erased.v2", "event_id": "2", "subject_ref": "s", "tenant": "main",
        "facts": {"reach": "memory", "request": "1"},
    }  # fmt: skip
    checked = verifier.Checked(())
    checked._belong_together(request, done)
    whole = {"facts": {"reach": "subject"}}
    older = done | {"type": "subject.erased.v1", "facts": {"bodies": 1}}
    checked._belong_together(request | whole, older)
    for asked, told in [
        ({}, {"tenant": "other"}),
        ({}, {"subject_ref": "t"}),
        ({"subject_ref": None}, {"subject_ref": None}),
        ({}, {"facts": {"reach": "turn", "request": "1"}}),
        ({}, {"facts": {"reach": "memory", "request": "3"}}),
        ({}, {"facts": {"reach": "memory"}}),
        ({}, {"type": "subject.erased.v2"}),
        ({}, {"type": "subject.erased.v1"}),
        ({}, {"type": "content.erased.evil"}),
        (whole, {}),
        ({"type": "erasure.requested.evil"}, {}),
        ({"event_id": 1}, {"facts": {"reach": "memory", "request": True}}),
    ]:
        with pytest.raises(verifier.Refuted):
            checked._belong_together(request | asked, done | told)
    for name in ("key_fingerprint", "master_key"):
        for was in ("a", 0, False, [], {}):
            asked = request | {"facts": {"reach": "subject", name: was}}
            told = done | {"type": "subject.erased.v2", "facts": {"request": "1", name: "b"}}
            with pytest.raises(verifier.Refuted, match=name):
                checked._belong_together(asked, told)
        for empty in ("", None):
            asked = request | {"facts": {"reach": "subject", name: empty}}
            checked._belong_together(asked, told)


ENVELOPE = {
    "actor": "system", "body_digest": None, "causation": None, "correlation": None,
    "event_id": "1", "facts": {"reach": "subject"}, "recorded_at": 1, "stream": "s",
    "subject_ref": "s", "tenant": "main", "type": "erasure.requested.v2", "version": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        {"type": {}},
        {"type": ["erasure.requested.v2"]},
        {"actor": None},
        {"facts": []},
        {"subject_ref": 1},
        {"recorded_at": -1},
        {"recorded_at": 1 << 53},
        {"recorded_at": True},
        {"version": 0},
        {"facts": {"n": 1 << 53}},
        {"facts": {"n": [{"deep": -(1 << 53)}]}},
        {"facts": {"é": 1}},
        {"facts": {"n": [{"é": None}]}},
    ],
)
def test_an_envelope_that_no_ledger_writes_is_none(other):
    verifier.envelope_of({"envelope": verifier.canonical(ENVELOPE)})
    with pytest.raises(verifier.Refuted):
        verifier.envelope_of({"envelope": verifier.canonical(ENVELOPE | other)})


def test_an_envelope_that_is_nested_deep_is_none():
    for depth in (500, 900, 960, 980, 990, 5_000):
        facts = '{"a":' * depth + "1" + "}" * depth
        text = verifier.canonical(ENVELOPE).replace('{"reach":"subject"}', facts)
        with contextlib.suppress(verifier.Refuted):
            verifier.envelope_of({"envelope": text})


def test_it_holds_across_a_rotation_of_the_signing_key(memory):
    memory.proofs.tree.extend(keep=True)
    old = memory.proofs.tree.verifiers()[-1]
    answer = memory.erase("ana", by="dpo")
    first = memory.erasure.certificates.issue(answer.erasure)
    memory.proofs.rotate_signing_key(by="ops")
    told = memory.erasure.certificates.issue(answer.erasure)
    new = memory.proofs.tree.verifiers()[-1]
    assert told["verifier_keys"] == [old.vkey, new.vkey]
    assert first["signature"] != told["signature"]
    assert verdict(told) is verdict(first) is True
    data = text_of(told).encode()
    assert "key is not known" in _by(data, verifier.Key.parse(old.vkey))
    # `before` and `after` are the old key's, and the new one alone is enough.
    assert told["after"] == first["after"]
    assert len(told["handovers"]) == 1
    assert first["handovers"] == []
    assert _by(data, verifier.Key.parse(new.vkey)) is True


def test_a_key_that_handed_over_certifies_nothing_more(memory):
    memory.proofs.tree.extend(keep=True)
    retired = memory.proofs.tree.signer
    memory.proofs.rotate_signing_key(by="ops")
    told = memory.erasure.certificates.issue(memory.erase("ana", by="dpo").erasure)
    assert verdict(told) is True
    keys = [verifier.Key.parse(each) for each in told["verifier_keys"]]
    made = told | {"signature": retired.sign(signed_text(told))}
    data = text_of(made).encode()
    assert "handed over" in _by(data, keys[0])
    assert "handed over" in _by(data, *keys)
    assert "key is not known" in verdict(made)


# With a witness


@pytest.fixture
def witness(tmp_path, monkeypatch):
    """A witness that serves in this process."""
    Store.make(tmp_path / "witness")
    store, cosigner = Store.open(tmp_path / "witness")
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    serving = threading.Thread(
        target=serve, args=(Witness(store, cosigner, tell=lambda _: None), listening), daemon=True
    )
    serving.start()

    def use(vkey):
        store.trust(Verifier.parse(vkey))
        monkeypatch.setenv("BELIEFLEDGER_WITNESS", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", cosigner.vkey)

    use.key = verifier.Key.parse(cosigner.vkey)
    return use


def test_with_a_witness_what_is_handed_out_is_cosigned(place, clock, witness):
    with open_memory(place, clock=clock) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
        memory.remember("bruno", "I use vim.", consent="consent")
        [vkey] = memory.proofs.signing_key().verifier_keys
    witness(vkey)
    key = verifier.Key.parse(vkey)

    def cosigned(text):
        verifier.check(text.encode(), verifier.Checked((key,), witness.key))

    with open_memory(place, clock=clock) as memory:
        kept = memory.proofs.checkpoint()
        answer = memory.erase("ana", by="dpo")
        memory.proofs.tree.extend(keep=True)  # in the history without a cosignature
        cosigned(text_of(memory.erasure.certificates.issue(answer.erasure)))
        memory.record_turn("bruno", "I use ruff.")
        cosigned(memory.proofs.inclusion(memory._log.head().position).text())
        memory.record_turn("bruno", "I use mypy.")
        cosigned(memory.proofs.consistency(kept.size).text())
        cosigned(text_of(memory.erasure.certificates.issue(answer.erasure)))


def test_a_cosigned_checkpoint_of_another_tree_is_not_taken(memory):
    answer = memory.erase("ana", by="dpo")
    tree = memory.proofs.tree
    head = tree.extend()
    for text in (
        "garbage\n",
        issue(head.origin, head.size, bytes(32), tree.signer).text,
        issue(head.origin, head.size + 1_000, bytes(32), tree.signer).text,
        issue("x/y", head.size, head.root, Signer.generate("x/y")).text,
    ):
        tree.tiles.cosigned = lambda text=text: text
        assert verdict(memory.erasure.certificates.issue(answer.erasure)) is True
        assert Checkpoint.parse(memory.proofs.inclusion(3).checkpoint).root == tree.root(
            Checkpoint.parse(memory.proofs.inclusion(3).checkpoint).size
        )


def test_with_the_key_of_another_ledger_it_is_not_believed(
    memory, new_place, clock, tmp_path, monkeypatch
):
    memory.proofs.tree.extend(keep=True)
    answer = memory.erase("ana", by="dpo")
    data = text_of(memory.erasure.certificates.issue(answer.erasure)).encode()
    ours = verifier.Key.parse(memory.proofs.tree.verifiers()[-1].vkey)
    assert _by(data, ours) is True
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "other.key"))
    with open_memory(new_place(), clock=clock) as other:
        other.proofs.tree.extend()
        theirs = verifier.Key.parse(other.proofs.tree.verifiers()[-1].vkey)
    assert "key is not known" in _by(data, theirs)


def _by(data, *keys):
    try:
        verifier.check(data, verifier.Checked(keys))
    except verifier.Refuted as problem:
        return str(problem)
    return True


# The command line


@pytest.fixture
def run(place):
    def run_(*words, code=0):
        result = CliRunner().invoke(app, ["--ledger", place, *words])
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result

    return run_


def test_the_commands_write_a_file_that_the_verifier_takes(place, run, tmp_path):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I live in Porto.")
        run_consumer(memory, "warehouse")
        memory.proofs.tree.extend(keep=True)
        erasure = memory.erase("ana", by="dpo").erasure
    shown = " ".join(run("erasure", "certificate", erasure[:10]).stdout.split())
    assert "warehouse" in shown
    assert "open" in shown
    assert "What it cannot prove" in shown

    file = tmp_path / "ana.json"
    answer = run("erasure", "certificate", erasure, "-o", str(file))
    assert answer.stdout == ""
    assert "beliefledger-verify" in answer.stderr
    checked = subprocess.run(
        [sys.executable, ROOT / "tools" / "verifier.py", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert "YES" in checked.stdout
    assert "warehouse" in checked.stdout
    written = file.read_bytes()
    file.write_bytes(written.replace(b'"reach": "subject"', b'"reach": "subjecu"'))
    checked = subprocess.run(
        [sys.executable, ROOT / "tools" / "verifier.py", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1
    assert "NO:" in checked.stdout

    said = json.loads(
        run("erasure", "acknowledge", erasure[:10], "--consumer", "warehouse", "--json").stdout
    )
    assert (said["already"], said["open"]) == (False, [])
    assert "closed" in run("erasure", "acknowledge", erasure, "--consumer", "warehouse").stdout
    text = run("erasure", "certificate", erasure, "--json").stdout
    assert verdict_of(text.encode()) is True
    assert json.loads(text)["state"] == "closed"


def test_the_commands_refuse_with_a_sentence(place, run, tmp_path):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        erasure = memory.erase("ana", by="dpo").erasure
    assert "beliefledger erasure list" in run("erasure", "certificate", "feed", code=3).stderr
    file = tmp_path / "none.json"
    run("erasure", "certificate", "feed", "-o", str(file), code=3)
    assert not file.exists()
    assert "no consumer" in run("erasure", "acknowledge", erasure, "--consumer", "x", code=2).stderr


# The page


def test_the_page_tells_of_every_field_and_of_none_that_is_not_there(memory):
    answer = memory.erase("ana", by="dpo")
    told = memory.erasure.certificates.issue(answer.erasure)
    page = (ROOT / "docs" / "erasure.md").read_text("utf-8")
    table = page.partition("### The file")[2].partition("\n\n`counts`")[0]
    first = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.M)
    assert sorted(re.findall(r"`(\w+)`", " ".join(first))) == sorted(told)
    for name in ("backup_horizon",):
        for inner in told[name]:
            assert inner in table, inner
